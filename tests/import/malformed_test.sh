# Malformed files of every kind, written by malformed.py: the exit code and the essential words of what is said about
# each, as malformed.expected lists them.
set -u
here=$SOURCE/tests/import
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/malformed.py" "$work" || exit 1
cd "$work" || exit 1
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
good=0 bad=0 tab=$(printf '\t')

# What is done with a file follows from the first part of its name.
told() {
    case $1 in
        npy-*) "$TESSERA" run relu.onnx --target interp --in "x=$1.npy" --out out ;;
        schema-*) "$TESSERA" explain product.onnx -s "$1.json" ;;
        json-outside | st-*) "$TESSERA" show "$1" ;;
        json-*) "$TESSERA" show "$1.json" ;;
        *) "$TESSERA" explain "$1.onnx" --mem-limit 1G ;;
    esac
}

said() {
    [ -z "$1" ] || tr '\n' ' ' <stderr | grep -qF -- "$1"
}

while IFS=$tab read -r name code words; do
    told "$name" >stdout 2>stderr
    got=$?
    if [ "$got" = "$code" ] && said "$words" && [ ! -e out ] &&
        ! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037]')" stderr && [ "$(grep -c '^error' stderr)" = $((code > 0)) ]; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        printf '%s: exit code %s, wanted %s and "%s"\n' "$name" "$got" "$code" "$words"
        sed 's/^/    /' stderr
    fi
done <"$here/malformed.expected"

# Every file that was written is in the list.
for file in *.onnx *.json *.npy st-*; do
    name=${file%.*}
    case $name in relu | product) continue ;; esac
    grep -q "^$name$tab" "$here/malformed.expected" || { bad=$((bad + 1)); echo "$file is not in the list"; }
done
echo "$good as expected, $bad not"
[ "$bad" = 0 ] && [ "$good" -ge 60 ]
