#!/bin/sh
# Operators of com.microsoft against what they stand for, written in operators of the standard: the same bits. No tool is
# needed. A line: the operator with its operands and attributes, "=", and steps; $ is the result of the step before, >t
# names one.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/lines" <<'TEXT'
FusedMatMul a b transA=1 alpha=0.5 = Transpose a perm=[1,0]; MatMul $ b; Mul $ half
TransposeMatMul a b transA=1 = Transpose a perm=[1,0]; MatMul $ b
FusedMatMul e d transBatchA=1 = Transpose e perm=[1,0,2]; MatMul $ d
FusedGemm a b c transA=1 activation="LeakyRelu" activation_alpha=0.25 = Gemm a b c transA=1; LeakyRelu $ alpha=0.25
FusedConv i k pads=[1,1,1,1] activation="Clip" activation_params=[-0.25,0.5] = Conv i k pads=[1,1,1,1]; Clip $ low half
FusedConv i k - z pads=[1,1,1,1] activation="Relu" = Conv i k pads=[1,1,1,1]; Add $ z; Relu $
NhwcConv n k = Transpose n perm=[0,3,1,2]; Conv $ k; Transpose $ perm=[0,2,3,1]
NhwcMaxPool n kernel_shape=[2,2] = Transpose n perm=[0,3,1,2]; MaxPool $ kernel_shape=[2,2]; Transpose $ perm=[0,2,3,1]
BiasGelu a c3 = Add a c3; Gelu $
FastGelu a c3 = Add a c3; Gelu $ approximate="tanh"
BiasAdd a c3 a = Add a c3; Add $ a
BiasSoftmax a c3 axis=1 = Add a c3; Softmax $ axis=1
SkipLayerNormalization a a2 c3 c3 = Add a a2; LayerNormalization $ c3 c3 epsilon=1e-12
SkipSimplifiedLayerNormalization a a2 c3 epsilon=0.5 = Add a a2; SimplifiedLayerNormalization $ c3 epsilon=0.5
EmbedLayerNormalization ids - table table4 - c3 c3 = Gather table ids >t; Add t table4; LayerNormalization $ c3 c3 epsilon=1e-12
GroupNorm n g1 g1 groups=2 activation=1 = Transpose n perm=[0,3,1,2]; GroupNormalization $ g1 g1 num_groups=2; Swish $; Transpose $ perm=[0,2,3,1]
QLinearAdd q s1 z1 q s2 z1 s3 z2 = DequantizeLinear q s2 z1 >t; DequantizeLinear q s1 z1; Add $ t; QuantizeLinear $ s3 z2
QLinearSigmoid q s1 z1 s2 z2 = DequantizeLinear q s1 z1; Sigmoid $; QuantizeLinear $ s2 z2
QLinearConcat s1 z1 q s2 z2 q s3 z1 axis=1 = DequantizeLinear q s2 z2 >t; DequantizeLinear q s3 z1; Concat t $ axis=1; QuantizeLinear $ s1 z1
QLinearReduceMean q s1 z1 s2 z2 axes=[1] = DequantizeLinear q s1 z1; ReduceMean $ axis1; QuantizeLinear $ s2 z2
QLinearAveragePool qi s1 z1 s2 z2 kernel_shape=[2,2] = DequantizeLinear qi s1 z1; AveragePool $ kernel_shape=[2,2]; QuantizeLinear $ s2 z2
QLinearWhere yes q s1 z1 q s2 z1 s3 z2 = DequantizeLinear q s2 z1 >t; DequantizeLinear q s1 z1; Where yes $ t; QuantizeLinear $ s3 z2
QGemm q s1 z1 qb s2 z1 = MatMulInteger q qb z1 z1; Cast $ to=1 >t; Mul s1 s2; Mul t $
DynamicQuantizeMatMul a qb s1 z1 = DynamicQuantizeLinear a >u,v,w; MatMulInteger u qb w z1; Cast $ to=1 >t; Mul v s1; Mul t $
MulInteger q z1 q z2 = Cast q to=6; Sub $ w1 >t; Cast q to=6; Sub $ w2; Mul t $
ReduceSumInteger q axes=[1] = Cast q to=12; ReduceSum $ axis1
DequantizeLinear h s1 zh = DequantizeLinear h s1 zh
Attention x w bias num_heads=2 unidirectional=1 = MatMul x w; Add $ bias >all; Split all axis=2 num_outputs=3 >u,v,o; Attention u v o q_num_heads=2 kv_num_heads=2 is_causal=1
MultiHeadAttention x x x num_heads=2 scale=0.5 = Attention x x x q_num_heads=2 kv_num_heads=2 scale=0.5
MultiHeadAttention packed num_heads=2 = Gather packed g0 axis=3 >t0; Transpose t0 perm=[0,2,1,3] >u; Gather packed g2 axis=3 >t2; Transpose t2 perm=[0,2,1,3] >o; Gather packed gone axis=3 >t1; Transpose t1 perm=[0,2,1,3] >v; Attention u v o; Transpose $ perm=[0,2,1,3]; Reshape $ flat
RotaryEmbedding x at turns turns num_heads=2 = RotaryEmbedding x turns turns at num_heads=2
MatMulNBits a4 four scales K=4 N=2 bits=4 block_size=4 = MatMul a4 unpacked
MatMulBnb4 a4 four largest K=4 N=2 block_size=5 = MatMul a4 looked
GatherBlockQuantized four2 ids2 scales2 bits=4 block_size=4 = Gather rows ids2
TEXT
cat >"$dir/m.json" <<'TEXT'
{ "format": "graph/1", "name": "contrib", "opset": { "": 24, "com.microsoft": 1 },
  "inputs": [ {"name":"a","dtype":"f32","shape":[2,3]}, {"name":"a2","dtype":"f32","shape":[2,3]},
    {"name":"b","dtype":"f32","shape":[2,4]}, {"name":"c","dtype":"f32","shape":[4]}, {"name":"c3","dtype":"f32","shape":[3]},
    {"name":"d","dtype":"f32","shape":[2,5,3]}, {"name":"e","dtype":"f32","shape":[4,2,5]},
    {"name":"i","dtype":"f32","shape":[1,2,5,5]}, {"name":"k","dtype":"f32","shape":[3,2,3,3]},
    {"name":"z","dtype":"f32","shape":[1,3,5,5]}, {"name":"n","dtype":"f32","shape":[1,5,5,2]}, {"name":"x","dtype":"f32","shape":[2,3,8]},
    {"name":"w","dtype":"f32","shape":[8,24]}, {"name":"bias","dtype":"f32","shape":[24]},
    {"name":"packed","dtype":"f32","shape":[2,3,2,3,4]}, {"name":"turns","dtype":"f32","shape":[9,2]},
    {"name":"a4","dtype":"f32","shape":[3,4]}, {"name":"table","dtype":"f32","shape":[5,3]},
    {"name":"table4","dtype":"f32","shape":[3,3]}, {"name":"g1","dtype":"f32","shape":[2]} ],
  "constants": { "half": {"dtype":"f32","shape":[],"data":[0.5]}, "low": {"dtype":"f32","shape":[],"data":[-0.25]},
    "ids": {"dtype":"i64","shape":[2,3],"data":[0,4,2,1,1,3]}, "ids2": {"dtype":"i64","shape":[3],"data":[1,0,1]},
    "q": {"dtype":"u8","shape":[2,3],"data":[7,255,0,90,131,12]}, "qb": {"dtype":"u8","shape":[3,2],"data":[1,2,99,250,0,77]},
    "qi": {"dtype":"u8","shape":[1,1,3,3],"data":[7,255,0,90,131,12,200,3,44]}, "h": {"dtype":"u16","shape":[3],"data":[7,65535,300]},
    "zh": {"dtype":"u16","shape":[],"data":[300]}, "s1": {"dtype":"f32","shape":[],"data":[0.0313]},
    "s2": {"dtype":"f32","shape":[],"data":[0.0471]}, "s3": {"dtype":"f32","shape":[],"data":[0.0593]},
    "z1": {"dtype":"u8","shape":[],"data":[100]}, "z2": {"dtype":"u8","shape":[],"data":[7]},
    "w1": {"dtype":"i32","shape":[],"data":[100]}, "w2": {"dtype":"i32","shape":[],"data":[7]},
    "axis1": {"dtype":"i64","shape":[1],"data":[1]}, "yes": {"dtype":"bool","shape":[2,3],"data":[1,0,1,1,0,0]},
    "g0": {"dtype":"i64","shape":[],"data":[0]}, "gone": {"dtype":"i64","shape":[],"data":[1]}, "g2": {"dtype":"i64","shape":[],"data":[2]},
    "flat": {"dtype":"i64","shape":[3],"data":[2,3,8]}, "at": {"dtype":"i64","shape":[2,3],"data":[0,1,2,6,7,8]},
    "four": {"dtype":"u8","shape":[2,1,2],"data":[16,50,84,118]}, "scales": {"dtype":"f32","shape":[2,1],"data":[0.5,2]},
    "unpacked": {"dtype":"f32","shape":[4,2],"data":[-4,-8,-3.5,-6,-3,-4,-2.5,-2]},
    "largest": {"dtype":"f32","shape":[2],"data":[2,6]},
    "looked": {"dtype":"f32","shape":[4,2],"data":[0.010416666977107525,1,0,2,2,1.5,1.3333333730697632,1]},
    "four2": {"dtype":"u8","shape":[2,2],"data":[16,50,84,118]}, "scales2": {"dtype":"f32","shape":[2,1],"data":[0.5,2]},
    "rows": {"dtype":"f32","shape":[2,4],"data":[-4,-3.5,-3,-2.5,-8,-6,-4,-2]} },
TEXT
awk -v quote='"' '
function list(s,  i, n, part, out) { # names, as JSON
    n = split(s, part, ",")
    for (i = 1; i <= n; i++) out = out (i > 1 ? "," : "") quote (part[i] == "-" ? "" : part[i]) quote
    return "[" out "]"
}
function step(s, domain, out,  n, word, i, in_, attr, at, name) { # "MatMul a $ >t" as a node
    n = split(s, word, " ")
    in_ = ""; attr = ""; name = out
    for (i = 2; i <= n; i++)
        if ((at = index(word[i], "=")))
            attr = attr (attr ? "," : "") quote substr(word[i], 1, at - 1) quote ":" substr(word[i], at + 1)
        else if (word[i] ~ /^>/) {
            name = substr(word[i], 2)
            gsub(/[a-z0-9]+/, "&." NR, name)
        } else
            in_ = in_ (in_ ? "," : "") (word[i] == "$" ? last : index(named, " " word[i] " ") ? word[i] "." NR : word[i])
    i = name; gsub(/\.[0-9]+/, "", i); gsub(/,/, " ", i); if (name != out) named = named i " "
    last = name; sub(/,.*/, "", last)
    nodes = nodes (nodes ? ",\n" : "") "{" quote "op" quote ":" quote domain word[1] quote "," quote "in" quote ":" list(in_) \
        "," quote "out" quote ":" list(name) "," quote "attr" quote ":{" attr "}}"
}
{
    split($0, side, " = ")
    named = " "
    step(side[1], "com.microsoft.", "got" NR)
    n = split(side[2], one, "; ")
    for (k = 1; k <= n; k++) step(one[k], "", k == n ? "want" NR : "t" NR "." k)
    outs = outs (outs ? "," : "") "{" quote "name" quote ":" quote "got" NR quote "},{" quote "name" quote ":" quote "want" NR quote "}"
}
END { print quote "outputs" quote ":[" outs "]," quote "nodes" quote ":[" nodes "]}" }' "$dir/lines" >>"$dir/m.json"
bad=0
for target in interp c; do
    "$TESSERA" run "$dir/m.json" --seed 3 --out "$dir/$target" --target $target -q >"$dir/said"
    n=0
    while read -r line; do
        n=$((n + 1))
        cmp -s "$dir/$target/got$n.npy" "$dir/$target/want$n.npy" || { echo "$target: not alike: $line"; bad=1; }
    done <"$dir/lines"
done
[ $n -ge 30 ] && exit $bad
