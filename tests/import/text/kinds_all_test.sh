#!/bin/sh
# 10,000 texts of many scripts for each kind of tokenizer, against the tokenizers package.
# ctest: long timeout=3600
"${PYTHON:-python3}" -c 'import tokenizers' 2>/dev/null || { echo "no package tokenizers"; exit 77; }
COUNT=10000 exec sh "$SOURCE/tests/import/text/kinds_test.sh"
