#!/bin/sh
# cut_test.sh - a model cut by names inside it: the values of its first part, given to the second, give the bits of the
# whole; the part is explained, emitted and shown as what it is; what names nothing, or does not go with it, is refused.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
quiet() {
    "$TESSERA" "$@" -q > said 2>&1 || wrong "tessera $* fails" "$(cat said)"
}
at=encoder.layer.0.attention.self seq="--dim seq=8"
# shellcheck disable=SC2086
{
quiet run bert-tiny $seq --seed 1 --target interp -o whole
quiet run bert-tiny $seq --seed 1 --target interp --to $at -o first
quiet run bert-tiny $seq --seed 1 --target interp --from $at --in $at=first/$at.npy -o second # its mask is drawn again
[ "$(ls first)" = "$at.npy" ] || wrong "the first part has other outputs" "$(ls first)"
cmp whole/last_hidden_state.npy second/last_hidden_state.npy || wrong "a part has other bits"

quiet run bert-tiny $seq --seed 1 --to n80.gelu --from n75.layer_norm -o inner
[ "$(ls inner)" = n80.gelu.npy ] || wrong "a part from and to has other outputs"
expect 0 'input "n75.layer_norm"' show bert-tiny $seq --from n75.layer_norm --to n80.gelu --stage folded
"$TESSERA" show bert-tiny $seq --from n75.layer_norm --to n80.gelu --stage folded > part.txt
[ "$(grep -c ' = input ' part.txt)" = 1 ] || wrong "inputs that the part does not need are there" "$(cat part.txt)"
"$TESSERA" show part.txt --stage folded | cmp - part.txt || wrong "the part is no model of its own"
quiet emit bert-tiny $seq --from n75.layer_norm --to n80.gelu -o made
grep -q n75.layer_norm made/ports.json || wrong "what is emitted is not the part"

expect 2 'no value of the model is called "nowhere"' run bert-tiny $seq --seed 1 --to nowhere
expect 2 'values of the model, one expected' run bert-tiny $seq --seed 1 --to 'n8*'
expect 2 'a part has no ranges' run bert-tiny --dim seq=1..8 --seed 1 --to n80.gelu
expect 2 '--from runs a part of a model in one process' bench bert-tiny $seq --from n75.layer_norm
}
finish
