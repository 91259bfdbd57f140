#!/bin/sh
# draw.sh FOLDER - draws loops at random for kernels of four models, times each in its model, and says how the cost model
# ranks them. By hand, on a machine that does nothing else: some fifteen minutes. The logs in this folder are what it wrote,
# and ranks_test holds the model to them on any machine.
set -eu
tessera=${TESSERA:-build/tessera} out=$1
mkdir -p "$out"
draw() { # draw LIMIT MOST GLOB ISA MODEL DIM=N...
    limit=$1 most=$2 glob=$3 isa=$4 model=$5 name=$5 dims=
    shift 5
    for dim; do dims="$dims --dim $dim" name=$name,$dim; done
    # shellcheck disable=SC2086
    "$tessera" tune "$model" $dims --isa "$isa" --op "$glob" --random 1 --most "$most" --budget "$limit" \
        -o "$out/best.json" --log "$out/$name,$isa.log" --quiet >"$out/last"
    # shellcheck disable=SC2086
    "$tessera" tune "$model" $dims --predict "$out/$name,$isa.log"
}
for isa in avx2 avx512; do
    draw 300s 45 '*' "$isa" minilm seq=64
    draw 300s 14 'con*' "$isa" resnet-18
    draw 200s 20 matmul "$isa" gpt2 seq=1 past=128
    draw 100s 45 '*' "$isa" bert-tiny batch=16 seq=128
done
