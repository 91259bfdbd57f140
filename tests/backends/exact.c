/* exact.c - the problems, and the loop over instruction sets, threads and schemas. */
#include "tests/backends/exact.h"
#include "graph/base/base.h"
#include "tests/backends/row.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rows[] = {
    /* one fold that comes in along several paths, of a scalar too */
    "v i64[3]; s sum v; m multiply s s; l i64[]; c less m l; y where c l m",
    "v f32[40]; s sum v; y multiply s s",
    /* a sum that is read on a condition, at a place that is computed: it is not summed there */
    "x f32[3,8,7,16]; w f32[1,8,2,3]; b f32[1,1,6]; c conv2d strides=[2,3] dilations=[2,1] pads=[2,2,1,0] x w; "
    "s add c b; g! f32[3,3,1,2]; y grid_sample mode=nearest s g",
    /* sums that stay in memory, over vectors that come and go */
    "~x f32[2,1,1,5]; g f32[2,4,3,2]; y grid_sample padding=border x g",
    /* strides that leave places which nothing reaches */
    "x f32[1,3,2]; w! f32[3,2,1]; y conv_transpose strides=[3] x w",
    /* products */
    "a f32[37,70]; w! f32[70,53]; y matmul a w",
    "a f32[64,1030]; w! f32[1030,96]; y matmul a w",
    "a f32[1,300]; w! f32[300,400]; y matmul a w",
    "a f32[300]; b f32[300,50]; y matmul a b",
    "a f32[130,20]; b f32[20,300]; y matmul a b",
    "a f32[3,17,40]; b f32[3,40,50]; y matmul a b",
    "a f32[3,17,40]; w! f32[40,50]; y matmul a w",
    "a f32[2,3,17,24]; b f32[2,3,33,24]; t transpose axes=[0,1,3,2] b; y matmul a t",
    "a f32[2,19,36]; b f32[36,70]; r reshape shape=[2,19,6,6] a; t transpose axes=[0,2,1,3] r; u transpose "
    "axes=[0,2,1,3] t; "
    "s reshape shape=[38,36] u; y matmul s b",
    "a f32[40,37]; b f32[40,50]; t transpose a; y matmul t b",
    "a f32[40,70]; b f32[53,70]; t transpose b; y matmul a t",
    "a f32[1100,20]; b f32[37,1100]; s transpose a; t transpose b; y matmul s t",
    "a f32[260,20]; b f32[20,70]; y matmul a b",
    "a f32[33,70]; w! f32[70,60]; c! f32[60]; x f32[33,60]; p matmul a w; q add p c; r relu q; y add r x",
    "a f32[65,48]; w! f32[48,96]; c! f32[96]; v! f32[96,48]; p matmul a w; q add p c; r relu q; s matmul r v; y add s "
    "a",
    "a f64[33,70]; b f64[70,35]; y matmul a b",
    "a i32[33,70]; b i32[70,35]; y matmul a b",
    "a i64[20,70]; b i8[70,35]; y matmul a b",
    /* convolutions */
    "x f32[1,3,20,22]; w! f32[8,3,3,3]; y conv2d pads=[1,1,1,1] x w",
    "x f32[2,3,21,22]; w! f32[20,3,5,5]; y conv2d strides=[2,2] pads=[2,2,2,2] x w",
    "x f32[2,8,14,15]; w! f32[40,8,1,1]; y conv2d x w",
    "x f32[2,8,15,15]; w! f32[24,8,1,1]; y conv2d strides=[2,2] x w",
    "x f32[1,12,17,18]; w! f32[24,4,3,3]; y conv2d group=3 pads=[1,1,1,1] x w",
    "x f32[1,16,17,18]; w! f32[16,1,3,3]; y conv2d group=16 pads=[1,1,1,1] strides=[2,1] x w",
    "x f32[1,4,19,18]; w! f32[10,4,3,2]; y conv2d dilations=[2,3] pads=[0,1,2,3] x w",
    "x f32[2,3,40]; w! f32[9,3,5]; y conv1d strides=[3] pads=[2,1] x w",
    "x f32[1,8,13,13]; w! f32[8,8,3,3]; c! f32[1,8,1,1]; p conv2d pads=[1,1,1,1] x w; q add p c; r relu q; y add r x",
    "x f32[2,3,32,32]; w! f32[16,3,7,7]; c! f32[1,16,1,1]; p conv2d strides=[2,2] pads=[3,3,3,3] x w; q add p c; r "
    "relu q; "
    "y max_pool kernel=[3,3] strides=[2,2] pads=[1,1,1,1] r",
    "x f32[1,8,16,16]; w! f32[12,8,3,3]; v! f32[12,8,1,1]; p conv2d strides=[2,2] pads=[1,1,1,1] x w; "
    "q conv2d strides=[2,2] x v; s add p q; y relu s",
    "x f32[1,8,12,12]; w! f32[8,8,1,1]; v! f32[8,8,3,3]; u! f32[8,8,1,1]; p conv2d x w; q relu p; "
    "r conv2d pads=[1,1,1,1] q v; s relu r; t conv2d s u; z add t x; y relu z",
    /* weights that change: a panel of them is copied, windows are read where they are */
    "x f32[2,5,9,10]; w f32[20,5,3,3]; y conv2d pads=[1,1,1,1] x w",
    "x f32[3,8,14,15]; w f32[70,8,3,2]; y conv2d strides=[2,1] dilations=[2,3] pads=[2,1,0,2] x w",
    "x f32[3,8,7,7]; w f32[40,8,1,1]; c f32[1,40,1,1]; p conv2d x w; q add p c; y relu q",
    "x f32[2,8,15,14]; w f32[24,8,1,1]; y conv2d strides=[2,2] x w",
    "x f32[1,4,30]; w f32[40,4,5]; c f32[1,40,1]; p conv1d pads=[2,2] x w; q add p c; y relu q",
    "x f32[2,3,6,7,5]; w f32[18,3,3,2,3]; y conv3d pads=[1,0,1,1,1,1] x w",
    "x f32[1,130,5,4]; w f32[33,130,3,3]; y conv2d pads=[1,1,1,1] x w",
    "x f64[2,5,9,10]; w f64[9,5,3,3]; y conv2d pads=[1,1,1,1] x w",
    "x f32[2,20,9,9]; w f32[20,18,3,3]; y conv_transpose pads=[1,1,1,1] x w",
    /* values between convolutions: blocks of channels where all readers can walk them */
    "x f32[2,3,21,19]; w! f32[20,3,3,3]; v! f32[37,20,3,3]; p conv2d pads=[1,1,1,1] x w; "
    "q max_pool kernel=[3,3] strides=[2,2] pads=[1,1,1,1] p; y conv2d pads=[1,1,1,1] q v",
    "x f32[1,20,13,14]; w! f32[40,20,1,1]; v! f32[40,1,3,3]; u! f32[33,40,1,1]; p conv2d x w; "
    "q conv2d group=40 pads=[1,1,1,1] strides=[2,2] p v; y conv2d q u",
    "x f32[1,16,15,15]; w! f32[64,16,1,1]; v! f32[64,16,3,3]; u! f32[24,16,3,3]; p conv2d x w; "
    "q conv2d group=4 pads=[1,1,1,1] p v; r slice starts=[0,16,0,0] sizes=[1,16,15,15] q; y conv2d r u",
    "x f32[1,9,10,11]; w! f32[24,9,3,3]; v! f32[8,9,3,3]; u! f32[7,32,1,1]; p conv2d pads=[1,1,1,1] x w; "
    "q conv2d pads=[1,1,1,1] x v; c concat axis=1 p q; y conv2d c u",
    "x f32[2,9,8,8]; w! f32[24,9,3,3]; v! f32[216,10]; p conv2d strides=[2,2] x w; m max_pool kernel=[1,1] p; "
    "r reshape shape=[2,216] m; y matmul r v",
    "x f32[2,9,8,8]; w! f32[36,9,3,3]; p conv2d pads=[1,1,1,1] x w; c! f32[1,36,1,1]; a add p c; q relu a; "
    "y sum axes=[2,3] q",
    "x f32[2,9,8,8]; w! f32[36,9,3,3]; p conv2d x w; t transpose axes=[0,2,3,1] p; v! f32[36,20]; y matmul t v",
    "x f32[1,9,8,30]; w! f32[36,9,3,3]; p conv2d x w; q max_pool kernel=[2,2] p; y sum axes=[1] q",
    "x f64[1,9,8,10]; w! f64[18,9,3,3]; v! f64[5,18,3,3]; p conv2d pads=[1,1,1,1] x w; y conv2d p v",
    "x f32[1,40,9,11]; w! f32[40,40,1,1]; v! f32[40,8,3,3]; p conv2d x w; y conv2d group=5 pads=[1,1,1,1] p v",
    "x f32[1,32,9,11]; w! f32[32,32,1,1]; v! f32[96,4,3,3]; p conv2d x w; y conv2d group=8 pads=[1,1,1,1] p v",
    /* fewer products: images that tiles cover and do not, channels that blocks cover and do not, sums behind them */
    "x f32[1,32,12,12]; w! f32[32,32,3,3]; c! f32[1,32,1,1]; p conv2d pads=[1,1,1,1] x w; q add p c; y relu q",
    "x f32[2,40,13,14]; w! f32[37,40,3,3]; y conv2d pads=[1,1,1,1] x w",
    "x f32[1,33,9,11]; w! f32[48,33,3,3]; v! f32[50,48,3,3]; p conv2d pads=[2,0,1,2] x w; q relu p; "
    "y conv2d pads=[1,1,1,1] q v",
    "x f32[1,32,14,16]; w! f32[32,32,1,1]; v! f32[32,32,3,3]; u! f32[64,32,1,1]; s! f32[64,32,1,1]; p conv2d x w; "
    "q conv2d pads=[1,1,1,1] p v; r relu q; t conv2d r u; z conv2d x s; a add t z; y relu a",
    "x f32[1,24,40,9]; w! f32[24,24,3,3]; p conv2d x w; q add p p; m max_pool kernel=[2,2] strides=[2,2] q; "
    "r reshape shape=[1,24,57] m; y sum axes=[2] r",
    "x f64[1,32,12,12]; w! f64[32,32,3,3]; y conv2d pads=[1,1,1,1] x w",
    /* choices among neighbours */
    "a f32[5,60]; b f32[5,60]; c f32[5,60]; p reshape shape=[5,60,1] a; q reshape shape=[5,60,1] b; r reshape "
    "shape=[5,60,1] c; y concat axis=2 p q r",
    "a f32[40,60]; b f32[40,60]; p reshape shape=[40,1,60] a; q reshape shape=[40,1,60] b; c concat axis=1 p q; y relu "
    "c",
    /* borders: tiles of their own, padding wider than a tile, kernels that reach over both ends */
    "x f32[1,16,9,61]; w! f32[32,16,3,3]; y conv2d pads=[1,1,1,1] x w",
    "x f32[1,5,30,57]; w! f32[17,5,5,5]; y conv2d dilations=[3,4] pads=[6,8,6,8] x w",
    "x f32[1,5,6,5]; w! f32[17,5,9,9]; y conv2d pads=[7,8,6,7] x w",
    "x f32[1,3,41,43]; w! f32[24,3,7,7]; y conv2d strides=[3,2] pads=[9,10,11,12] x w",
    "x f32[1,32,23,47]; w! f32[32,1,5,5]; y conv2d group=32 pads=[2,2,2,2] x w",
    "x f32[2,32,23,29]; w! f32[32,32,1,1]; p conv2d x w; y average_pool kernel=[3,3] strides=[2,2] pads=[1,1,1,1] p",
    "x f32[2,32,23,29]; w! f32[32,32,1,1]; p conv2d x w; y max_pool kernel=[5,5] pads=[2,2,2,2] p",
    "x i32[2,3,23,29]; y max_pool kernel=[5,5] pads=[2,2,2,2] x",
    "x f32[1,4,3,2]; w! f32[5,4,2,2]; y conv2d x w", /* one column: places are those of the kernel alone */
    "x f32[2,8,2,2]; w! f32[9,8,3,3]; y conv2d strides=[2,2] pads=[1,1,1,1] x w",
    /* in one kernel, a group cut by tiles: padding before what scratch holds */
    "x f32[2,6,2,20]; w! f32[4,6,2,2]; v! f32[16,2,1,2]; p conv2d strides=[2,1] pads=[1,1,0,1] x w; "
    "y conv2d group=2 strides=[2,1] pads=[0,1,0,1] p v",
    "x i32[1,4,12,13]; w i32[6,4,3,3]; y conv2d pads=[1,0,1,2] x w",
    "x f64[1,4,12,13]; w f64[6,4,3,3]; y conv2d strides=[1,2] x w",
    /* windows and folds */
    "x f32[2,5,19,17]; y max_pool kernel=[3,2] strides=[2,1] pads=[1,0,1,1] x",
    "x f32[2,5,20,16]; y average_pool kernel=[2,2] strides=[2,2] x",
    "x f32[2,16,8,8]; y mean axes=[2,3] x",
    "x f32[70,80]; y sum axes=[0] x",
    "x f32[70,333]; y sum axes=[1] x",
    "x f32[130,150]; y sum x",
    "x f32[9,20,101]; y sum axes=[1] x",
    "x f32[9,20,101]; y sum axes=[0,2] keepdims=1 x",
    /* of nothing: what a fold starts from, whichever way the loops that fold are walked */
    "x f32[30,0]; y prod axes=[1] x",
    "x f32[0,30]; y prod axes=[0] x",
    "x f32[5,0,30]; y sum axes=[1] x",
    "x i32[9,3,0]; p prod axes=[2] x; y add p p",
    "x f64[7,0,4]; y prod axes=[1,2] keepdims=1 x",
    "a f32[7,0]; b f32[0,40]; p matmul a b; c f32[40]; y add p c",
    "a f32[8,33]; b f32[3,3,33,0]; p matmul a b; y sum axes=[3] p",
    "a f64[2,1,3,5,5]; b f64[2,2,3,5,0]; p matmul a b; y sum axes=[4] p",
    "a f32[3,0,33]; b f32[33,40]; p matmul a b; y sum axes=[1] p",
    "x f32[1,8,9,9]; w! f32[16,8,3,3]; s slice starts=[0,0,0,0] sizes=[0,8,9,9] x; p conv2d s w; y sum axes=[0] p",
    "a f32[7,30]; n f32[30,0]; s sum axes=[1] n; p multiply a s; y sum axes=[1] p",
    "x f32[9,20,101]; y max axes=[1] x",
    "x f32[9,20,101]; y min axes=[2] x",
    "x i32[30,700]; y sum axes=[1] x",
    "x i8[30,700]; y max axes=[0] x",
    "x f64[30,700]; y sum axes=[1] x",
    "x f32[60,300]; m max axes=[1] keepdims=1 x; d subtract x m; y sum axes=[1] d",
    "x f32[60,300]; y argmax axis=1 x",
    /* folds of nothing, an empty axis inside a long one */
    "x f32[5,0]; y prod x",
    "x bool[5,4]; y min axes=[0] x",
    "x f32[1000000000000,0]; y sum x",
    "x i32[0,7]; y prod axes=[0] x",
    "x f32[3,1000000000000,0]; b f32[3]; s prod axes=[1,2] x; y add s b",
    "x f32[4,0]; w f32[0,30]; b f32[30]; p matmul x w; y add p b",
    /* movement */
    "t! f32[90,40]; i i64[3,60]<90; y gather t i",
    "t! f32[90,40]; i i64[3,60]<90; p! f32[60,40]; g gather t i; y add g p",
    "a f32[60,100]; b f32[60,33]; y concat axis=1 a b",
    "a f32[60,100]; b f32[7,100]; c concat axis=0 a b; y relu c",
    "a f32[40,96]; p split axis=1 parts=3 a; q split axis=1 parts=3 part=1 a; r split axis=1 parts=3 part=2 a; m "
    "multiply p q; "
    "y add m r",
    "a f32[60,100]; y slice starts=[50,3] sizes=[20,40] steps=[-2,2] a",
    "a f32[7,30,100]; y transpose axes=[2,0,1] a",
    "a f32[7,30,100]; t transpose axes=[1,0,2] a; r reshape shape=[30,700] t; y add r r",
    "a f32[60,300]; p pad pads=[1,2,3,4] a; y sum axes=[0] p",
    "a f32[200,100]; b f32[100]; c f32[200,1]; p multiply a b; q add p c; y maximum q a",
    "a i64[200,100]; b i64[1,100]; p multiply a b; y subtract p a",
    "a u8[200,100]; b u8[100]; p add a b; y maximum p a",
    "a bool[200,100]; b f32[200,100]; c f32[100]; y where a b c",
    "a f32[40,50]; w! f32[50,96]; p matmul a w; r reshape shape=[40,8,12] p; t transpose axes=[1,0,2] r; "
    "u transpose axes=[1,0,2] t; y reshape shape=[40,96] u",
    /* of what lies behind, a part is read */
    "a f32[90,40]; w! f32[40,50]; v! f32[50,30]; p matmul a w; r relu p; s slice starts=[89,0] sizes=[1,50] "
    "steps=[1,1] r; "
    "y matmul s v",
    "a f32[90,40]; w! f32[40,50]; v! f32[50,30]; p matmul a w; s slice starts=[20,0] sizes=[9,50] steps=[-2,1] p; "
    "q matmul s v; t slice starts=[30,0] sizes=[9,50] steps=[1,1] p; u matmul t v; y add q u",
    "a f32[3,90,40]; m max axes=[2] keepdims=1 a; d subtract a m; s sum axes=[2] keepdims=1 d; q add d s; "
    "y slice starts=[1,70,5] sizes=[1,9,20] steps=[1,1,1] q",
    "x f32[1,9,20,21]; w! f32[36,9,3,3]; v! f32[20,36,1,1]; p conv2d pads=[1,1,1,1] x w; "
    "s slice starts=[0,0,12,3] sizes=[1,36,5,9] steps=[1,1,1,1] p; y conv2d s v",
    "x f32[1,9,20,21]; w! f32[36,9,3,3]; v! f32[20,12,1,1]; p conv2d pads=[1,1,1,1] x w; "
    "s slice starts=[0,7,0,0] sizes=[1,12,20,21] steps=[1,1,1,1] p; y conv2d s v",
    "a f32[40,60]; b f32[60,70]; p matmul a b; t transpose p; s slice starts=[5,0] sizes=[7,40] steps=[3,1] t; "
    "r relu s; y sum axes=[1] r",
    /* scatters */
    "a f32[90,40]; i i64[3,60]<90; x f32[3,60,40]; y scatter reduce=add a i x",
    "a f32[3,90,40]; i i64[60]<90; x f32[3,60,40]; y scatter axis=1 a i x",
    "a f32[90]; i i64[300]<90; x f32[300]; y scatter reduce=add a i x",
    "a f32[20,70]; i i64[20,90]<70; x f32[20,90]; r relu x; p put_along_axis axis=1 reduce=max a i r; y add p a",
    "a i32[20,70]; i i32[9,70]<20; x i32[9,70]; y put_along_axis reduce=mul a i x",
    "a f32[20,30,8]; i i64[50,2]<20; x f32[50,8]; y scatter_nd reduce=add a i x",
    "a f32[60,40]; u! f32[40,40]; i i64[80]<60; x f32[80,40]; p matmul a u; y scatter reduce=add p i x",
    "a f32[60,40]; u! f32[40,40]; i i64[70]<40; x f32[70,60]; p matmul a u; t transpose p; y scatter reduce=add t i x",
    "a bool[20,30]; i u8[50]<20; x bool[50,30]; y scatter reduce=add a i x",
    "a f64[7,5]; i i64[2]<5; x f64[]; y scatter_nd a i x",
    "z! f32[1,1]; b broadcast_to shape=[60,30] z; i i64[40]<60; x f32[30,40]; t transpose x; y scatter reduce=add b i "
    "t",
    /* states */
    "a f32[20,70]; r relu a; y cumsum axis=1 r",
    "a f32[20,170]; b f32[20,170]; c add a b; y cumsum axis=0 exclusive=1 c",
    "a f32[3,20,170]; y cumsum axis=1 reverse=1 a",
    "a i32[70]; p cummax reverse=1 a; y add p a",
    "a bool[5,70,9]; t transpose axes=[2,1,0] a; y cumsum axis=1 t",
    "a f64[1,70]; y cummin a",
    "a f32[20,70]; y scan_place axis=1 a",
    "a f32[90,5]; y scan_place fn=min a",
    /* routines */
    "a f32[20,70]; b negative a; o order axis=1 b; y take_along_axis axis=1 b o",
    "a f32[20,70,3]; t transpose axes=[1,0,2] a; y argsort axis=0 descending=1 t",
    "a i32[300,5]; y sort axis=0 a",
    "a f32[20,70]; s sort axis=1 a; t transpose s; b f32[70,20]; y add t b",
    "a f32[20,70]; o argsort axis=1 a; t transpose o; r reshape shape=[1400] t; b f32[70]; y gather b r",
    "a u64[90]; y top_k k=7 a",
    "a! bool[40,3]; y nonzero a",
    /* real functions */
    "~a f32[60,300]; y softmax axis=-1 a",
    "~a f32[60,300]; y softmax axis=0 a",
    "~a f32[60,300]; g! f32[300]; b! f32[300]; y layer_norm a g b",
    "~q f32[2,3,40,16]; k f32[2,3,33,16]; v f32[2,3,33,20]; y attention q k v",
    "~q f32[1,4,50,16]; k f32[1,4,50,16]; v f32[1,4,50,16]; y attention causal=1 q k v",
    "~q f32[2,3,40,16]; k f32[2,3,40,16]; v f32[2,3,40,20]; a attention causal=1 q k v; r relu a; "
    "s slice starts=[0,1,38,0] sizes=[2,1,2,20] steps=[1,1,1,1] r; y exp s",
    "~a f32[60,48]; g! f32[48]; b! f32[48]; w! f32[48,9]; n layer_norm a g b; "
    "s slice starts=[33,0] sizes=[8,48] steps=[1,1] n; y matmul s w",
    "~a f32[40,64]; w! f32[64,100]; p matmul a w; y gelu p",
    "~a f64[40,64]; w! f64[64,100]; p matmul a w; g gelu p; y softmax g",
    "~x f32[70,48]; w! f32[48,48]; c! f32[48]; p matmul x w; q add p c; r add q x; g! f32[48]; b! f32[48]; y "
    "layer_norm r g b",
    "~x f32[70,3,5]; w! f32[24,5]; r! f32[24,6]; b! f32[48]; h f32[3,6]; c f32[3,6]; p! f32[18]; y lstm x w r b h c p",
    "~x f32[9,3,5]; w! f32[18,5]; r! f32[18,6]; b! f32[36]; h f32[3,6]; n i64[3]<9; y gru reverse=1 x w r b h n",
    "~x f32[2,8,9,9]; a f32[8]; b f32[8]; c f32[8]; v! f32[8]; s square v; y batch_norm x a b c s",
};

typedef struct bench {
    ts_graph *g;
    row_inputs in;
    int first_input[COUNT(rows) + 1]; /* of a row; those of the next one follow */
    ts_tensor root[COUNT(rows)];
    ts_array want[COUNT(rows)];
} bench;

static double tolerance_of(int i)
{
    return *rows[i] == '~' ? 2e-5 : 0;
}

/* Values are seeded by what a row says: another row above does not change them. */
static int number_of(const char *row)
{
    return (int)(quick_hash(row, strlen(row), 0) & 0xffffff);
}

static bool prepare(bench *b)
{
    const ts_options interp = {.target = "interp"};
    ts_error e = {0};
    b->g = ts_graph_make();
    for (int i = 0; i < COUNT(rows); i++) {
        if (!(b->root[i] = row_build(b->g, rows[i] + (*rows[i] == '~'), number_of(rows[i]), &b->in)))
            return false;
        b->first_input[i + 1] = b->in.n;
    }
    if (CHECK(ts_eval(COUNT(rows), b->root, b->in.n, b->in.given, &interp, b->want, &e)))
        return true;
    printf("  %s\n", e.text);
    return false;
}

/* Computes the rows that are taken as one plan. */
static void compare(const bench *b, const ts_options *o, const bool *taken)
{
    static ts_given given[MAX_ROW_INPUTS];
    ts_tensor root[COUNT(rows)];
    ts_array got[COUNT(rows)];
    ts_error e = {0};
    char how[100];
    int n = 0, n_given = 0;
    snprintf(how, sizeof how, "%s, %s, %s, %d threads", o->target ? o->target : "c", o->schema ? o->schema : "guess",
             o->isa ? o->isa : "as it is", o->threads);
    for (int i = 0; i < COUNT(rows); i++) {
        if (!taken[i])
            continue;
        root[n++] = b->root[i];
        for (int k = b->first_input[i]; k < b->first_input[i + 1]; k++)
            given[n_given++] = b->in.given[k];
    }
    if (!CHECK(n > 0 && ts_eval(n, root, n_given, given, o, got, &e))) {
        printf("  %s: %s\n", how, e.text);
        return;
    }
    for (int i = 0, k = 0; i < COUNT(rows); i++) {
        if (!taken[i])
            continue;
        const int64_t at = row_differs(&b->want[i], &got[k], tolerance_of(i));
        if (!CHECK(at < 0))
            printf("  %s: %s\n    element %lld is %.9g, not %.9g\n", how, rows[i], (long long)at,
                   ts_array_at(&got[k], at), ts_array_at(&b->want[i], at));
        ts_array_free(&got[k++]);
    }
}

/* The names that ts_schemas_json lists for target c, after NULL for the guess; all is cut into pieces. */
static int schemas_of_c(char *all, const char **out, int max)
{
    int n = 0;
    char *rest = NULL, *at = strstr(all, "\"c\":["), *end = at ? strchr(at, ']') : NULL;
    out[n++] = NULL;
    if (!CHECK(at && end))
        return n;
    *end = 0;
    for (char *s = strtok_r(at + 5, "\",\n ", &rest); s && n < max; s = strtok_r(NULL, "\",\n ", &rest))
        out[n++] = s;
    CHECK(n > 1);
    return n;
}

/* Of `all`, every row under every schema with each number of threads by every instruction set; else each row under the
 * guess by the widest instruction set and by one of the others, with one of two numbers of threads, and under one
 * schema with one instruction set, of threads those of the guess: what a schema leaves alone is compiled once. */
typedef struct combination {
    int isa, n_isa, thread, schema, n_schema; /* schema 0: the guess */
} combination;

static bool is_taken(int row, const combination *c)
{
    const int turn = row / 2, named = c->n_schema - 1, narrow = c->n_isa - 1;
    const bool guessed = !c->isa || turn % narrow == c->isa - 1;
    return (row + c->isa) % 2 == c->thread &&
           (c->schema ? turn % named == c->schema - 1 && turn / named % c->n_isa == c->isa : guessed);
}

/* Half of the kernels for the widest vectors under the guess are as they are made everywhere; of a part, others are
 * compiled in half the time, where this runs in a build. */
static void choose_compiler(bool all, const combination *c)
{
    const char *build = getenv("BUILD");
    char path[4096];
    if (all || !build || (!c->isa && !c->schema && !c->thread)) {
        unsetenv("TESSERA_CC");
        return;
    }
    snprintf(path, sizeof path, "%s/tests/cc-Og", build);
    setenv("TESSERA_CC", path, 1);
}

static void finish(bench *b)
{
    for (int i = 0; i < COUNT(rows); i++)
        ts_array_free(&b->want[i]);
    row_inputs_free(&b->in);
    ts_graph_free(b->g);
}

static bool has_routine(const char *row)
{
    static const char *const routines[] = {" order ", "argsort", " sort ", "top_k", "nonzero"};
    bool any = false;
    for (int i = 0; i < COUNT(routines); i++)
        any = any || strstr(row, routines[i]);
    return any;
}

void exact_check_on(const ts_options *on, int share, int first)
{
    static bench b;
    bool taken[COUNT(rows)];
    for (int r = 0; r < COUNT(rows); r++)
        taken[r] = r % share == first && !has_routine(rows[r]);
    if (prepare(&b))
        compare(&b, on, taken);
    finish(&b);
}

void exact_check(bool all)
{
    static const char *const isas[] = {"avx512", "avx2", "neon", "plain"};
    static const int threads[] = {1, 3, 2, 5};
    static bench b;
    const char *schema[16], *isa[COUNT(isas)];
    char *listed = ts_schemas_json();
    const int n = schemas_of_c(listed, schema, COUNT(schema));
    int n_isa = 0;
    if (!prepare(&b))
        return;
    for (int i = 0; i < COUNT(isas); i++) {
        ts_error lacks = {0};
        char *machine = ts_machine_json(&(ts_options){.isa = isas[i]}, &lacks);
        if (machine)
            isa[n_isa++] = isas[i];
        ts_free(machine);
    }
    for (int i = 0; i < n_isa; i++)
        for (int t = 0; t < (all ? COUNT(threads) : 2); t++)
            for (int s = 0; s < n; s++) {
                bool taken[COUNT(rows)];
                const combination c = {i, n_isa, t, s, n};
                for (int r = 0; r < COUNT(rows); r++)
                    taken[r] = all || is_taken(r, &c);
                choose_compiler(all, &c);
                compare(&b, &(ts_options){.isa = isa[i], .threads = threads[t], .schema = schema[s]}, taken);
            }
    finish(&b);
    ts_free(listed);
}
