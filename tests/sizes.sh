#!/bin/sh
# sizes.sh - files of at most 800 lines, functions of at most 80, lines of at most 120 columns; says what is wanted
# (500, 40); a machine in software (tests/gpusim) has functions of up to 150: one is a case for each instruction. And
# each room keeps within its budget, in lines of C and Python: it grows by a reason that is written beside it.
set -eu
cd "${SOURCE:-$(dirname "$0")/..}"
budget='
include              640  the public header; one for all, to stay readable in one sitting; 30 are custom operations, 27 scans, 60 functions and derivatives
graph              27900  half of it is the table of operations, which ONNX makes long; 500 are custom operations, 800 scans, 1000 functions, 110 names of axes; merges of folds
import              8900  ONNX, JSON, safetensors and tokenizers, all of it distrusted
autodiff            3500  the chain rule, derived gradients, forward mode, batches, Jacobians, optimizers
schedule           12000  passes, plans of trips, notation, schemas, explain; how copies lie, slices of matrix units; plans over several devices; sums in blocks and in parts
backends            2900  driver, runner, weights, several devices: what back ends share; figures of machines; functions as C
backends/codegen    7600  nests to text, for every C-like language; groups of lanes, rings of slices, matrix units, states carried along loops, folds of several values, accesses of whole vectors, functions of reals
backends/cpu        2050  processors as a target, with the guess of their loops
backends/store      1250  the compile cache
backends/c          3050  compiler, trips of scans, real functions as vectors, loader, team, functions of the process
backends/emit       1050  programs of their own: what they share in every language, and on every device; functions as C
backends/interp      300  evaluates definitions, of a whole plan or of a part
backends/null         20
backends/gpu        3300  graphics processors as a target: cards, guess, what explain says of them
backends/opencl     2500  a dialect and a device
backends/cuda       3500  a dialect and a device
bench               5000  race, statistics, peers, on devices too
bench/report        5700  a page of nine sections
bench/machine       1250  clock, processors, ceilings, environment
train               7700  fine-tuning, generation, export
models               950  on the public header alone, objectives of ADBench too
cli                10050  22 verbs, help, completion, drawing
tests              38200  about half of what they test; groups of lanes and two devices came with 2000, functions and derivatives with 1000, what is foretold of them 150
tests/gpusim        8800  a stand-in for a driver, a machine for PTX and its tests: without a card all of it is run
'
git ls-files -co --exclude-standard -- '*.c' '*.h' | LC_ALL=C xargs awk -v columns=120 '
function complain(what) { print FILENAME ":" FNR ": " what; bad++ }
function end_of_file() {
    if (!name) return
    files++
    if (lines > 800) { print name ": " lines " lines; 800 is the most"; bad++ }
    if (lines > 500) large = large "\n  " lines " lines: " name
    if (lines > longest) longest = lines
}
FNR == 1 { end_of_file(); name = FILENAME; start = 0 }
{
    lines = FNR
    text = $0
    gsub(/[\200-\277]/, "", text) # UTF-8: one column a character
    if (length(text) > columns) complain("line of " length(text) " columns; " columns " is the most")
}
/^[A-Za-z_].*\(/ { head = $0 }
/^{/ { start = FNR }
/^}/ && start {
    n = FNR - start + 1
    start = 0
    count[n]++; functions++
    sub(/\(.*/, "", head); sub(/.*[ *]/, "", head)
    most = FILENAME ~ /^tests\/gpusim\// ? 150 : 80
    if (n > most) complain(head " has " n " lines; " most " is the most")
    if (n > 40 && most == 80) long = long "\n  " n " lines: " head " (" FILENAME ")"
}
END {
    end_of_file()
    for (n = 0; 2 * seen < functions; n++) { seen += count[n] }
    if (large) print "files over the 500 lines wanted:" large
    if (long) print "functions over the 40 lines wanted:" long
    printf "sizes: %d files, longest %d lines; %d functions, median %d lines; %d over the limits\n", \
        files, longest, functions, n - 1, bad
    exit bad > 0 || !functions
}'
columns=$(git ls-files -co --exclude-standard -- '*.py' | LC_ALL=C xargs awk '
    { text = $0; gsub(/[\200-\277]/, "", text) }
    length(text) > 120 { print FILENAME ":" FNR ": line of " length(text) " columns; 120 is the most" }')
[ -z "$columns" ] || { echo "$columns"; exit 1; }
git ls-files -co --exclude-standard -- '*.c' '*.h' '*.py' | xargs awk -v budget="$budget" '
# The row of the longest folder that the file lies in.
function room(path) {
    while (sub(/\/[^\/]*$/, "", path)) if (path in most) return path
    return ""
}
BEGIN {
    for (n = split(budget, row, "\n"); n > 0; n--) if (split(row[n], word, " ") > 1) most[word[1]] = word[2]
}
FNR == 1 { at = room(FILENAME); if (at == "") { print FILENAME ": in no budget of tests/sizes.sh"; bad++ } }
{ lines[at]++; total++ }
END {
    for (at in most) {
        if (lines[at] > most[at]) {
            print at ": " lines[at] " lines, " most[at] " are allowed; take something out, or raise it with the reason"
            bad++
        }
        allowed += most[at]
    }
    printf "sizes: %d lines of %d allowed\n", total, allowed
    exit bad > 0 || !total
}'
