#!/bin/sh
# A tiny language model learns a text by heart and goes on with it, token by token.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/bigram.py" || exit 77
"$TESSERA" train model.json --task lm --data text.txt --tokenizer bytes --length 8 --batch 8 --steps 150 --lr 0.05 -q -o run ||
    wrong "the run fails"
[ "$("$TESSERA" generate run --prompt ab --max-tokens 17)" = "$(printf 'cdefgh\nabcdefgh\na')" ] || wrong "it does not go on"
[ "$("$TESSERA" generate run --prompt abcdefgh --max-tokens 4 | od -An -c | tr -d ' ')" = '\nabc\n' ] || wrong "a full window fails"
"$TESSERA" generate run --prompt ab --temperature 9 --seed 3 --max-tokens 30 >one
"$TESSERA" generate run --prompt ab --temperature 9 --seed 3 --max-tokens 30 --threads 1 >two
"$TESSERA" generate run --prompt ab --temperature 9 --seed 4 --max-tokens 30 >three
cmp -s one two || wrong "the same seed gives other text"
cmp -s one three && wrong "another seed gives the same text"
# drawn from the likeliest: from one it is the same as without chance; a share that one token has alone, too
[ "$("$TESSERA" generate run --prompt ab --max-tokens 9 --temperature 2 --top-k 1 -q)" = "$(printf 'cdefgh\nab')" ] || wrong "--top-k 1 draws"
[ "$("$TESSERA" generate run --prompt ab --max-tokens 9 --temperature 1 --top-p 1e-6 -q)" = "$(printf 'cdefgh\nab')" ] || wrong "--top-p 0 draws"
"$TESSERA" generate run --prompt ab --temperature 9 --seed 3 --max-tokens 30 --no-cache -q >four
cmp -s one four || wrong "with every token through the whole window the text is another"
"$TESSERA" generate run --prompt ab --max-tokens 3 -q >out 2>err
[ -s err ] && wrong "it is not quiet" "$(cat err)"
expect 0 'tokens, ' generate run --prompt ab --max-tokens 3
expect 3 'the prompt has 9 tokens, the window of the run has 8' generate run --prompt abcdefghi
expect 0 '"tokens":	2' generate run --prompt ab --max-tokens 2 --json
expect 0 '"text":' generate run --prompt ab --max-tokens 2 --json
expect 2 'generate: --prompt is missing' generate run
expect 2 '--prompt "": must be something' generate run --prompt ''
expect 8 "there is no file or folder 'nowhere.onnx'" generate nowhere.onnx --prompt a
mkdir empty
expect 8 'holds no run' generate empty --prompt a

# a product large enough to be formed of fewer, which add places to one another: what earlier ones leave is kept all the same
"${PYTHON:-python3}" "$SOURCE/tests/train/bigram.py" 768 1024
"$TESSERA" train model.json --task lm --data text.txt --tokenizer bytes --length 128 --batch 2 --steps 2 -q -o wide || wrong "the wide run fails"
machine='core:2 l3:1(32MB)' # not what rates measured here make of the product
"$TESSERA" explain model.json --dim batch=1 --dim seq=128 --machine "$machine" | grep -q strassen || wrong "the wide product is formed as it is written"
"$TESSERA" generate wide --prompt abcdefghi --max-tokens 3 --machine "$machine" >out 2>err || wrong "generate from a wide run fails"
grep -q 'whole window' err && wrong "of a wide model nothing is kept" "$(cat err)"

# a recurrent model: its loops go on by one trip for each token, from the states that the trip before left
"${PYTHON:-python3}" "$SOURCE/tests/train/recurrent.py" || exit 77
"$TESSERA" train model.json --task lm --data text.txt --tokenizer bytes --length 48 --batch 2 --steps 2 -q -o loops ||
    wrong "the recurrent run fails"
for how in '' --no-cache; do
    "$TESSERA" generate loops --prompt ab --temperature 9 --seed 3 --max-tokens 30 $how >out$how 2>err$how ||
        wrong "generate from a recurrent run fails"
done
grep -q 'whole window' err && wrong "of a recurrent model nothing is kept" "$(cat err)"
cmp -s out out--no-cache || wrong "from kept states the text is another"
# what goes on is compiled before the first token, not while the second is waited for
"${PYTHON:-python3}" - "$TESSERA" <<'END' || wrong "a program is built between tokens"
import json, subprocess, sys, time
begin = time.time()
out = subprocess.run([sys.argv[1], *"generate loops --prompt ab --max-tokens 40 --json -q --cache-dir own".split()], capture_output=True)
all, tokens = time.time() - begin, 39 / json.loads(out.stdout)["tokens_per_s"]
sys.exit(0 if tokens < all / 10 else f"{tokens} of {all} s")
END
finish
