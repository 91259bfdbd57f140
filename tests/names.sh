#!/bin/sh
# names.sh - nothing about an operation is known outside graph/ops, nothing about a target outside its folder.
#   operations  a string "name" or "name attr=...", or the record op_name, anywhere else in the engine; in the command
#               and the bench, whose words for people often are such names too, and where tokenizers are read, only where a string is compared with one
#               or called. Scalar functions (graph/ir/fn.c) share some names, and the leaves belong to the graph itself:
#               both may be named; so may "place", a key of tiling/1 and plan/1.
#   targets     their word in graph, import or autodiff; a string "target" in schedule or another target's folder;
#               compared, or taken where none is asked for, elsewhere (a target of one letter, which is an axis
#               too, only there); and no #if asks for one. A device's word stands nowhere else, in the command and
#               the public header neither, nor in a comment.
#   machines    an instruction set, a level of memory by its name or number, or a language, in schedule or in
#               backends/codegen, and caches in graph or autodiff: these ask the tables of a target (schedule/plan/target.h).
#               "isa" is a key of plan/1.
#   how         threads, buffers and targets, in graph, comments included.
#   words       names that the glossary of STYLE.md refuses, as identifiers of the code and as parts of such (cache_dir).
#   const       cast away from a node: names and marks are given by the graph that made it.
#   arenas      are called mem, in parameters, locals and members.
#   globals     variables of a whole process: those alone that STYLE.md names ("Errors and memory"). Programs that are
#               emitted have their own.
#   owners      a header's function whose text the caller frees says so by its name (STYLE.md, "Names"); what lives in
#               an arena is no such, of tessera.h all is.
#   types       are in lower case, but for those of CUDA that the stand-in for its driver declares as others call them.
#   functions   of headers carry their module's name: more than one word; x1, x2, x3 make calls of so many operands.
#   lifecycle   what is made is freed, what is opened closed, by no other words; x_free frees the storage of what some
#               function returns as a pointer, and of nothing else (STYLE.md, "Names").
#   sections    of the files of operations, which have one order (STYLE.md, "Files"), and in which the functions stand
#               that records name; and each source begins with a comment: what it is for.
set -eu
cd "${SOURCE:-$(dirname "$0")/..}"
read=$(mktemp -d)
trap 'rm -rf "$read"' EXIT
git ls-files -co --exclude-standard -- '*.c' '*.h' >"$read/files"
xargs awk -f tests/source.awk <"$read/files" >"$read/whole"
xargs awk -v strings=no -f tests/source.awk <"$read/files" >"$read/code"
lines() { # whole|code PATHSPEC...: lines of those files, without comments; code: nor what strings hold
    of=$1
    shift
    git ls-files -co --exclude-standard -- "$@" | awk -F: 'NR == FNR { of[$0] = 1; next } $1 in of' - "$read/$of"
}
# The names of the records in a file: the first .name after each "const op ... = {".
records() {
    awk '/^const op ops_/, /^\};/ { # a record begins on a line of its own; its words may begin on the next
        if (/^    (\{\.call|ELEMENT|REAL|TRUTH|BODY|RECIPE)/) want = 1
        if (want && match($0, /"[a-z_0-9]+/)) { print substr($0, RSTART + 1, RLENGTH - 1); want = 0 }
    }' "$@"
}
ops=$(records graph/ops/*.c)
leaves=$(records graph/ops/leaf.c)
fns=$(sed -n 's/^ *{"\([a-z_0-9]*\)", [0-9].*/\1/p' graph/ir/fn.c)
targets=$(grep -l '^const backend backend_' backends/*/*.c | sed 's,backends/\(.*\)/.*,\1,')
words=$(tr '\n' ' ' <STYLE.md | grep -o '(not: [^)]*)' | sed 's/(not: //; s/[),]//g')
[ -n "$words" ] || { echo "STYLE.md has no glossary"; exit 1; }
refused=$(lines code '*.c' '*.h' |
    awk -v words="$(echo $words)" '
    BEGIN { for (n = split(words, w, " "); n > 0; n--) not[w[n]] = 1 }
    function complain(name) { print where ": \"" name "\": the glossary of STYLE.md has another word" }
    { match($0, /^[^:]*:[0-9]+/); where = substr($0, 1, RLENGTH)
      code = substr($0, RLENGTH + 2); n = split(code, w, /[^A-Za-z0-9_]+/)
      for (i = 1; i <= n; i++) {
          if (w[i] == "dim_param" || (w[i] == "len" && where ~ /\/onnx\//)) continue # fields of ONNX and of protobuf
          if (w[i] in not) { complain(w[i]); continue }
          parts = split(w[i], part, "_")
          for (k = 1; k <= parts; k++) if (part[k] in not) { complain(w[i]); break }
      } }')
[ -z "$refused" ] || { echo "$refused"; exit 1; }
written=$(lines whole '*.c' '*.h' |
    grep -E '\((struct ts_)?node \*+\)' || true)
[ -z "$written" ] || { echo "$written"; echo "names: nodes are not to be written to"; exit 1; }
called=$(lines whole '*.c' '*.h' |
    grep -E '(^|[^A-Za-z_])arena \*?(a|m|memory)[^A-Za-z_0-9]' || true)
[ -z "$called" ] || { echo "$called"; echo "names: an arena is called mem"; exit 1; }
named=$(tr -s '\n ' ' ' <STYLE.md | sed -n 's/.*No mutable globals but \([^)]*)[^)]*)\).*/\1/p' | grep -oE '[a-z_/]+\.c' | sort)
kept=$(lines code '*.c' ':!tests' ':!*/runtime/*' ':!train/emitted' ':!bench/peers' |
    grep -E '^[^:]*:[0-9]+: *static [^(]*([;{]|= [^(]*;) *$' | grep -vw const |
    sed 's/:.*//' | sort -u)
[ "$named" = "$kept" ] ||
    { printf 'names: STYLE.md names as the files of globals:\n%s\nThese have some:\n%s\n' "$named" "$kept"; exit 1; }
unclear=$(lines whole '*.h' ':!tests' ':!include' ':!backends/*/runtime/*' |
    grep -E '^[^:]*:[0-9]+:char \*[a-z_0-9]+\(' |
    grep -vE '(_make|_text|_json|_take|_map)\(|[(,] ?arena \*' || true)
[ -z "$unclear" ] || { echo "$unclear"; echo "names: what the caller frees comes from _make, _text, _json or _take"; exit 1; }
lifecycle=$(lines code '*.c' '*.h' | awk '
    { match($0, /^[^:]*:[0-9]+:/); where = substr($0, 1, RLENGTH - 1); code = substr($0, RLENGTH + 1)
      file = where; sub(/:.*/, "", file); own = code ~ /^static / ? file : "" # static functions serve their own file
      if (code ~ /^[a-z][a-zA-Z_0-9 *]*_(init|fini|create|destroy|delete|dispose)\(/ && code !~ /[ *]op_[a-z_]*\(/)
          print where ": things are made and freed, opened and closed: " code }
    match(code, /^(static )?(struct )?[a-zA-Z_0-9]+ \*+[a-z_0-9]+\(/) {
        of = code; sub(/^static /, "", of); sub(/^struct /, "", of); sub(/ .*/, "", of); gives[own, of] = 1 }
    match(code, /^(static )?void [a-z_0-9]+_free\((struct )?[a-zA-Z_0-9]+ \*[a-z]+[,)]/) && code !~ /; *$/ {
        head = substr(code, RSTART, RLENGTH - 1); at = where
        name = head; sub(/^[^*]*\*/, "", name); of = head; sub(/^[^(]*\((struct )?/, "", of); sub(/ .*/, "", of)
        n++; here[n] = where; from[n] = own; type[n] = of; it = name; inside = 1 }
    inside && code ~ "(^|[^_a-z])free\\(" it "\\)" { whole[n] = 1 }
    code ~ /^}/ { inside = 0 }
    END {
        for (i = 1; i <= n; i++) if (type[i] != "void" && whole[i] != ((from[i], type[i]) in gives))
            print here[i] ": " (whole[i] ? "frees the storage of a " type[i] ", which no function returns as a pointer" \
                : "a function returns a " type[i] " as a pointer, and this leaves its storage")
        if (!n) print "nothing is freed"
    }')
[ -z "$lifecycle" ] || { echo "$lifecycle"; exit 1; }
capital=$(lines code '*.c' '*.h' |
    grep -E '^[^:]*:[0-9]+:((typedef .*[ *(]|} ?)[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(;|\)\(| *\()|.*(struct|union|enum) [A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*( \{|;))' |
    grep -vE '[ *(]CU[a-zA-Z]*(;|\)\()' || true)
[ -z "$capital" ] || { echo "$capital"; echo "names: types are lower-case nouns"; exit 1; }
bare=$(lines code '*.h' ':!tests' ':!include' ':!bench/peers' | grep -vE '^[^:]*:[0-9]+:typedef ' |
    grep -E '^[^:]*:[0-9]+:[a-z][a-zA-Z_0-9 ]*[ *]+[a-z0-9]+\(' | grep -vE ' \*?x[1-9]\(' || true)
[ -z "$bare" ] || { echo "$bare"; echo "names: a function of a header is called MODULE_VERB"; exit 1; }
order=$(tr -s '\n ' ' ' <STYLE.md | sed -n 's/.*An operation: \([^.]*\)\..*/\1/p')
[ -n "$order" ] || { echo "STYLE.md has no order of an operation's sections"; exit 1; }
misplaced=$(awk -v order="$order" '
    BEGIN { for (n = split(order, w, /, */); n > 0; n--) at[w[n]] = n }
    FNR == 1 { last = 0 }
    /^\/\* ---- .* ---- \*\/$/ {
        name = $0; sub(/^\/\* ---- /, "", name); sub(/[:,].*| ----.*/, "", name)
        if (!(name in at)) print FILENAME ":" FNR ": no section is called \"" name "\": " order
        else if (at[name] < last) print FILENAME ":" FNR ": \"" name "\" comes too late: " order
        else last = at[name]
    }
    /^const op ops_[a-z_0-9]*\[\] = / && last < at["records"] {
        print FILENAME ":" FNR ": a record before the section \"records\""; last = at["records"]
    }' graph/ops/*.c
    awk '
    BEGIN {
        n = split("shape:shape body:body lower:recipes way:recipes alternative:recipes in_blocks:recipes grad:grad " \
                  "grad_for:grad back_of:ONNX", row, " ")
        while (n > 0) { split(row[n--], w, ":"); home[w[1]] = w[2] }
    }
    FNR == 1 { here = "none"; split("", of) }
    /^\/\* ---- .* ---- \*\/$/ { here = $0; sub(/^\/\* ---- /, "", here); sub(/:.*| ----.*/, "", here) }
    /^(static )?[a-z].*\(/ && !/;$/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); of[name] = here }
    here == "records" {
        line = $0
        if (match(line, /(BODY|RECIPE)\(/)) made = substr(line, RSTART, 1) == "B" ? ".body = " : ".lower = "
        if (made != "" && match(line, /(", |^ +|" )[a-z_0-9]+,/)) { # the first name behind the call
            line = line " " made substr(line, RSTART, RLENGTH - 1); sub(/ = (", | +|" )/, " = ", line); made = ""
        }
        while (match(line, /\.[a-z_]+ = [a-z_0-9]+/)) {
            split(substr(line, RSTART + 1, RLENGTH - 1), w, " = "); line = substr(line, RSTART + RLENGTH)
            if (w[1] in home && w[2] in of && index(", " of[w[2]] ",", ", " home[w[1]] ",") == 0) {
                print FILENAME ":" FNR ": " w[2] " stands in section \"" of[w[2]] "\", not in \"" home[w[1]] "\""
            }
        }
    }' graph/ops/*.c)
[ -z "$misplaced" ] || { echo "$misplaced"; exit 1; }
silent=$(git ls-files -co --exclude-standard -- '*.c' '*.h' ':!tests' | while read -r file; do
    head -n 1 "$file" | grep -q '^/\*' || echo "$file: does not say first what it is for"
done)
[ -z "$silent" ] || { echo "$silent"; exit 1; }
brief=$(git ls-files -co --exclude-standard -- '*.h' ':!tests' | xargs awk '
    FNR == 1 { open = 1; said = 0 }
    open { said += gsub(/\.( |$)/, "&") }
    open && /\*\// { open = 0; if (said < 2) print FILENAME ": a header says first what it is for, then what always holds or who owns what" }')
[ -z "$brief" ] || { echo "$brief"; exit 1; }
# What, before how: the graph knows no schedule. ONNX has attributes and operators of such names, Winograd has tiles, and
# attention has a cache of keys.
how=$(git ls-files -co --exclude-standard -- 'graph/*.[ch]' |
    xargs grep -niwE 'threads?|buffers?|targets?|workers?|instructions?|caches?|schedules?|tiles?|schedule/[a-z/_.]*' |
    grep -vE '"targets"|LinearRegressor|"[Tt]ile[ ",:]|^graph/ops/winograd\.c:.*[Tt]ile' |
    grep -vE '^graph/ops/(attend|cache|heads)\.c:.*cache' || true)
[ -z "$how" ] || { echo "$how"; echo "names: the graph says what is wanted, not how it is done"; exit 1; }
for device in $(grep -l '^    \.kinds = "\(gpu\|gpu cpu\)",$' backends/*/*.c | sed 's,backends/\(.*\)/.*,\1,'); do
    if git ls-files -co --exclude-standard -- '*.c' '*.h' '*.py' '*.json' '*.cmake' CMakeLists.txt ':!tests' ':!docs' \
        ':!cmake/test.cmake' ":!backends/$device" | xargs grep -niw "$device"; then
        echo "names: $device is named outside its folder"
        exit 1
    fi
done
lines whole '*.c' '*.h' ':!tests' ':!graph/ops' ':!models' ':!bench/peers' |
    awk -v ops="$ops" -v spared="$leaves $fns place" -v targets="$targets" '
function complain(what) { print where ": " what; bad++ }
function compared(before) { while (gsub(/\([^()]*\)/, "", before)); return before ~ /(strcmp|strncmp|ts_call[0-9]?|ts_parse|equal|same|[a-z_]*eq)\([^()]*$/ }
function chosen(before) { return before ~ /target.*[?:=] *$/ } # "target ? target : ", "target = ", "target == "
BEGIN {
    for (n = split(ops, w, /[ \n]+/); n > 0; n--) if (w[n] != "") { op[w[n]] = 1; n_op++ }
    for (n = split(spared, w, /[ \n]+/); n > 0; n--) delete op[w[n]]
    for (n = split(targets, w, /[ \n]+/); n > 0; n--) if (w[n] != "") target[w[n]] = 1
}
{
    match($0, /^[^:]*:[0-9]+:/)
    where = substr($0, 1, RLENGTH - 1); code = substr($0, RLENGTH + 1)
    file = where; sub(/:.*/, "", file); folder = file; sub(/\/.*/, "", folder)
    people = folder == "cli" || folder == "bench" || file ~ /^import\/text\//
    # every string of the line, with what stands before it
    rest = code; before = ""
    while (match(rest, /"([^"\\]|\\.)*"/)) {
        s = substr(rest, RSTART + 1, RLENGTH - 2)
        before = before substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART + RLENGTH)
        word = s; sub(/ [a-z_]+=.*/, "", word)
        if (word in op && folder != "train" && (!people || compared(before))) complain("operation \"" word "\" named outside graph/ops")
        planning = length(s) > 1 && (folder == "schedule" || folder == "backends")
        if (s in target && file !~ "^backends/" s "/" && (planning || compared(before) || chosen(before)))
            complain("target \"" s "\" named outside backends/" s)
    }
    if (folder ~ /^(graph|autodiff)$/) { # what is computed, not how: that is weighed in schedule
        n = split(code, w, /[^A-Za-z0-9]+/)
        for (i = 1; i <= n; i++)
            if (w[i] ~ /^(caches?|cached|fetched|prices?|avx[0-9a-z]*|AVX[0-9A-Z]*|simd|gpu|GPU)$/) complain("machine " w[i] " named in " folder)
    }
    if (folder == "schedule" || file ~ /^backends\/codegen\//) {
        rest = code
        gsub(/,isa:%s,/, "", rest)
        if (folder != "schedule") gsub(/"([^"\\]|\\.)*"/, "", rest) # text of generated code has variables of its own
        n = split(rest, w, /[^A-Za-z0-9]+/)
        for (i = 1; i <= n; i++)
            if (w[i] ~ /^(isa|avx[0-9a-z]*|AVX[0-9A-Z]*|sse[0-9]*|neon|sve|[lL][1-4]d?|x86|opencl|OpenCL|cuda|CUDA|ptx)$/)
                complain("machine " w[i] " named outside its target")
    }
    if (file ~ /^backends\/codegen\// && code != "#pragma once" && match(code, /__[A-Za-z]+|_Pragma|#pragma|omp simd|share->/))
        complain("\"" substr(code, RSTART, RLENGTH) "\" is a compiler'"'"'s or a language'"'"'s: it belongs into a dialect")
    # identifiers
    n = split(code, w, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++) {
        if (w[i] ~ /^op_/ && substr(w[i], 4) in op) complain("record " w[i] " named outside graph/ops")
        lower = tolower(w[i])
        if (length(lower) > 3 && lower in target && lower != "null" && folder ~ /^(graph|import|autodiff)$/)
            complain("target " lower " named in " folder)
    }
    if (code ~ /^[ \t]*#[ \t]*(if|elif)/ && code !~ /^#ifndef TS_[A-Z_]*_H$/ && code ~ /CUDA|OPENCL|HIP/) complain("the preprocessor asks for a target")
}
END { printf "names: %d operations, %d named outside\n", n_op, bad; exit bad > 0 || !n_op }'
