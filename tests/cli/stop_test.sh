#!/bin/sh
# A signal while compilers run: they end, their files go, and then the command does, with its code.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
mkdir temp || exit 1
TMPDIR=$PWD/temp
export TMPDIR
cat >cc <<'CC'
#!/bin/sh
case $* in *-c*) echo $$ >>started; sleep 300 & wait;; *) exec cc "$@";; esac
CC
chmod +x cc
TESSERA_CC=$PWD/cc
export TESSERA_CC

# stopped SIGNAL CODE VERB...: stops the command while it compiles
stopped() {
    signal=$1 code=$2
    shift 2
    checked=$((checked + 1))
    : >started
    env --default-signal=INT "$TESSERA" "$@" --cache-dir none >out 2>err & # which sh has processes in the back ignore
    command=$!
    for i in 1 2 3 4 5 6 7 8 9 10; do
        for j in 1 2 3 4 5 6 7 8 9 10; do
            [ -s started ] && break 2
            sleep 0.1
        done
    done
    [ -s started ] || wrong "$*: no compiler was started in $i s" "$(cat err)"
    kill -"$signal" $command
    wait $command
    got=$?
    [ $got = "$code" ] || wrong "$* ended with $got after SIG$signal, expected $code" "$(cat err)"
    while read -r compiler; do
        kill -0 "$compiler" 2>/dev/null && wrong "$*: a compiler still runs after SIG$signal"
    done <started
    left=$(ls temp)
    [ -z "$left" ] || wrong "$*: left in the temporary folder: $left"
}

stopped TERM 143 run bert-tiny --seed 1 --dim seq=8
grep -q 'error: stopped while it was built' err || wrong "what happened is not said" "$(cat err)"
stopped INT 130 run bert-tiny --seed 1 --dim seq=8
grep -q '^stopping' err || wrong "that it stops is not said at once" "$(cat err)"
stopped INT 130 cache warm bert-tiny --dim seq=8
stopped TERM 143 bench bert-tiny --dim seq=8 --launches 1
finish
