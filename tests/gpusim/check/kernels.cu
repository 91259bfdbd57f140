// Kernels that are right.  Compiled to PTX for sm_80 and, unchanged, for sm_90.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void vadd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// 16x16 tiles in shared memory; sizes need not be multiples of 16
extern "C" __global__ void gemm_tiled(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float sa[16][16], sb[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float acc = 0;
    for (int k = 0; k < K; k += 16) {
        sa[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < K ? A[row * K + k + threadIdx.x] : 0;
        sb[threadIdx.y][threadIdx.x] = col < N && k + threadIdx.y < K ? B[(k + threadIdx.y) * N + col] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) acc += sa[threadIdx.y][i] * sb[i][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}

// 64x64 block, 256 threads, 4x4 outputs a thread: the register-blocked form
extern "C" __global__ void gemm_blocked(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) float sa[16][64];
    __shared__ __align__(16) float sb[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, bm = blockIdx.y * 64, bn = blockIdx.x * 64;
    float acc[4][4] = {};
    for (int k = 0; k < K; k += 16) {
        for (int i = t; i < 1024; i += 256) sa[i % 16][i / 16] = A[(bm + i / 16) * K + k + i % 16];
        for (int i = t; i < 1024; i += 256) sb[i / 64][i % 64] = B[(k + i / 64) * N + bn + i % 64];
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 16; kk++) {
            float4 x = *(const float4 *)&sa[kk][ty * 4], y = *(const float4 *)&sb[kk][tx * 4];
            float a[4] = { x.x, x.y, x.z, x.w }, b[4] = { y.x, y.y, y.z, y.w };
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) *(float4 *)&C[(bm + ty * 4 + i) * N + bn + tx * 4] = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

__device__ __forceinline__ void cp16(void *s, const void *g)
{
    unsigned d = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(d), "l"(g));
}
__device__ __forceinline__ void ldsm4(unsigned r[4], const void *s)
{
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
}
__device__ __forceinline__ void ldsm4t(unsigned r[4], const void *s)
{
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
}
template <bool HALF> __device__ __forceinline__ void mma16816(float d[4], const unsigned a[4], const unsigned b[2])
{
    if (HALF)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// C[M,N] (f32) = A[M,K] * B[K,N], 16-bit inputs: 64x64 block, 4 warps of 32x32, K steps of 32,
// two stages filled by cp.async, fragments by ldmatrix.
#ifndef MUTANT          // 1..5: one mistake planted in this kernel, the others of this size and all below are left out
#define MUTANT 0
#endif
#define PAD 8
template <typename T, bool HALF> __device__ void gemm16_body(const T *A, const T *B, float *C, int N, int K)
{
    __shared__ __align__(16) T sa[2][64][32 + PAD];
    __shared__ __align__(16) T sb[2][32][64 + PAD];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, wm = (warp >> 1) * 32, wn = (warp & 1) * 32;
    const T *ga = A + (size_t)blockIdx.y * 64 * K, *gb = B + blockIdx.x * 64;
    float acc[2][4][4] = {};
    auto fill = [&](int s, int k) {
        for (int i = t; i < 256; i += 128) cp16(&sa[s][i / 4][i % 4 * 8], ga + (size_t)(i / 4) * K + k + i % 4 * 8);
        for (int i = t; i < 256; i += 128) cp16(&sb[s][i / 8][i % 8 * 8], gb + (size_t)(k + i / 8) * N + i % 8 * 8);
        asm volatile("cp.async.commit_group;");
    };
    fill(0, 0);
    for (int k = 0, s = 0; k < K; k += 32, s ^= 1) {
        if (k + 32 < K) { fill(s ^ 1, k + 32); if (MUTANT != 1) asm volatile("cp.async.wait_group %0;" ::"n"(MUTANT == 2 ? 2 : 1)); }
        else if (MUTANT != 3) asm volatile("cp.async.wait_group 0;");
        if (MUTANT != 4) __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 32; kk += 16) {
            unsigned a[2][4], b[2][4];
            for (int i = 0; i < 2; i++) ldsm4(a[i], &sa[s][wm + i * 16 + lane % 16][kk + lane / 16 * 8]);
            for (int j = 0; j < 2; j++) ldsm4t(b[j], &sb[s][kk + lane % 16][wn + j * 16 + lane / 16 * 8]);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++) mma16816<HALF>(acc[i][j], a[i], &b[j / 2][j % 2 * 2]);
        }
        if (MUTANT != 5) __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            float *c = C + (size_t)(blockIdx.y * 64 + wm + i * 16 + lane / 4) * N + blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2;
            *(float2 *)c = make_float2(acc[i][j][0], acc[i][j][1]);
            *(float2 *)(c + 8 * N) = make_float2(acc[i][j][2], acc[i][j][3]);
        }
}
extern "C" __global__ void __launch_bounds__(128) gemm_bf16(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int N, int K) { gemm16_body<__nv_bfloat16, false>(A, B, C, N, K); }
extern "C" __global__ void __launch_bounds__(128) gemm_f16(const __half *A, const __half *B, float *C, int N, int K) { gemm16_body<__half, true>(A, B, C, N, K); }

#if MUTANT == 0
// One warp: D[16,8] = A[16,8] * B[8,8] in tf32
extern "C" __global__ void mma_tf32(const float *A, const float *B, float *D)
{
    int g = threadIdx.x / 4, q = threadIdx.x % 4;
    unsigned a[4], b[2];
    float d[4] = {};
    const float av[4] = { A[g * 8 + q], A[(g + 8) * 8 + q], A[g * 8 + q + 4], A[(g + 8) * 8 + q + 4] }, bv[2] = { B[q * 8 + g], B[(q + 4) * 8 + g] };
    for (int i = 0; i < 4; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a[i]) : "f"(av[i]));
    for (int i = 0; i < 2; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b[i]) : "f"(bv[i]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    D[g * 8 + q * 2] = d[0]; D[g * 8 + q * 2 + 1] = d[1]; D[(g + 8) * 8 + q * 2] = d[2]; D[(g + 8) * 8 + q * 2 + 1] = d[3];
}

// 8-bit integers: D[16,8] (s32) = A[16,32] * B[32,8] stored by columns
extern "C" __global__ void mma_s8(const int *A, const int *B, int *D)
{
    int g = threadIdx.x / 4, q = threadIdx.x % 4, d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(A[g * 8 + q]), "r"(A[(g + 8) * 8 + q]), "r"(A[g * 8 + q + 4]), "r"(A[(g + 8) * 8 + q + 4]), "r"(B[g * 8 + q]), "r"(B[g * 8 + q + 4]));
    D[g * 8 + q * 2] = d[0]; D[g * 8 + q * 2 + 1] = d[1]; D[(g + 8) * 8 + q * 2] = d[2]; D[(g + 8) * 8 + q * 2 + 1] = d[3];
}

__device__ float block_reduce(float v, bool is_max)
{
    __shared__ float part[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, n = blockDim.x >> 5;
    for (int o = 16; o; o >>= 1) { float u = __shfl_xor_sync(~0u, v, o); v = is_max ? fmaxf(v, u) : v + u; }
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = part[0];
    for (int i = 1; i < n; i++) v = is_max ? fmaxf(v, part[i]) : v + part[i];
    __syncthreads();
    return v;
}
extern "C" __global__ void softmax(const float *x, float *y, int n)
{
    const float *r = x + (size_t)blockIdx.x * n;
    float m = -__int_as_float(0x7f800000), s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, r[i]);
    m = block_reduce(m, true);
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += expf(r[i] - m);
    s = block_reduce(s, false);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[(size_t)blockIdx.x * n + i] = expf(r[i] - m) / s;
}
extern "C" __global__ void layer_norm(const float *x, const float *g, const float *b, float *y, int n)
{
    const float *r = x + (size_t)blockIdx.x * n;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += r[i];
    float mean = block_reduce(s, false) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) q += (r[i] - mean) * (r[i] - mean);
    float inv = rsqrtf(block_reduce(q, false) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[(size_t)blockIdx.x * n + i] = (r[i] - mean) * inv * g[i] + b[i];
}

// histogram in shared memory, then in global memory; a float sum; a maximum; a counter
extern "C" __global__ void atomics(const int *x, int n, unsigned *hist, float *sum, int *most, unsigned *ticket)
{
    extern __shared__ unsigned h[];
    for (int i = threadIdx.x; i < 16; i += blockDim.x) h[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&h[x[i] & 15], 1u);
        atomicAdd(sum, (float)x[i]);
        atomicMax(most, x[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 16; i += blockDim.x) atomicAdd(&hist[i], h[i]);
    if (threadIdx.x == 0) atomicInc(ticket, 1000u);
}

// elementwise functions for comparison with the host's
extern "C" __global__ void maths(const float *x, float *y, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    float v = x[i];
    float f[20] = { expf(v), logf(fabsf(v) + 0.1f), tanhf(v), erff(v), sinf(v), cosf(v * 100), sqrtf(fabsf(v)), rsqrtf(fabsf(v) + 1), powf(fabsf(v), 1.3f), v / 3.7f,
                    __fmaf_rn(v, v, v), __fadd_rz(v, 1e-3f), __fmul_ru(v, 1.1f), __fmaf_rd(v, v, 0.1f), rintf(v), truncf(v), (float)(int)v, (float)__float2int_rn(v), (float)sin((double)v * 1e6), (float)exp((double)v) };
    for (int k = 0; k < 20; k++) y[i * 20 + k] = f[k];
}

// every 16-bit float operation, bit for bit
extern "C" __global__ void halves(const unsigned short *x, const unsigned short *y, unsigned short *o, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    __half a = __ushort_as_half(x[i]), b = __ushort_as_half(y[i]);
    __nv_bfloat16 c = __ushort_as_bfloat16(x[i]), d = __ushort_as_bfloat16(y[i]);
    unsigned short *q = o + i * 12;
    q[0] = __half_as_ushort(__hadd(a, b)); q[1] = __half_as_ushort(__hmul(a, b)); q[2] = __half_as_ushort(__hfma(a, b, a)); q[3] = __half_as_ushort(__float2half_rn(__half2float(a) * 1.1f));
    q[4] = __half_as_ushort(__float2half_rz(__half2float(a) * 1.1f)); q[5] = __half_as_ushort(__hmax(a, b));
    q[6] = __bfloat16_as_ushort(__hadd(c, d)); q[7] = __bfloat16_as_ushort(__hmul(c, d)); q[8] = __bfloat16_as_ushort(__hfma(c, d, c));
    q[9] = __bfloat16_as_ushort(__float2bfloat16_rn(__bfloat162float(c) * 1.1f)); q[10] = a < b; q[11] = __half_as_ushort(__double2half((double)__half2float(a) * 1.0009765625));
}

// divergence, loops of different length, a switch, local memory, a called function
__device__ __noinline__ int collatz(int n) { int s = 0; while (n != 1 && s < 1000) { n = n & 1 ? 3 * n + 1 : n / 2; s++; } return s; }
extern "C" __global__ void control(int *o, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    int loc[16], r = 0;
    for (int k = 0; k < 16; k++) loc[(k * (i | 1)) & 15] = k * i;
    for (int k = 0; k < i % 23; k++) { if ((k ^ i) & 4) continue; r += loc[(k + i) & 15]; if (r > 100000) break; }
    switch (i % 9) {
    case 0: r += 17; break;
    case 1: r ^= i * 3; break;
    case 2: r = r * 7 + 1; break;
    case 3: r -= loc[3]; break;
    case 4: r += collatz(i + 1); break;
    case 5: r = ~r; break;
    case 6: r <<= 2; break;
    case 7: r += __popc(i) + __clz(i) + __brev(i) % 97;
    }
    long long q = (long long)r * 1234567891011ll / (i + 1) + (unsigned)r / 7u + r % 5;
    o[i] = (int)(q ^ (q >> 32));
}

extern "C" __global__ void scale(float *x, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }
extern "C" __global__ void fill(float *x, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = a; }

__device__ int counter = 5;
__constant__ float table[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
extern "C" __global__ void globals(float *o) { o[threadIdx.x] = table[threadIdx.x & 7] + counter; __syncthreads(); if (threadIdx.x == 0) counter++; }

extern "C" __global__ void votes(unsigned *o)
{
    int l = threadIdx.x;
    unsigned b = __ballot_sync(~0u, l % 3 == 0), m = __match_any_sync(~0u, l / 4), r = __reduce_add_sync(~0u, (unsigned)l), u = __shfl_up_sync(~0u, l, 3), d = __shfl_down_sync(~0u, l, 5, 16), x = __shfl_sync(~0u, l, 7, 8);
    if (l < 8) { unsigned a = __activemask(); o[l * 8 + 7] = a + __shfl_xor_sync(0xffu, l, 1); } else o[l * 8 + 7] = 0;
    o[l * 8] = b; o[l * 8 + 1] = m; o[l * 8 + 2] = r; o[l * 8 + 3] = u; o[l * 8 + 4] = d; o[l * 8 + 5] = x; o[l * 8 + 6] = __syncthreads_count(l & 1) + 100 * __all_sync(~0u, l < 32);
}

// integer instructions that CUDA C reaches only through inline PTX, and some it reaches directly
extern "C" __global__ void ints(const unsigned *x, const unsigned *y, unsigned *o, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    unsigned a = x[i], b = y[i], *q = o + i * 20, r;
    unsigned long long w = (unsigned long long)a << 32 | b, v;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(q[0]) : "r"(a), "r"(b), "r"(a ^ b));
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(q[1]) : "r"(a), "r"(b & 31), "r"(b >> 8 & 31));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(q[2]) : "r"(a), "r"(b & 31), "r"(b >> 8 & 31));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(q[3]) : "r"(a), "r"(b), "r"(a & 31), "r"(a >> 8 & 31));
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(q[4]) : "r"(a), "r"(b), "r"(b & 63));
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(q[5]) : "r"(a), "r"(b), "r"(b & 63));
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(q[6]) : "r"(a), "r"(b), "r"(i));
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(q[7]) : "r"(a), "r"(b), "r"(i));
    asm("bfind.u32 %0, %1;" : "=r"(q[8]) : "r"(a));
    q[9] = (unsigned)__dp4a((int)a, (int)b, i) + 3 * (unsigned)__dp2a_lo((int)a, (int)b, 7) + 5 * __dp2a_hi(a, b, 9u);
    q[10] = __mulhi((int)a, (int)b); q[11] = __umulhi(a, b);
    v = w * 0x123456789abcdefull + __umul64hi(w, ~w); q[12] = (unsigned)(v >> 32); q[13] = (unsigned)v;
    q[14] = (unsigned)(w / (b | 1)) + (unsigned)(w % (a | 3)); q[15] = (unsigned)((long long)w / ((int)b | 1));
    q[16] = __sad((int)a, (int)b, 5u) + __usad(a, b, 7u);
    asm("{ .reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, %3, 5; }" : "=r"(r) : "r"(a), "r"(b), "r"((unsigned)i)); q[17] = r;
    asm("{ .reg .u32 t; sub.cc.u32 t, %1, %2; subc.u32 %0, %3, 5; }" : "=r"(r) : "r"(a), "r"(b), "r"((unsigned)i)); q[18] = r;
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b & 127)); q[19] = r + ((int)a >> (b & 31)) + min((int)a, (int)b) + max(a, b);
}

// the other f16 matrix shapes and ldmatrix forms: D = A[16,8]*B[8,8] (k8) and A[16,16]*B[16,8] with f16 sums
extern "C" __global__ void mma_more(const __half *A, const __half *B, float *D, __half *H)
{
    __shared__ __align__(16) __half sa[16][16], sb[16][8];
    int l = threadIdx.x, g = l / 4, q = l % 4;
    for (int i = l; i < 256; i += 32) sa[i / 16][i % 16] = A[i];
    for (int i = l; i < 128; i += 32) sb[i / 8][i % 8] = B[i];
    __syncwarp();
    unsigned a[4], b[2], c[2] = { 0, 0 };
    float d[4] = {};
    ldsm4(a, &sa[l % 16][l / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"((unsigned)__cvta_generic_to_shared(&sb[l % 16][0])));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; i++) D[(g + i / 2 * 8) * 8 + q * 2 + i % 2] = d[i];
    for (int i = 0; i < 2; i++) *(unsigned *)&H[(g + i * 8) * 8 + q * 2] = c[i];
}

// packed 16-bit arithmetic must agree with the scalar forms, bit for bit; counts the differences
extern "C" __global__ void packed(const unsigned *x, const unsigned *y, const unsigned *z, int *wrong, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
#define LO(v) ((unsigned short)(v))
#define HI(v) ((unsigned short)((v) >> 16))
    __half2 a = *(const __half2 *)&x[i], b = *(const __half2 *)&y[i], c = *(const __half2 *)&z[i], t;
    __nv_bfloat162 d = *(const __nv_bfloat162 *)&x[i], e = *(const __nv_bfloat162 *)&y[i], f = *(const __nv_bfloat162 *)&z[i], u;
    auto H = [](unsigned short s) { return __ushort_as_half(s); };
    auto B = [](unsigned short s) { return __ushort_as_bfloat16(s); };
    auto bits = [](auto v) { return *(unsigned short *)&v; };
    auto same = [&](unsigned short p, unsigned short q) { return p == q || ((p & 0x7fff) > 0x7c00 && (q & 0x7fff) > 0x7c00); };
    auto check = [&](unsigned v, unsigned short lo, unsigned short hi) { if (!same(LO(v), lo) || !same(HI(v), hi)) atomicAdd(wrong, 1); };
#define X(v) (*(unsigned *)&(v))
    t = __hadd2(a, b); check(X(t), bits(__hadd(H(LO(x[i])), H(LO(y[i])))), bits(__hadd(H(HI(x[i])), H(HI(y[i])))));
    t = __hmul2(a, b); check(X(t), bits(__hmul(H(LO(x[i])), H(LO(y[i])))), bits(__hmul(H(HI(x[i])), H(HI(y[i])))));
    t = __hfma2(a, b, c); check(X(t), bits(__hfma(H(LO(x[i])), H(LO(y[i])), H(LO(z[i])))), bits(__hfma(H(HI(x[i])), H(HI(y[i])), H(HI(z[i])))));
    t = __hmax2(a, b); check(X(t), bits(__hmax(H(LO(x[i])), H(LO(y[i])))), bits(__hmax(H(HI(x[i])), H(HI(y[i])))));
    t = __hgt2(a, b); check(X(t), bits(__float2half(__hgt(H(LO(x[i])), H(LO(y[i]))))), bits(__float2half(__hgt(H(HI(x[i])), H(HI(y[i]))))));
    t = __hsub2(a, c); check(X(t), bits(__hsub(H(LO(x[i])), H(LO(z[i])))), bits(__hsub(H(HI(x[i])), H(HI(z[i])))));
    u = __hadd2(d, e); check(X(u), bits(__hadd(B(LO(x[i])), B(LO(y[i])))), bits(__hadd(B(HI(x[i])), B(HI(y[i])))));
    u = __hmul2(d, e); check(X(u), bits(__hmul(B(LO(x[i])), B(LO(y[i])))), bits(__hmul(B(HI(x[i])), B(HI(y[i])))));
    u = __hfma2(d, e, f); check(X(u), bits(__hfma(B(LO(x[i])), B(LO(y[i])), B(LO(z[i])))), bits(__hfma(B(HI(x[i])), B(HI(y[i])), B(HI(z[i])))));
    u = __hmin2(d, e); check(X(u), bits(__hmin(B(LO(x[i])), B(LO(y[i])))), bits(__hmin(B(HI(x[i])), B(HI(y[i])))));
    float p = __low2float(a), q = __high2float(d);
    t = __floats2half2_rn(p * 3, q); check(X(t), bits(__float2half_rn(p * 3)), bits(__float2half_rn(q)));
    u = __floats2bfloat162_rn(p * 3, q * 0.7f); check(X(u), bits(__float2bfloat16_rn(p * 3)), bits(__float2bfloat16_rn(q * 0.7f)));
}

// conversions
extern "C" __global__ void casts(const double *x, long long *o, double *f, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    double d = x[i];
    float s = (float)d;
    long long q = __double_as_longlong(d);
    o[i * 12] = (int)d; o[i * 12 + 1] = (unsigned)d; o[i * 12 + 2] = (long long)d; o[i * 12 + 3] = (long long)(unsigned long long)d;
    o[i * 12 + 4] = __float2int_rd(s); o[i * 12 + 5] = __float2uint_ru(s); o[i * 12 + 6] = __float2ll_rn(s); o[i * 12 + 7] = (signed char)q;
    o[i * 12 + 8] = (short)(q >> 7); o[i * 12 + 9] = (unsigned char)(q >> 9); o[i * 12 + 10] = (unsigned short)(int)q; o[i * 12 + 11] = __double2int_rn(d);
    f[i * 6] = (float)q; f[i * 6 + 1] = (float)(unsigned long long)q; f[i * 6 + 2] = (double)(unsigned long long)q; f[i * 6 + 3] = (float)(unsigned)q; f[i * 6 + 4] = __ll2float_rz(q); f[i * 6 + 5] = __double2float_ru(d);
}

// places of a variable that are constants: the address is a symbol and a displacement
extern "C" __global__ void symbols(const float *x, float *y)
{
    __shared__ __align__(16) float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const float4 v = *(const float4 *)(s + 40);
    y[threadIdx.x] = s[3] + 10 * s[17] + 100 * v.z;
}

// what it does is known: 2 warps, rows read as they lie and written across; columns of a square in 32 banks
extern "C" __global__ void counted(const float *x, float *y)
{
    __shared__ float s[64 * 32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[16 * threadIdx.x] = s[threadIdx.x];
    __syncthreads();
    s[32 * threadIdx.x] = 1;
}

// three of four neighbours, which compilers load as a vector: the fourth was never written
extern "C" __global__ void three(const float *x, float *y)
{
    __shared__ __align__(16) float s[64];
    if (threadIdx.x < 3) s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"((unsigned)__cvta_generic_to_shared(s)));
    y[threadIdx.x] = v.x + v.y + v.z;
}

// seven of eight neighbours of two bytes: of the last word loaded one half was never written
extern "C" __global__ void seven(const float *x, float *y)
{
    __shared__ __align__(16) unsigned short s[128];
    if (threadIdx.x < 7) s[threadIdx.x] = (unsigned short)x[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 7; i++) sum += s[i];
    y[threadIdx.x] = sum;
}
#endif
