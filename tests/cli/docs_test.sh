#!/bin/sh
# docs/commands.md is what the tables say. To renew it: build/tessera help --markdown > docs/commands.md
. "$SOURCE/tests/cli/expect.sh"
checked=1
"$TESSERA" help --markdown >"$dir/commands.md" || wrong "no Markdown"
diff -u "$SOURCE/docs/commands.md" "$dir/commands.md" >&2 || wrong "docs/commands.md is stale: tessera help --markdown writes it"
"$TESSERA" help --man >"$dir/tessera.1" || wrong "no manual page"
if command -v groff >/dev/null; then
    checked=2
    groff -man -Tascii -ww "$dir/tessera.1" >/dev/null 2>"$dir/err" || wrong "groff fails"
    [ -s "$dir/err" ] && wrong "groff complains about the manual page" "$(head -5 "$dir/err")"
fi
finish
