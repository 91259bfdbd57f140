#!/bin/sh
# banned.sh - what no source may use, and what the library may not: printing, exiting, reading the environment, mutable
# globals.
set -eu
cd "${SOURCE:-$(dirname "$0")/..}"
list() { git ls-files -co --exclude-standard -- "$@" | xargs awk -v strings=no -f tests/source.awk; }
bad=0
# refuse WHY PATTERN [ALLOWED]: complains of every line of code (stdin) with PATTERN, except where ALLOWED matches
# FILE:LINE:CODE.
refuse() {
    found=$(grep -E ":[0-9]+:(.*[^A-Za-z0-9_.>])?($2)" | grep -vE "${3:-^$}") || return 0
    printf '%s\n' "$found" | sed "s/^\([^:]*:[0-9]*\):.*/\1: $1/"
    bad=1
}

all=$(mktemp) library=$(mktemp)
trap 'rm -f "$all" "$library"' EXIT
list '*.c' '*.h' >"$all"
list 'graph/*.[ch]' 'import/*.[ch]' 'autodiff/*.[ch]' 'schedule/*.[ch]' 'backends/*.[ch]' 'models/*.[ch]' |
    grep -vE '^backends/[^/]+/runtime/alone/' >"$library" # of programs that it writes
[ -s "$all" ] && [ -s "$library" ]

refuse 'runs a shell: use posix_spawn' '(system|popen) *\(' <"$all"
refuse 'writes without a bound: use text_add or snprintf' '(strcpy|strcat|v?sprintf|gets|stpcpy) *\(' <"$all"
refuse 'hides errors: use strtol and its end pointer' '(atoi|atol|atoll|atof) *\(' <"$all"
refuse 'races: use mkstemp' '(tmpnam|tempnam|mktemp) *\(' <"$all"
refuse 'unbounded stack: use an arena' '(alloca|__builtin_alloca) *\(' <"$all"
refuse 'keeps hidden state: use strtok_r or strcspn' \
    '(strtok|asctime|ctime|gmtime|localtime|rand|srand|setlocale) *\(' <"$all"
refuse 'unchecked product: use arena_array, calloc, size_mul or int_mul' \
    '(malloc|realloc|arena_get) *\([^;]* \* [^;]*\)' <"$all"
refuse 'one clock: use seconds_now' 'clock_gettime *\(CLOCK_MONOTONIC,' \
    '^(graph/base/clock\.c|backends/[^/]+/runtime/.*|train/emitted/.*|bench/peers/.*|tests/.*):' <"$all"
refuse 'spelt out: use x_is_call, x_is_choice or x_folds_by' \
    '[a-z][^ ]*->kind [!=]= X_((CALL|FOLD) (&& !|\|\| )strcmp\(|CALL (&&|\|\|) [^ ]*fn->result [!=]= R_SECOND)' \
    '^(graph/ir/expr_same\.c|tests/.*):' <"$all"
refuse 'dead code: git remembers' '# *if +0' <"$all"
refuse 'a function as a macro: write a function, a table, or let the build write it' '.*(;|\) *\{|do *\{) *\\$' <"$all"
refuse 'the library never prints' '(printf|puts|putchar|perror|vprintf|fputs|fprintf|dprintf) *\(' \
    '^graph/base/err\.c:' <"$library"
refuse 'the library never ends the process' '(exit|_exit|abort|quick_exit) *\(' '^graph/base/err\.c:' <"$library"
refuse 'reads the environment: use env_text' '(getenv|secure_getenv) *\(|environ\>' '^(graph/base/settings\.c|tests/.*):' <"$all"
# Top level is what stands in the first column; constants are fine, and what a signal handler has to find.
grep -E '^[^:]*:[0-9]+:(static )?[a-z_][a-z_ 0-9]*[ *][a-z_][a-z_0-9]*(\[[^]]*\])*( =.*|;)$' "$library" |
    grep -vE ':[0-9]+:(.*\<const\>|typedef|return|extern|goto)|^backends/interrupt\.c:[0-9]*:static atomic_' | sed 's/^\([^:]*:[0-9]*\):.*/\1: no mutable globals/' |
    grep . && bad=1
echo "banned: $(wc -l <"$all") lines of code looked at"
exit $bad
