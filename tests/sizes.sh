#!/bin/sh
# sizes.sh - files of at most 800 lines, functions of at most 80, lines of at most 120 columns; says what is wanted
# (500, 40).
set -eu
cd "${SOURCE:-$(dirname "$0")/..}"
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
    if (n > 80) complain(head " has " n " lines; 80 is the most")
    if (n > 40) long = long "\n  " n " lines: " head " (" FILENAME ")"
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
