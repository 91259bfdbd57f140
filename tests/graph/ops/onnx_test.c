/* Adapters: ONNX calls in every version that means something else, held against results worked out by hand. A row is
 * "Type version operands ; attributes => results": an operand is a constant dtype[shape]=v,v,... (its values repeat;
 * 1, 2, 3, ... when none are given), "-" where it is absent; an attribute of tensor kind is name={operand}. */
/* ctest: fast */
#include "graph/eval/eval.h"
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, MAX_TEXT = 1024 };
static const char *const rows[] = {
    /* constants and shapes */
    "Constant 13 ; value={i64[2]=3,4} => i64[2] 3 4",
    "Constant 13 ; value_int=7 => i64[] 7",
    "Constant 13 ; value_float=0.5 => f32[] 0.5",
    "Constant 13 ; value_ints=[1,2,3] => i64[3] 1 2 3",
    "Constant 13 ; value_floats=[0.5,1.5] => f32[2] 0.5 1.5",
    "Shape 13 f32[2,3,4] => i64[3] 2 3 4",
    "Shape 15 f32[2,3,4] ; start=1 => i64[2] 3 4",
    "Shape 15 f32[2,3,4] ; start=-2 end=-1 => i64[1] 3",
    "Shape 15 f32[2,3,4] ; start=2 end=1 => i64[0]",
    "Size 13 f32[2,3,4] => i64[] 24",
    "ConstantOfShape 9 i64[2]=2,2 ; value={i32[1]=5} => i32[2,2] 5 5 5 5",
    "ConstantOfShape 9 i64[1]=2 => f32[2] 0 0",
    "ConstantOfShape 9 i64[0] ; value={f32[1]=5} => f32[] 5",
    "Range 11 i64[]=2 i64[]=11 i64[]=3 => i64[3] 2 5 8",
    "Range 11 f32[]=1 f32[]=0 f32[]=-0.25 => f32[4] 1 0.75 0.5 0.25",
    "Range 11 i64[]=3 i64[]=1 i64[]=1 => i64[0]",
    "Range 11 i64[]=3 i64[]=1 i64[]=0 => !from 3 to 1 by 0 is no range: the step must not be 0",
    /* arithmetic */
    "Sum 8 f32[2] f32[2] f32[1]=10 => f32[2] 12 14",
    "Mean 8 f32[2] f32[2]=3,6 => f32[2] 2 4",
    "Max 8 f32[2] f32[2]=9,0 f32[]=1.5 => f32[2] 9 2",
    "Min 8 f32[2] => f32[2] 1 2",
    "Div 14 i64[4]=7,-7,7,-7 i64[4]=2,2,-2,-2 => i64[4] 3 -3 -3 3",
    "Div 14 f32[2]=7,-7 f32[]=2 => f32[2] 3.5 -3.5",
    "Mod 13 i32[2]=7,-7 i32[]=3 => i32[2] 1 2",
    "Mod 13 f32[2]=7,-7 f32[]=3 ; fmod=1 => f32[2] 1 -1",
    "Pow 15 f32[2]=3,4 i64[]=2 => f32[2] 9 16",
    "Pow 15 i32[2]=3,4 f32[]=0.5 => i32[2] 1 2",
    "Clip 6 f32[4]=-2,0.5,3,9 ; min=0.0 max=6.0 => f32[4] 0 0.5 3 6",
    "Clip 13 f32[3]=-2,0.5,3 f32[]=0 => f32[3] 0 0.5 3",
    "Clip 13 f32[3]=-2,0.5,3 - f32[]=1 => f32[3] -2 0.5 1",
    "Clip 13 i64[3]=-2,0,3 i64[]=-1 i64[]=1 => i64[3] -1 0 1",
    "Clip 13 f32[2] => f32[2] 1 2",
    "Cast 13 f32[3]=-1.5,0,2.9 ; to=7 => i64[3] -1 0 2",
    "Cast 13 f32[2]=0,2 ; to=9 => bool[2] 0 1",
    "Cast 13 f32[2] ; to=8 => !element type 8 of ONNX is not supported, reals, integers or bool expected",
    "CastLike 15 i64[2] f32[1] => f32[2] 1 2",
    "IsInf 10 f32[3]=-inf,1,inf ; detect_negative=0 => bool[3] 0 0 1",
    "IsInf 10 f32[3]=-inf,1,inf ; detect_positive=0 => bool[3] 1 0 0",
    "IsInf 10 f32[3]=-inf,1,inf ; detect_positive=0 detect_negative=0 => bool[3] 0 0 0",
    "Dropout 13 f32[2] => f32[2] 1 2",
    "Dropout 13 outputs=2 f32[2] f32[]=0.5 bool[]=0 => f32[2] 1 2 ; bool[2] 1 1",
    "Sign 13 f32[4]=-0,0,-2,3 => f32[4] 0 0 -1 1",
    "ReverseSequence 10 f32[2,3] i64[3]=1,2,3 => !ReverseSequence: sequence 2 has length 3, expected 0 to 2",
    "ReverseSequence 10 f32[2,3] i64[3]=1,-2,2 => !ReverseSequence: sequence 1 has length -2, expected 0 to 2",
    "RNN 14 f32[2,1,1] f32[1,1,1] f32[1,1,1] - i32[1]=9 ; hidden_size=1 "
    "=> !RNN: sequence 0 has length 9, expected 0 to 2",
    "Dropout 13 f32[2] f32[]=1.5 bool[]=1 => !ratio 1.5 is outside",
    /* views */
    "Reshape 13 f32[2,3] i64[2]=0,-1 => f32[2,3] 1 2 3 4 5 6",
    "Reshape 13 f32[2,3] i64[3]=-1,1,2 => f32[3,1,2] 1 2 3 4 5 6",
    "Reshape 14 f32[0,3] i64[2]=3,0 ; allowzero=1 => f32[3,0]",
    "Reshape 14 f32[0,3] i64[2]=0,5 => f32[0,5]",
    "Reshape 13 f32[2,3] i64[1]=4 => !6 elements do not fit the shape [4]",
    "Flatten 13 f32[2,1,3] => f32[2,3] 1 2 3 4 5 6",
    "Flatten 13 f32[2,1,3] ; axis=0 => f32[1,6] 1 2 3 4 5 6",
    "Flatten 13 f32[2,1,3] ; axis=-1 => f32[2,3] 1 2 3 4 5 6",
    "Flatten 13 f32[2,3] ; axis=3 => !axis 3 is out of range for rank 2",
    "Transpose 13 f32[2,3] => f32[3,2] 1 4 2 5 3 6",
    "Transpose 13 f32[1,2,3] ; perm=[2,0,1] => f32[3,1,2] 1 4 2 5 3 6",
    "Unsqueeze 11 f32[2] ; axes=[0,2] => f32[1,2,1] 1 2",
    "Unsqueeze 13 f32[2] i64[2]=0,-1 => f32[1,2,1] 1 2",
    "Squeeze 11 f32[1,2,1] ; axes=[0] => f32[2,1] 1 2",
    "Squeeze 13 f32[1,2,1] i64[1]=-1 => f32[1,2] 1 2",
    "Squeeze 13 f32[1,2,1] => f32[2] 1 2",
    "Squeeze 13 f32[1,2,1] i64[1]=1 => !squeeze: axis 1 has extent 2, not 1",
    "Expand 13 f32[2,1] i64[1]=3 => f32[2,3] 1 1 1 2 2 2",
    "Expand 13 f32[2,1] i64[3]=2,1,1 => f32[2,2,1] 1 2 1 2",
    /* parts */
    "Slice 1 f32[2,3] ; starts=[0,1] ends=[9,-1] => f32[2,1] 2 5",
    "Slice 1 f32[2,3] ; starts=[1] ends=[3] axes=[1] => f32[2,2] 2 3 5 6",
    "Slice 13 f32[5] i64[1]=-1 i64[1]=-100 i64[1]=0 i64[1]=-2 => f32[3] 5 3 1",
    "Slice 13 f32[2,3] i64[1]=1 i64[1]=9223372036854775807 i64[1]=-1 => f32[2,2] 2 3 5 6",
    "Slice 13 f32[5] i64[1]=3 i64[1]=1 => f32[0]",
    "Slice 13 f32[5] i64[1]=0 i64[1]=5 i64[1]=0 i64[1]=0 => !slice: step 0 along axis 0, another one "
    "expected",
    "Slice 13 f32[5] i64[2]=0 i64[1]=5 => !Slice: 2 starts, 1 ends for rank 1: as many of both, of axes and of "
    "steps expected, one for an axis",
    "Split 2 outputs=2 f32[4] => f32[2] 1 2 ; f32[2] 3 4",
    "Split 11 outputs=2 f32[2,3] ; axis=1 split=[1,2] => f32[2,1] 1 4 ; f32[2,2] 2 3 5 6",
    "Split 13 outputs=3 f32[5] i64[3]=1,0,4 => f32[1] 1 ; f32[0] ; f32[4] 2 3 4 5",
    "Split 18 outputs=3 f32[7] ; num_outputs=3 => f32[3] 1 2 3 ; f32[3] 4 5 6 ; f32[1] 7",
    "Split 13 outputs=2 f32[5] i64[2]=1,3 => !split: the sizes add up to 4 of 5",
    "Gather 13 f32[2,3] i64[]=-1 => f32[3] 4 5 6",
    "Gather 13 f32[2,3] i64[1]=1 ; axis=1 => f32[2,1] 2 5",
    "Gather 13 f32[2,3] i64[2]=2,-3 ; axis=1 => f32[2,2] 3 1 6 4",
    "Gather 13 f32[2,3] i64[]=2 => !index 2 is out of range for axis 0 of extent 2",
    "GatherElements 13 f32[2,2] i64[2,1]=1,0 ; axis=1 => f32[2,1] 2 3",
    "GatherND 13 f32[2,2] i64[2,2]=0,1,1,0 => f32[2] 2 3",
    "Concat 13 f32[1,2] f32[1,2]=7 ; axis=-1 => f32[1,4] 1 2 7 7",
    "Concat 3 f32[1,2] f32[1,1]=7 => f32[1,3] 1 2 7",
    "Pad 2 f32[2] ; pads=[1,2] value=9.0 => f32[5] 9 1 2 9 9",
    "Pad 13 f32[2] i64[2]=1,0 f32[]=8 => f32[3] 8 1 2",
    "Pad 18 f32[1,2] i64[2]=1,1 - i64[1]=-1 => f32[1,4] 0 1 2 0",
    "Pad 13 f32[3] i64[2]=2,0 ; mode=reflect => f32[5] 3 2 1 2 3",
    "Pad 13 i64[2] i64[2]=1,-1 i64[]=4611686018427387905 => i64[2] 4611686018427387905 1",
    "Range 11 i64[]=4611686018427387905 i64[]=4611686018427387910 i64[]=2 => i64[3] 4611686018427387905 "
    "4611686018427387907 4611686018427387909",
    "Range 11 i64[]=9 i64[]=-9223372036854775808 i64[]=-9223372036854775808 => i64[2] 9 -9223372036854775799",
    "Range 11 i32[]=5 i32[]=5 i32[]=-1 => i32[0]",
    "Tile 13 f32[1,2] i64[2]=2,2 => f32[2,4] 1 2 1 2 1 2 1 2",
    "Trilu 14 f32[2,2] => f32[2,2] 1 2 0 4",
    "Trilu 14 f32[2,2] i64[]=-1 ; upper=0 => f32[2,2] 0 0 3 0",
    /* reductions */
    "ReduceSum 11 f32[2,3] ; axes=[1] => f32[2,1] 6 15",
    "ReduceSum 13 f32[2,3] i64[1]=0 ; keepdims=0 => f32[3] 5 7 9",
    "ReduceSum 13 i32[2,3] => i32[1,1] 21",
    "ReduceSum 13 f32[2] i64[0] ; noop_with_empty_axes=1 => f32[2] 1 2",
    "ReduceMean 18 f32[2,3] i64[2]=0,-1 ; keepdims=0 => f32[] 3.5",
    "ReduceMax 13 f32[2,3] ; axes=[0] keepdims=0 => f32[3] 4 5 6",
    "ReduceL2 13 f32[2]=3,4 => f32[1] 5",
    "ReduceL1 13 f32[2]=3,-4 => f32[1] 7",
    "ReduceSumSquare 13 f32[2]=3,4 => f32[1] 25",
    "ReduceLogSum 13 f32[2]=0.25,0.75 => f32[1] 0",
    "ReduceProd 13 i64[4] ; keepdims=0 => i64[] 24",
    "ArgMax 13 f32[2,3]=1,9,3,7,5,7 ; axis=-1 => i64[2,1] 1 0",
    "ArgMin 13 f32[2,2]=1,9,0,9 ; keepdims=0 => i64[2] 1 0",
    /* products, windows */
    "Gemm 13 f32[2,2] f32[2,2] f32[2]=10,20 => f32[2,2] 17 30 25 42",
    "Gemm 13 f32[2,2] f32[2,2] ; transA=1 => f32[2,2] 10 14 14 20",
    "Gemm 13 f32[2,2] f32[2,2] f32[1]=10 ; transB=1 alpha=2.0 beta=0.5 => f32[2,2] 15 27 27 55",
    /* over integers: the whole part of the sum, of reals where factors are fractional; whole ones leave it exact */
    "Gemm 13 i32[2,2] i32[2,2] i32[2]=1,2 ; alpha=0.5 beta=0.5 => i32[2,2] 4 6 8 12",
    "Gemm 13 i64[2,2] i64[2,2] ; alpha=-0.5 => i64[2,2] -3 -5 -7 -11",
    "Gemm 13 u32[2,2] u32[2,2] u32[1]=3 ; beta=0.5 transB=1 => u32[2,2] 6 12 12 26",
    "Gemm 13 i32[2,2] i32[2,2] i32[1]=9 ; alpha=0.25 beta=0.0 => i32[2,2] 1 2 3 5",
    "Gemm 13 i64[1,1]=3037000499 i64[1,1]=3037000499 i64[1]=1 ; alpha=1.0 beta=2.0 => i64[1,1] 9223372030926249003",
    "Gemm 13 f32[2,2,2] f32[2,2] => !given f32[2,2,2] and f32[2,2]; matrices [m, k] and [k, n] expected",
    "MaxPool 12 f32[1,1,2] ; kernel_shape=[3] => f32[1,1,0]",
    "MaxPool 12 f32[1,2,4,1] ; kernel_shape=[2,3] strides=[1,2] => f32[1,2,3,0]",
    "LpPool 18 f32[1,1,2] ; kernel_shape=[3] => f32[1,1,0]",
    "AveragePool 19 f32[1,1,1] ; kernel_shape=[3] strides=[2] ceil_mode=1 => f32[1,1,0]",
    "MaxPool 12 f32[1,1,1] ; kernel_shape=[3] => !max_pool: a window of 3, dilated by 1, does not fit spatial axis 0 "
    "of "
    "extent 1 with pads of 0 and 0",
    "DynamicQuantizeLinear 11 outputs=3 f32[3]=0,0,0 => u8[3] 0 0 0 ; f32[] 1 ; u8[] 0",
    "DynamicQuantizeLinear 11 outputs=3 f32[2]=255,0 => u8[2] 255 0 ; f32[] 1 ; u8[] 0",
    "STFT 17 f32[1,4] i64[]=2 f32[1]=2 => f32[1,2,1,2] 2 0 6 0",
    "BatchNormalization 15 f32[3] f32[1]=2 f32[1]=10 f32[1]=1 f32[1]=4 ; epsilon=0.0 => f32[3] 10 11 12",
    "BatchNormalization 15 f32[0] f32[1]=2 f32[1]=10 f32[1]=1 f32[1]=4 ; epsilon=0.0 => f32[0]",
    "GRU 14 outputs=2 f32[0,1,2] f32[1,3,2] f32[1,3,1] - - f32[1,1,1]=7 ; hidden_size=1 => f32[0,1,1,1] ; f32[1,1,1] 7",
    "LSTM 14 outputs=3 f32[0,1,2] f32[1,4,2] f32[1,4,1] ; hidden_size=1 => f32[0,1,1,1] ; f32[1,1,1] 0 ; f32[1,1,1] 0",
    "Conv 11 f32[1,1,3] f32[1,1,2]=1 f32[1]=10 => f32[1,1,2] 13 15",
    "Conv 11 f32[1,1,3] f32[1,1,2]=1 ; auto_pad=SAME_UPPER => f32[1,1,3] 3 5 3",
    "Conv 11 f32[1,1,3] f32[1,1,2]=1 ; auto_pad=SAME_LOWER => f32[1,1,3] 1 3 5",
    "Conv 11 f32[1,1,4] f32[1,1,2]=1 ; auto_pad=VALID strides=[2] => f32[1,1,2] 3 7",
    "Conv 11 f32[1,1,3] f32[1,1,2]=1 ; pads=[1] => !Conv: 1 pads for 1 spatial axes, two for each expected",
    "Conv 11 f32[1,1,3] f32[1,1,2] ; kernel_shape=[3] => !Conv: kernel_shape is 3 along spatial axis 0, where the "
    "weight "
    "has 2",
    "Conv 11 f32[1,1,3] f32[1,1,2] ; kernel_shape=[2,2] => !Conv: kernel_shape has 2 extents for 1 spatial axes",
    "Split 18 outputs=2 f32[5] ; num_outputs=3 => !Split: num_outputs is 3, the node's 2 outputs expected",
    "LinearAttention 27 f32[1,2,6] f32[1,2,6] f32[1,2,4] ; q_num_heads=4 kv_num_heads=2 update_rule=linear => !given "
    "f32[1,2,6], f32[1,2,6] and f32[1,2,4]; [batch, time, width] each for q_num_heads=4 and kv_num_heads=2, the latter "
    "a divisor, and of queries and keys as many numbers a head, expected",
    "LinearAttention 27 f32[1,2,6] f32[1,2,6] f32[1,2,4] ; q_num_heads=2 kv_num_heads=2 update_rule=plain => "
    "!LinearAttention: update_rule \"plain\", linear, gated, delta or gated_delta expected",
    "LinearAttention 27 f32[1,2,6] f32[1,2,6] f32[1,2,4] ; q_num_heads=2 kv_num_heads=2 update_rule=gated => "
    "!LinearAttention: update_rule \"gated\" without decay and without beta; gated rules take the one, delta rules the "
    "other",
    "Col2Im 18 f32[1,4,9] i64[2]=4 i64[2]=9 => !col2im: spatial axis 0: a block of 9, dilated by 1, in an image of 4 "
    "with 0 and 0 of padding; one that fits expected, and fewer than 2^63 blocks",
    "NonMaxSuppression 11 f32[4,4] f32[1,2,4] => !given f32[4,4] and f32[1,2,4]; boxes [batch, n, 4] and scores "
    "[batch, class, n] expected",
    "EyeLike 9 f32[2] => !given f32[2]; a matrix [rows, columns] expected",
    "ScatterElements 18 f32[2,2] i64[2,3]=0 f32[2,3] => !put_along_axis: axis 1 of the places has 3 elements, at most "
    "2 expected, as what they are put into",
    "STFT 17 f32[1,8,1,1] i64[]=2 f32[4] => !STFT: frames of 4, 2 apart, of a signal of rank 4: rank 2 or 3 and frames "
    "of 1 "
    "to its length expected",
    "TopK 11 outputs=2 f32[4] i64[1]=-1 => !TopK: k is -1, expected 0 or more",
    "Tile 13 f32[2] i64[2]=2,2 => !Tile: 2 numbers for rank 1, one for each axis expected",
    "Pad 13 f32[2,3] i64[2]=1,1 => !Pad: 2 numbers for 2 axes, two for each expected",
    "ConvTranspose 11 f32[1,3] f32[3,2,1] => !ConvTranspose: ranks 2 and 3, equal ones of 3 to 5 expected",
    "Multinomial 7 f32[3] => !Multinomial: 1 samples of weights of rank 1, at least 1 of [batch, class] expected",
    "Conv 11 f32[1,3,3] f32[1,1,2,2] => !Conv: ranks 3 and 4 differ, equal ones expected",
    "Conv 11 f32[1,3,3] f32[1,1,2] => !conv: conv1d: 3 input channels in 1 groups, of which the weight takes 1 each "
    "and gives 1; groups that divide both, and a weight for one of them, expected",
    "MaxPool 12 f32[1,1,4] ; kernel_shape=[2] strides=[2] => f32[1,1,2] 2 4",
    "MaxPool 12 f32[1,1,3]=-3,-1,-2 ; kernel_shape=[2] strides=[2] pads=[1,0] => f32[1,1,2] -3 -1",
    "MaxPool 12 outputs=2 f32[1,1,4]=2,4,4,1 ; kernel_shape=[2] => f32[1,1,3] 4 4 4 ; i64[1,1,3] 1 1 2",
    "MaxPool 12 outputs=2 f32[1,1,2,2]=0,4,4,0 ; kernel_shape=[2,2] storage_order=1 => f32[1,1,1,1] 4 ; "
    "i64[1,1,1,1] 2", /* of equals the first one row by row, whatever its number */
    "AveragePool 11 f32[1,1,3] ; kernel_shape=[2] pads=[1,0] => f32[1,1,3] 1 1.5 2.5",
    "AveragePool 11 f32[1,1,3] ; kernel_shape=[2] pads=[1,0] count_include_pad=1 => f32[1,1,3] 0.5 1.5 2.5",
    "AveragePool 11 f32[1,1,3] ; kernel_shape=[2] strides=[2] ceil_mode=1 => f32[1,1,2] 1.5 3",
    "Resize 13 i8[2]=-4,1 - - i64[1]=3 ; mode=linear coordinate_transformation_mode=align_corners => i8[3] -4 -1 1",
    /* places that are whole numbers are no others, whichever way others are rounded */
    "Resize 13 f32[4] - - i64[1]=2 ; nearest_mode=ceil coordinate_transformation_mode=align_corners => f32[2] "
    "1 4",
    "Resize 13 f32[4] - - i64[1]=2 ; nearest_mode=floor coordinate_transformation_mode=align_corners => f32[2] "
    "1 4",
    "Resize 13 f32[22] - - i64[1]=8 ; nearest_mode=ceil coordinate_transformation_mode=align_corners => f32[8] "
    "1 4 7 10 13 16 19 22",
    "Resize 13 f32[22] - - i64[1]=8 ; nearest_mode=floor coordinate_transformation_mode=align_corners => f32[8] "
    "1 4 7 10 13 16 19 22",
    "HannWindow 17 i64[]=1 ; periodic=0 => f32[1] 0",
    "GlobalAveragePool 1 f32[1,2,2] => f32[1,2,1] 1.5 3.5",
    "GlobalMaxPool 1 f32[1,2,2] => f32[1,2,1] 2 4",
    "GroupNormalization 18 f32[1,3] f32[2]=1 f32[2]=0 ; num_groups=2 => !GroupNormalization: num_groups 2, a divisor "
    "of "
    "the channels expected",
    "AffineGrid 20 f32[1,2,3] i64[2]=1,2 => !AffineGrid: a size of 2 numbers, at least 3 expected",
    "DFT 17 f32[1,4,1] i64[]=0 => !DFT: length 0, expected 1 to 2^31 - 1",
    "HannWindow 17 i64[]=-1 => !HannWindow: size -1, expected 0 to 2^31 - 1",
    /* norms */
    "Softmax 11 f32[1,2,2]=0 => f32[1,2,2] 0.25 0.25 0.25 0.25",
    "Softmax 13 f32[1,2,2]=0 => f32[1,2,2] 0.5 0.5 0.5 0.5",
    "Softmax 13 f32[2,1]=0 ; axis=0 => f32[2,1] 0.5 0.5",
    "LogSoftmax 13 f32[2]=0,-inf => f32[2] 0 -inf",
    "LayerNormalization 17 outputs=3 f32[1,2]=3,5 f32[2]=1,2 f32[2]=10 ; epsilon=0.0 => f32[1,2] 9 12 ; f32[1,1] 4 ; "
    "f32[1,1] 1",
    "LayerNormalization 17 f32[1,2]=3,5 f32[2]=1 ; epsilon=3.0 => f32[1,2] -0.5 0.5",
    "BatchNormalization 15 f32[1,2,1]=3,5 f32[2]=2 f32[2]=1 f32[2]=1 f32[2]=4 ; epsilon=0.0 => f32[1,2,1] 3 5",
    "BatchNormalization 15 f32[2,1]=3,5 f32[1]=2 f32[1]=1 f32[1]=9 f32[1]=9 ; training_mode=1 epsilon=0.0 => "
    "f32[2,1] -1 3",
    "Add 6 f32[2,2]=1,2,3,4 f32[2]=10,20 ; broadcast=1 axis=0 => f32[2,2] 11 12 23 24",
    "Mul 6 f32[2]=1,2 f32[1]=3 ; broadcast=1 axis=5 => !Mul: axis 5 for ranks 1 and 1, expected 0 to 0",
    "InstanceNormalization 6 f32[1,1,2]=3,5 f32[1]=2 f32[1]=1 ; epsilon=0.0 => f32[1,1,2] -1 3",
    "GroupNormalization 18 f32[1,2,2]=3,5,0,2 f32[2]=2 f32[2]=1 ; num_groups=2 epsilon=0.0 => f32[1,2,2] -1 3 -1 3",
    "GroupNormalization 18 f32[1,4]=3,5,0,2 f32[2]=1,2 f32[2]=0,9 ; num_groups=2 epsilon=0.0 => f32[1,4] -1 1 7 11",
    "RMSNormalization 23 f32[1,2]=3,-3 f32[2]=2 ; epsilon=0.0 => f32[1,2] 2 -2",
    "Gelu 20 f32[2]=0,9 => f32[2] 0 9",
    "Gelu 20 f32[1]=0 ; approximate=tanh => f32[1] 0",
    "Gelu 20 f32[1]=0 ; approximate=fast => !approximate: \"fast\" is neither none nor tanh",
    /* what a broken file may say */
    "Relu 13 => !0 operands given, takes 1",
    "Gemm 13 f32[2,2] => !Gemm needs 2 operands, number 2 is missing",
    "Gather 13 - i64[1] => !Gather needs 2 operands, number 1 is missing",
    "LeakyRelu 6 f32[2] ; beta=0.5 => !no attribute beta",
    "Concat 13 f32[2] - f32[2] ; axis=0 => !Concat needs 3 operands, number 2 is missing",
};

/* ---- reading a row ---- */
typedef struct call {
    onnx_call onnx;
    const node *in[MOST];
    attr attr[MOST];
    const ts_array *tensor[MOST];
    ts_array value[2 * MOST]; /* everything made here */
    int n_value;
    int64_t ints[MOST][MOST];
    double reals[MOST][MOST];
} call;

static const ts_array *read_array(call *c, const char *s)
{
    ts_array *a = &c->value[c->n_value++];
    dtype d;
    int64_t dim[MAX_RANK];
    char name[8], *end;
    int rank = 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(s, "["), s);
    for (s += strcspn(s, "[") + 1; *s != ']'; s = end + (*end == ','))
        dim[rank++] = strtoll(s, &end, 10);
    const char *first = *++s == '=' ? s + 1 : NULL, *at = first;
    if (!CHECK(dtype_parse(name, &d)) || !CHECK(ts_array_make(a, d, rank, dim, NULL)))
        return NULL;
    for (int64_t i = 0; i < ts_array_count(a); i++) {
        if (!first)
            store_real(d, a->data, i, (double)i + 1);
        else if (dtype_class(d) == D_REAL)
            store_real(d, a->data, i, strtod(at, &end));
        else
            store_whole(d, a->data, i, strtoll(at, &end, 10));
        if (first)
            at = *end == ',' ? end + 1 : first;
    }
    return a;
}

static void read_attr(call *c, char *s)
{
    attr *a = &c->attr[c->onnx.n_attr];
    char *value = s + strcspn(s, "=") + 1, *end;
    value[-1] = 0;
    a->name = s;
    a->kind = 's', a->s = value;
    const bool real = strchr(value, '.') || strchr(value, 'e');
    if (*value == '{') {
        value[strcspn(value, "}")] = 0;
        a->kind = 't', c->tensor[c->onnx.n_attr] = read_array(c, value + 1);
    } else if (*value == '[') {
        double *reals = c->reals[c->onnx.n_attr];
        int64_t *ints = c->ints[c->onnx.n_attr];
        for (char *at = value + 1; *at != ']'; at = end + (*end == ','))
            reals[a->n] = strtod(at, &end), ints[a->n] = (int64_t)reals[a->n], a->n++;
        a->kind = real ? 'F' : 'I', a->ints = ints, a->reals = reals;
    } else if (strspn(value, "-0123456789.") == strlen(value))
        a->kind = real ? 'f' : 'i', a->i = strtoll(value, NULL, 10), a->f = strtod(value, NULL);
    c->onnx.n_attr++;
}

/* "Type version [outputs=n] operands [; attributes]" */
static void read_call(call *c, graph *g, char *row)
{
    char *rest = row, *word = strtok_r(rest, " ", &rest);
    bool attributes = false;
    c->onnx = (onnx_call){.g = g, .type = word, .domain = "", .name = "", .n_out = 1, .in = c->in, .attr = c->attr};
    c->onnx.tensor = c->tensor;
    c->onnx.version = (int)strtol(strtok_r(rest, " ", &rest), NULL, 10);
    while ((word = strtok_r(rest, " ", &rest))) {
        if (!strcmp(word, ";"))
            attributes = true;
        else if (!strncmp(word, "outputs=", 8))
            c->onnx.n_out = (int)strtol(word + 8, NULL, 10);
        else if (attributes)
            read_attr(c, word);
        else
            c->in[c->onnx.n_in++] = *word == '-' ? NULL : ts_constant(g, "", read_array(c, word));
    }
}

/* ---- running it ---- */
static void print_value(text *t, const ts_array *a)
{
    type y = {.dtype = a->dtype, .rank = a->rank};
    memcpy(y.dim, a->dim, sizeof y.dim);
    type_print(t, &y);
    for (int64_t i = 0; i < ts_array_count(a); i++)
        if (dtype_class(a->dtype) == D_REAL)
            text_add(t, " %.6g", load_real(a->dtype, a->data, i));
        else
            text_add(t, " %lld", (long long)load_whole(a->dtype, a->data, i));
}

static void run(call *c, text *t)
{
    const node *out[MOST] = {NULL};
    const onnx_rule *rule;
    err e = {0};
    const op *o = op_for_onnx("", c->onnx.type, c->onnx.version, &rule);
    if (!o) {
        text_add(t, "no operation");
        return;
    }
    if (!onnx_apply(o, rule, &c->onnx, out, &e)) {
        text_add(t, "!%s", e.text);
        return;
    }
    for (int i = 0; i < c->onnx.n_out; i++) {
        const ts_array *v = out[i] ? g_value(c->onnx.g, out[i], 1 << 20) : NULL;
        text_add(t, i ? " ; " : "");
        if (v)
            print_value(t, v);
        else
            text_add(t, "nothing");
    }
}

static void check_row(const char *row)
{
    char copy[MAX_TEXT];
    const char *want = strstr(row, " => ") + 4;
    snprintf(copy, sizeof copy, "%.*s", (int)(want - 4 - row), row);
    graph *g = ts_graph_make();
    call *c = calloc(1, sizeof *c);
    text got = {0};
    read_call(c, g, copy);
    run(c, &got);
    const bool refused = *want == '!';
    if (!CHECK(refused ? *text_str(&got) == '!' && strstr(text_str(&got), want + 1) : !strcmp(text_str(&got), want)))
        printf("  %s\n  got: %s\n", row, text_str(&got));
    for (int i = 0; i < c->n_value; i++)
        ts_array_free(&c->value[i]);
    text_free(&got);
    free(c);
    ts_graph_free(g);
}

int main(void)
{
    for (int i = 0; i < COUNT(rows); i++)
        check_row(rows[i]);
    return check_done();
}
