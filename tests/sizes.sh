#!/bin/sh
# sizes.sh - files of at most 800 lines, functions of at most 80 lines and 6 parameters, lines no longer than
# .clang-format says; says what is wanted (500, 40); a machine in software (tests/gpusim) has functions of up to 150:
# one is a case for each instruction. A list and its count are one parameter; parameters are as they are where somebody
# else's interface says them (a driver's and libFuzzer's), and ts_weight has seven, which every program that makes a
# model calls. And each room keeps within its budget, in lines of C and Python: it grows by a reason that is written
# beside it. Says what share of a room's lines carries a comment, blank ones aside: of all rooms but the tests at least
# 10 in a hundred (STYLE.md). CMakeLists.txt, which people read first to learn how all is built, and each file that it
# includes have at most 120 lines.
# ctest: fast
set -eu
cd "${SOURCE:-$(dirname "$0")/..}"
budget='
include               640 the public header; one for all, to stay readable in one sitting; 30 are custom operations, 27 scans, 60 functions and derivatives
graph               32350 half of it is the table of operations, which ONNX makes long; 500 are custom operations, 800 scans, 1000 functions, 110 names of axes, 300 shapes and openings in comments; merges of folds; equations of einsum in full 200; comments 150; extents in formulas 100; refusals in full and headers 60; sizes by first use and long loops in formulas 300; long functions by parts 80, in formulas too; open extents 250; builders that refuse what is missing 40; what is missing 30; refusals that say what is expected 20; equations of einsum in full 200, rests and diagonals of them 70; what came and what is expected in messages 200; work of trips, whose recipe a node is 20; shapes beside tensors 40; shapes at declarations, what is expected, problems printed 500; records of operations with a member a line 900
import               9140 ONNX, JSON, safetensors and tokenizers, all of it distrusted; comments 50; names of problems 10; numbers and choices in refusals 80
autodiff             4430 the chain rule, derived gradients, forward mode, batches, Jacobians, optimizers; Jacobians by colors and parts 550; gradients of folds of several values 200; rows that scans and scatters keep apart 80; counts in refusals 20; numbers in refusals 30
schedule            15130 passes, plans of trips, notation, schemas, explain; how copies lie, slices of matrix units; plans over several devices; sums in blocks and in parts; extents that a run says, alternatives for all of them; ranges of extents weighed, what formulas have in common 700; extents that are sums of what a run says 400; extents of folds and of states in parts 200; scans of one worker beside one another 130; what kernels wait for 160, which are launched together 210; trips within a kernel 40; what scatters move 30; ways declined, with their numbers 280; writes in place foretold 20; work of trips, counts that vary 60; what cannot vary by its operator 50; counts in full 20
backends             3810 driver, runner, weights, extents that a run says, several devices: what back ends share; figures of machines; functions as C; comments 50; names of C in functions 50; assemblers of parts 20; launches told 80; operations as C 70
backends/codegen     9980 nests to text, for every C-like language; groups of lanes, rings of slices, matrix units, states carried along loops, folds of several values, accesses of whole vectors, functions of reals; products of several warps 300; loops to such extents; text for readers 250, comments 50; boxes of tensors 150; patterns of functions 30; launches of several kernels 250; loops over trips 420, by groups 50; what stands in front of units 30; several kernels as one unit 60; merges by shuffles 50; slices a few pieces at a time 20
backends/cpu         2180 processors as a target, with the guess of their loops; the line that names one 10; folds of several values in parts 50; refusals that list what is expected 30
backends/cache       2500 the compile cache
backends/c           3300 compiler, trips of scans, real functions as vectors, loader, team, functions of the process, sizes of emitted programs; calls as tables 50; what units begin with 60; units shared by small kernels 80
backends/emit        1770 pieces of pinned memory 110; trips of scans on devices; programs of their own: what they share in every language, and on every device; functions as C; sizes that runs have; extents that a run says 100; numbers in refusals 10
backends/interp       300 evaluates definitions, of a whole plan or of a part
backends/null          20
backends/gpu         3700 graphics processors as a target: cards, guess, what explain says of them; accesses walked trip by trip, registers 400
backends/opencl      2640 a dialect and a device; emitted programs that stage 40; sub-groups, lent inputs 40, words of its variable 30, queues held by others 20
backends/cuda        3500 a dialect and a device
bench                6500 race, statistics, peers, on devices too; 450 are ADBench in plain C; comments 50; functions of scalars in plain C 150; a step of GPT-2 in plain C and its weights from a file 650
bench/report         5780 a page of sections; comments 70
bench/machine        1250 clock, processors, ceilings, environment
train                7830 fine-tuning, generation, export; comments 50; limits in messages 10; bytes in refusals 10; numbers in refusals 30
models               1790 on the public header alone; 850 are objectives of ADBench with their data; reals of 32 or 64 bits 40
cli                 11300 verbs, help, completion, drawing; 250 are trials of ADBench; a call as a model, bounds of dimensions; trials in files of one idea 70; what headers say 10, structs for long lists of parameters 10; values against another run 130; defaults from where they are decided 240; ways declined 10; trials in f32 40; libarchive opened when it is needed 50; what memory was for 20
tests               45650 about half of what they test; groups of lanes and two devices came with 2000, functions and derivatives with 1000, what is foretold of them 150, units that kernels share 120; 500 are ADBench and what it is held against; scans on devices 300, extents 500; ranges, common terms, boxes of tensors 700; extents that are sums 400; reports and refusals held 110; gradients of folds of several values, bad input of functions 350; launches of several kernels 200; launches, compositions, faults 450; open extents and parameters 230, compositions 270; what is missing refused 80; ways declined 50; staging, texts of units 320; schemas over all cases, sentences 100; texts of statements 40; sub-groups, staging, training by steps 500; problems read back 40; pages held to what is so 250
tests/gpusim        10220 a stand-in for a driver, a machine for PTX and its tests: without a card all of it is run; products of warpgroups 500, copies in bulk and mbarriers 600; handlers written out 230, pinned copies 40
'
columns=$(sed -n 's/^ColumnLimit: //p' .clang-format)
[ -n "$columns" ] || { echo "sizes: .clang-format has no ColumnLimit"; exit 1; }
git ls-files -co --exclude-standard -- CMakeLists.txt '*.cmake' | while read -r file; do
    [ "$(wc -l <"$file")" -le 120 ] || { echo "$file: 120 lines are the most"; exit 1; }
done
git ls-files -co --exclude-standard -- '*.c' '*.h' | LC_ALL=C xargs awk -v columns="$columns" '
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
# libFuzzer calls what begins with LLVMFuzzer.
parameters=$(git ls-files -co --exclude-standard -- '*.c' '*.h' ':!tests/gpusim' ':!tests/oclapart' | LC_ALL=C xargs awk -v strings=no -f tests/source.awk |
    LC_ALL=C awk '
# How many there are in "(...)", a list and its count being one; 0: the list is not closed yet.
function parameters(s,   i, c, depth, n, most, part) {
    for (i = n = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "(") depth++
        else if (c == ")" && --depth == 0) break
        if (c == "," && depth == 1) n++
        else part[n] = part[n] c
    }
    most = n
    for (i = 1; i < n; i++)
        if ((part[i] ~ count && part[i + 1] ~ /[*\[]/) || (part[i] ~ /[*\[]/ && part[i + 1] ~ count)) { most--; i++ }
    return depth ? 0 : most
}
BEGIN { count = "^[( ]*(int|int64_t|size_t|uint32_t) (n|m|n_[a-z]+|count|rank|size|most|max)$" }
{
    match($0, /^[^:]*:[0-9]+:/)
    where = substr($0, 1, RLENGTH - 1); code = substr($0, RLENGTH + 1)
    if (code ~ /^[A-Za-z_].*\(/ && code !~ /^typedef /) { head = code; at = where }
    else if (code ~ /^[{}#]/) head = ""
    else if (head != "") head = head " " code
    if (head == "" || !(n = parameters(substr(head, index(head, "("))))) next
    name = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); head = ""; heads++
    if (n > 6 && name != "ts_weight" && name !~ /^LLVMFuzzer/)
        print at ": " name " has " n " parameters; 6 are the most, then a struct"
}
END { if (!heads) print "sizes: no function has a head" }')
[ -z "$parameters" ] || { echo "$parameters"; exit 1; }
wide=$(git ls-files -co --exclude-standard -- '*.py' | LC_ALL=C xargs awk -v columns="$columns" '
    { text = $0; gsub(/[\200-\277]/, "", text) }
    length(text) > columns { print FILENAME ":" FNR ": line of " length(text) " columns; " columns " is the most" }')
[ -z "$wide" ] || { echo "$wide"; exit 1; }
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
git ls-files -co --exclude-standard -- '*.c' '*.h' | xargs awk -v budget="$budget" '
function room(path) {
    while (sub(/\/[^\/]*$/, "", path)) if (path in known) return path
    return ""
}
BEGIN { for (n = split(budget, row, "\n"); n > 0; n--) if (split(row[n], word, " ") > 1) known[word[1]] = 1 }
FNR == 1 { at = room(FILENAME); inside = 0 }
/[^ \t]/ {
    line = $0; gsub(/"([^"\\]|\\.)*"/, "", line)
    carries = inside || line ~ /\/\*|\/\//
    if (line ~ /\/\*/) inside = 1
    if (line ~ /\*\/[^\/]*$/) inside = 0
    lines[at]++; comments[at] += carries
    if (at !~ /^tests/) { all++; said += carries }
}
END {
    for (at in lines) shown = shown sprintf(", %s %.1f", at, 100 * comments[at] / lines[at])
    printf "sizes: %.2f of 100 lines carry a comment%s\n", 100 * said / all, shown
    if (100 * said < 10 * all) print "sizes: of 100 lines at least 10 are to carry a comment, tests aside (STYLE.md)"
    exit 100 * said < 10 * all
}'
