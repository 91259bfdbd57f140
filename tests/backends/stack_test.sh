#!/bin/sh
# A thread of a host program may have a small stack: 256 KB are enough to plan, to write texts and to run.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
for model in bert-tiny resnet-tiny gpt2-tiny vae-tiny; do
    expect 0 'units compiled' cache warm $model --cache-dir cache # compilers need more than that
    for target in interp c; do
        checked=$((checked + 1))
        (ulimit -s 256 && exec "$TESSERA" run $model --seed 1 --target $target --cache-dir cache) >out 2>err ||
            wrong "$model on $target ends with $? where the stack has 256 KB" "$(cat err)"
    done
done
finish
