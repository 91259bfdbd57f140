# The generated pages are what the tables say; `./dev bless` renews them.
. "$SOURCE/tests/cli/expect.sh"

page() { # page FILE ARGUMENT...: docs/FILE is what the command prints
    checked=$((checked + 1))
    name=$1
    shift
    "$TESSERA" "$@" --markdown >"$dir/$name" || wrong "no Markdown from tessera $*"
    [ -z "${BLESS:-}" ] || cp "$dir/$name" "$SOURCE/docs/$name"
    diff -u "$SOURCE/docs/$name" "$dir/$name" >&2 || wrong "docs/$name is stale: ./dev bless writes it"
}

page commands.md help
page operators.md ops --onnx
page gradients.md ops --grad
"$TESSERA" help --man >"$dir/tessera.1" || wrong "no manual page"
if command -v groff >/dev/null; then
    checked=$((checked + 1))
    groff -man -Tascii -ww "$dir/tessera.1" >/dev/null 2>"$dir/err" || wrong "groff fails"
    [ -s "$dir/err" ] && wrong "groff complains about the manual page" "$(head -5 "$dir/err")"
fi
finish
