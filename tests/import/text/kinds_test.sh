#!/bin/sh
# tokenizer.json of the kinds that language models have, and every step alone: the ids are those of a table, and, where the
# tokenizers package is installed, that package's for other texts too.
set -eu
here=$SOURCE/tests/import/text program=$BUILD/tests/import-text-tokens-test
python=${PYTHON:-python3}
export PYTHONDONTWRITEBYTECODE=1
"$python" "$here/compare.py" "$program" --table "$here/tokens.expected"
for python in "$python" python3; do
    "$python" -c 'import tokenizers' 2>/dev/null && exec "$python" "$here/compare.py" "$program" "${COUNT:-300}"
done
echo "no package tokenizers: only the table is compared"
