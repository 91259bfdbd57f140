#!/bin/sh
# docs/environment.md has the variables that sources ask the environment for, those of settings among them, and no others; one file alone reads it.
# ctest: fast
set -eu
cd "$SOURCE"
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
# shellcheck disable=SC2046 # names of files have no blanks
grep -ohE 'env_(text|folder)\("[A-Z_]+"\)' $(git ls-files -co --exclude-standard -- '*.c' ':!tests') |
    sed 's/.*"\(.*\)".*/\1/' >"$said/some"
"$TESSERA" config --json | grep -oE '"TESSERA_[A-Z_]+"' | tr -d '"' | sort -u - "$said/some" >"$said/asked"
awk -F'|' '/^\| `/ { print $2 }' docs/environment.md | grep -oE '[A-Z_]+' | sort -u >"$said/told"
diff "$said/told" "$said/asked" || { echo "docs/environment.md tells of other variables than are asked for"; exit 1; }
# shellcheck disable=SC2046
! grep -lE '(secure_)?getenv\(' $(git ls-files -co --exclude-standard -- '*.c' ':!tests' ':!graph/base/settings.c') ||
    { echo "the environment is read by env_text alone"; exit 1; }
echo "environment: $(wc -l <"$said/told") variables"
