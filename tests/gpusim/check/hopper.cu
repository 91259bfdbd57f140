// Products of warpgroups, for 9.0 with its own instructions. MUTANT: one mistake, which the stand-in must find.
#include <cuda_bf16.h>
#ifndef MUTANT
#define MUTANT 0
#endif
typedef unsigned long long u64;
struct __align__(64) tensor_map { char opaque[128]; }; // what the driver calls CUtensorMap



__device__ __forceinline__ u64 descriptor(const void *p, unsigned leading, unsigned stride, u64 swizzle)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(p);
    return (at & 0x3ffff) >> 4 | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | swizzle << 62;
}
// Sums are operands, so that no compiler moves what is done with them to the other side.
#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define ALL(d) FOUR(d, 0), FOUR(d, 4), FOUR(d, 8), FOUR(d, 12)
template <int turn_a, int turn_b> __device__ __forceinline__ void product(float *d, u64 a, u64 b) // 64 x 32 x 16
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
                 "%11, %12, %13, %14, %15}, %16, %17, p, 1, 1, %19, %20;\n}\n"
                 : ALL(d)
                 : "l"(a), "l"(b), "r"(1), "n"(turn_a), "n"(turn_b) : "memory");
}
__device__ __forceinline__ void fence(float *d) { asm volatile("wgmma.fence.sync.aligned;" : ALL(d) :: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wait(float *d) { asm volatile("wgmma.wait_group.sync.aligned 0;" : ALL(d) :: "memory"); }
__device__ __forceinline__ void shown() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Element e of a slice whose rows of `row` elements (64, 32, 16) are swizzled, or which is not (8)
__device__ __forceinline__ int place(int e, int row) { return row == 8 ? e : e ^ (e >> 6 & (row / 8 - 1)) * 8; }

// C[64, 32] = A[64, 64] B[64, 32], a warpgroup. deep: elements of k that lie together in slices of A; A is turned (k rows
// of m) where deep is 0. B has rows of k, each `wide` neighbours along n, or, with wide 0, 64 neighbours along k.
template <int deep, int wide>
__device__ __forceinline__ void product64(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C)
{
    extern __shared__ __align__(1024) __nv_bfloat16 s[];
    __nv_bfloat16 *const a = s, *const b = s + 64 * 64 + (MUTANT == 5 ? 64 : 0);
    const int t = threadIdx.x;
    for (int i = t; i < 64 * 64; i += 128) {
        const int m = i / 64, k = i % 64;
        a[deep ? k / deep * 64 * deep + place(m * deep + k % deep, deep) : place(k * 64 + m, 64)] = A[m * 64 + k];
    }
    for (int i = t; i < 64 * 32; i += 128) {
        const int k = i / 32, n = i % 32;
        if (MUTANT == 4 && i == 777) continue;
        b[wide ? n / wide * 64 * wide + place(k * wide + n % wide, wide) : place(n * 64 + k, 64)] = B[k * 32 + n];
    }
    if (MUTANT != 1) shown();
    if (MUTANT != 2) __syncthreads();
    float d[16];
    for (int i = 0; i < 16; i++) d[i] = 0;
    if (MUTANT != 3) fence(d);
    const int swa = deep == 64 || deep == 0 ? 1 : deep == 32 ? 2 : deep == 16 ? 3 : 0;
    const int swb = wide == 64 || wide == 0 ? 1 : wide == 32 ? 2 : wide == 16 ? 3 : 0;
    if (MUTANT == 9 && t >= 96) return;
    for (int k = 0; k < 64; k += 16) {
        const char *pa = (const char *)a + (deep ? k / (deep ? deep : 1) * 128 * deep + k % (deep ? deep : 1) * 2 : k * 128);
        const char *pb = (const char *)b + (wide ? k * 2 * wide : k * 2);
        const unsigned la = deep == 8 ? 64 * 16 : 16, sa = deep ? deep * 16 : 1024;
        const unsigned lb = wide == 8 ? 128 : wide ? 128 * wide : 16, sb = wide == 8 ? 64 * 16 : wide ? wide * 16 : 1024;
        u64 da = descriptor(pa, la, sa, swa), db = descriptor(pb, lb, sb, swb);
        if (MUTANT == 6) db += 0x3000;
        if (MUTANT == 10 && t >= 64) db += 2;
        product<deep == 0, (wide != 0)>(d, da, db);
    }
    if (MUTANT != 7) commit();
    if (MUTANT == 8) a[t * 8] = __nv_bfloat16(1.f);
    if (MUTANT == 11) d[3] += 1;
    wait(d);
    for (int r = 0; r < 16; r++)
        C[(t / 32 * 16 + t % 32 / 4 + r / 2 % 2 * 8) * 32 + r / 4 * 8 + t % 4 * 2 + r % 2] = d[r];
}
extern "C" __global__ void rows128(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C) { product64<64, 0>(A, B, C); }
#if MUTANT == 0
extern "C" __global__ void rows64(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C) { product64<32, 32>(A, B, C); }
extern "C" __global__ void rows32(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C) { product64<16, 16>(A, B, C); }
extern "C" __global__ void plain(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C) { product64<8, 8>(A, B, C); }
extern "C" __global__ void turned(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C) { product64<0, 32>(A, B, C); }
#endif

// ---- bulk copies and mbarriers: A [64, 64] in boxes of 64 x 64, B [64, 32] in boxes of 32 x 64 ----
__device__ __forceinline__ unsigned shared_at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void bar_make(unsigned bar, int n)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(n) : "memory");
    if (MUTANT != 24) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void bar_expect(unsigned bar, int bytes)
{
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bar_wait(unsigned bar, int parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(bar),
                 "r"(parity) : "memory");
}
__device__ __forceinline__ void box(unsigned to, const void *map, int x, int y, unsigned bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory");
}
__device__ __forceinline__ void piece(unsigned to, const void *from, int bytes, unsigned bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(bar) : "memory");
}
#define BOXES extern "C" __global__ void
typedef const __nv_bfloat16 *operand;
#define MAP const __grid_constant__ tensor_map
// Steps of k from `first` on; what is outside comes as zeros. One place for both steps, so that parities turn.
__device__ __forceinline__ void by_boxes(float *C, const tensor_map *ma, const tensor_map *mb, int first)
{
    extern __shared__ __align__(1024) char s8[];
    char *const a = s8 + (MUTANT == 26 ? 16 : 0), *const b = s8 + 64 * 128 + (MUTANT == 26 ? 1008 : 0);
    const unsigned bar = shared_at(s8 + 64 * 128 + 64 * 64 + (MUTANT == 26 ? 1024 : 0));
    const int t = threadIdx.x;
    float d[16];
    for (int i = 0; i < 16; i++) d[i] = 0;
    if (t == 0) bar_make(bar, 1);
    if (MUTANT >= 30) { // what lanes wrote is shown before boxes come there
        a[16 * t] = 0;
        if (MUTANT != 31) shown();
    }
    if (MUTANT != 27) __syncthreads();
    for (int i = 0, k = first; k < 64; k += 64, i++) {
        if (t == 0) {
            bar_expect(bar, 64 * 128 + 64 * 64 + (MUTANT == 22 ? 16 : MUTANT == 23 ? -16 : 0));
            box(shared_at(a), ma, k, 0, bar);
            box(shared_at(b), mb, 0, k, bar);
        }
        if (MUTANT != 21 && (MUTANT != 25 || t < 32)) bar_wait(bar, MUTANT == 30 ? 0 : i & 1);
        fence(d);
        for (int j = 0; j < 64; j += 16)
            product<0, 1>(d, descriptor(a + 2 * j, 16, 1024, 1), descriptor(b + 64 * j, 16, 512, 2));
        commit();
        if (MUTANT == 28 && t == 0) box(shared_at(a), ma, 0, 0, bar);
        wait(d);
        if (MUTANT != 29) __syncthreads();
    }
    for (int r = 0; r < 16; r++)
        C[(t / 32 * 16 + t % 32 / 4 + r / 2 % 2 * 8) * 32 + r / 4 * 8 + t % 4 * 2 + r % 2] = d[r];
}
BOXES boxes(operand A, operand B, float *C, MAP ma, MAP mb) { by_boxes(C, &ma, &mb, MUTANT == 29 || MUTANT == 30 ? -32 : 0); }
#if MUTANT == 0
BOXES outside(operand A, operand B, float *C, MAP ma, MAP mb) { by_boxes(C, &ma, &mb, -32); }
BOXES pieces(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C)
{
    extern __shared__ __align__(1024) __nv_bfloat16 s[];
    const unsigned bar = shared_at(s + 64 * 64 + 64 * 32);
    const int t = threadIdx.x;
    if (t == 0) bar_make(bar, 1);
    __syncthreads();
    if (t == 0) {
        bar_expect(bar, 64 * 128 + 64 * 64);
        piece(shared_at(s), A, 64 * 128, bar), piece(shared_at(s + 64 * 64), B, 64 * 64, bar);
    }
    if (t < 32) bar_wait(bar, 0); // the others are told by the barrier
    __syncthreads();
    for (int i = t; i < 64 * 32; i += 128) {
        float sum = 0;
        for (int k = 0; k < 64; k++) sum += __bfloat162float(s[i / 32 * 64 + k]) * __bfloat162float(s[64 * 64 + k * 32 + i % 32]);
        C[i] = sum;
    }
}
#endif
