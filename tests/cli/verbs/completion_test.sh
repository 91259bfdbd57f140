#!/bin/sh
# The scripts load, and in bash the words offered are those of the tables.
# ctest: drivers
. "$SOURCE/tests/cli/expect.sh"
for shell in bash zsh fish; do
    "$TESSERA" completion $shell >"$dir/$shell" || wrong "no script for $shell"
    command -v $shell >/dev/null || continue
    checked=$((checked + 1))
    $shell -n "$dir/$shell" || wrong "$shell does not read its script"
done

# offers WORD LINE...: among the completions of the last word of the line is WORD
offers() {
    want=$1
    shift
    checked=$((checked + 1))
    # shellcheck disable=SC2016
    got=$(bash -c '. "$0"; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tessera; echo " ${COMPREPLY[*]} "' \
        "$dir/bash" "$@")
    case $got in
    *" $want "*) ;;
    *) wrong "completing \"$*\" does not offer $want" "$got" ;;
    esac
}
if command -v bash >/dev/null; then
    offers bench tessera be
    offers bench tessera ''
    offers --min-time tessera bench m --min
    offers --json tessera version --
    offers never tessera bench m --color n
    offers slower tessera compare a b --fail-on ''
    offers init tessera schema ''
    offers zsh tessera completion z
    offers run tessera help r
    offers axes tessera help a
    offers codes tessera help ''
    offers bert-base tessera bench bert
    offers panels tessera bench m -s p
    offers rows tessera explain m --schema ''
    offers guess tessera run m -s g
    offers panels tessera schema show pa
    offers panels tessera schema lint pa
    offers onnxruntime tessera bench m --peer o
    offers pytorch tessera bench m --peer ''
    offers plain tessera run m --isa p
    offers interp tessera run m --target in
    offers adamw tessera train m --optimizer ad
    cd "$dir" && mkdir folder && touch file.json
    offers file.json tessera run m -s 'fi'
    offers panels tessera run m -s ''
    offers file.json tessera run m -s ''
    offers folder tessera run m --out fo
fi
for shell in zsh fish; do
    checked=$((checked + 1))
    grep -q -- 'panels rows ' "$dir/$shell" && grep -q 'onnxruntime' "$dir/$shell" || wrong "$shell: no words for --schema or --peer"
done
finish
