#!/bin/sh
# config_test.sh - settings: an option goes before a variable, that before the folder's file, that before the person's own;
# all four levels know the same names; what is wrong is refused with its place; a folder's file cannot say what is run.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
export XDG_CONFIG_HOME="$dir/home"
mkdir -p home/tessera empty
own=home/tessera/tessera.toml
from() { # from NAME VALUE FROM ARGUMENT...: config says so
    checked=$((checked + 1))
    want="$1 $2 $3"
    name=$1
    shift 3
    "$TESSERA" config --json "$@" >got.json || wrong "config $* fails"
    got=$("${PYTHON:-python3}" -c 'import json, sys
r = next(s for s in json.load(open("got.json"))["settings"] if s["name"] == sys.argv[1])
print(r["name"], r["value"], r["from"])' "$name")
    [ "$got" = "$want" ] || wrong "config $*: \"$got\", expected \"$want\""
}
says() { # says LINE TEXT: a folder's file with that line is refused so
    printf '\n# first\n%b\n' "$1" >tessera.toml
    expect 2 "$2" version
    rm tessera.toml
}

from threads None default
printf 'threads = 7\nisa = "avx2" # mine\n' >$own
from threads 7 "$dir/$own:1"
from isa avx2 "$dir/$own:2"
printf 'threads = 6\r\n  as-written=true\n' >tessera.toml
from threads 6 tessera.toml:1
from isa avx2 "$dir/$own:2"
from as-written true tessera.toml:2
export TESSERA_THREADS=5 TESSERA_AS_WRITTEN=false
from threads 5 TESSERA_THREADS
from as-written false TESSERA_AS_WRITTEN
from threads 4 --threads --threads 4
from as-written true --as-written --as-written
TESSERA_THREADS= from threads 6 tessera.toml:1 # an empty value counts as none
unset TESSERA_THREADS TESSERA_AS_WRITTEN
rm tessera.toml $own

# what runs heeds it
echo 'target = "interp"' >tessera.toml
"$TESSERA" explain bert-tiny --dim seq=8 -q | grep -q '^target interp ' || wrong "explain does not heed tessera.toml"
TESSERA_TARGET=null "$TESSERA" explain bert-tiny --dim seq=8 -q | grep -q '^target null ' || wrong "explain does not heed TESSERA_TARGET"
TESSERA_TARGET=null "$TESSERA" explain bert-tiny --dim seq=8 -q --target interp | grep -q '^target interp ' || wrong "an option does not go first"
echo 'threads = 1' >tessera.toml
"$TESSERA" bench bert-tiny --dim seq=8 --launches 1 --min-time 10ms -q -o r.json >/dev/null || wrong "bench with a file"
grep -q -- '--threads 1"' r.json || wrong "what bench is repeated with lacks what was set elsewhere" "$(grep -o '"repro[^}]*' r.json)"
printf 'cc = "%s/mine"\ncache-dir = "none"\n' "$dir" >$own
printf '#!/bin/sh\necho "$0" >"%s/was.run"\nexec cc "$@"\n' "$dir" >mine
chmod +x mine
env -u TESSERA_CC "$TESSERA" run bert-tiny --dim seq=8 --seed 1 -q >/dev/null || wrong "run with a compiler of the person's file"
[ -e was.run ] || wrong "the person's file does not say which compiler is run"
rm -f was.run $own tessera.toml

# places of mistakes
says 'thraeds = 2' 'tessera.toml:3: there is no setting "thraeds"'
grep -q "did you mean threads?" err || wrong "no nearest name" "$(cat err)"
says 'weather = "fine"' 'tessera config lists them'
says 'threads = 0' 'tessera.toml:3: --threads "0": must be a whole number from 1'
says 'threads = "many"' 'tessera.toml:3: --threads "many"'
says 'threads = many' 'tessera.toml:3: expected a text in quotes, a number, true or false'
says 'threads' 'tessera.toml:3: expected = behind the name'
says '= 3' 'tessera.toml:3: expected the name of a setting'
says 'threads = 2\nthreads = 3' 'tessera.toml:4: "threads" is set in line 3 already'
says 'threads = 2 3' 'tessera.toml:3: expected the end of the line behind the value'
says 'target = "c' 'tessera.toml:3: expected the end of the text'
says 'target = "c\\n"' 'tessera.toml:3: expected the end of the text'
says 'target = ""' 'tessera.toml:3: --target "": must be something'
says 'quiet = 1' 'tessera.toml:3: quiet "1": must be true or false'
says '[plan]' 'tessera.toml:3: expected the name of a setting'
says 'target = ["c"]' 'tessera.toml:3: expected a text in quotes, a number, true or false'
says 'color = "pink"' 'tessera.toml:3: --color "pink": must be one of auto|always|never'
for name in cc cache-dir; do
    says "$name = \"/tmp/x\"" "tessera.toml:3: a folder's file may not say \"$name\": it decides which programs run"
done
printf 'target = "c\000"\n' >tessera.toml
expect 2 'it holds a byte 0' version
head -c 70000 /dev/zero | tr '\0' '#' >tessera.toml
expect 7 'larger than the limit of 65536 bytes' version
rm tessera.toml
mkfifo tessera.toml
expect 8 'settings are read from a file, and this is none' version
rm tessera.toml
export TESSERA_TRAGET=c
expect 2 'the environment: there is no setting TESSERA_TRAGET' version
grep -q 'did you mean TESSERA_TARGET?' err || wrong "no nearest variable" "$(cat err)"
unset TESSERA_TRAGET
export TESSERA_SOMEBODY_ELSES=1
expect 0 tessera version
unset TESSERA_SOMEBODY_ELSES
export TESSERA_THREADS=x
expect 2 'TESSERA_THREADS: --threads "x": must be a whole number' version
unset TESSERA_THREADS
finish
