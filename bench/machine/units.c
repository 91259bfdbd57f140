/* units.c - each loop in assembly, once for every instruction set that is told apart here: of x86-64, or AArch64. */
#include "bench/machine/units.h"

#include <stdint.h>
#include <string.h>

static bool has_always(void)
{
    return true;
}

#if defined(__x86_64__)

/* acc = acc * 0.999 + 0.001 tends to 1. Two units of four cycles' latency need eight chains; more hide the
 * loop's own cost. */
static const double factors[2] = {0.999, 0.001};
static const float factors_f32[2] = {0.999f, 0.001f};

#define REGISTERS_14 "0,1,2,3,4,5,6,7,8,9,10,11,12,13"
#define REGISTERS_24 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
#define CLOBBERED_16                                                                                           \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
        "xmm13", "xmm14", "xmm15", "cc", "memory"
#define CLOBBERED_32                                                                                                 \
    CLOBBERED_16, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", \
        "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

__attribute__((target("avx512f"))) static void avx512_fma_f32(long trips)
{
    __asm__ volatile("vbroadcastss (%1), %%zmm30\n vbroadcastss 4(%1), %%zmm31\n"
                     ".irp r," REGISTERS_24 "\n vmovaps %%zmm31, %%zmm\\r\n .endr\n"
                     "1:\n .irp r," REGISTERS_24 "\n vfmadd213ps %%zmm31, %%zmm30, %%zmm\\r\n .endr\n"
                     "dec %0\n jnz 1b\n vzeroupper\n"
                     : "+r"(trips)
                     : "r"(factors_f32)
                     : CLOBBERED_32);
}

__attribute__((target("avx512f"))) static void avx512_fma_f64(long trips)
{
    __asm__ volatile("vbroadcastsd (%1), %%zmm30\n vbroadcastsd 8(%1), %%zmm31\n"
                     ".irp r," REGISTERS_24 "\n vmovapd %%zmm31, %%zmm\\r\n .endr\n"
                     "1:\n .irp r," REGISTERS_24 "\n vfmadd213pd %%zmm31, %%zmm30, %%zmm\\r\n .endr\n"
                     "dec %0\n jnz 1b\n vzeroupper\n"
                     : "+r"(trips)
                     : "r"(factors)
                     : CLOBBERED_32);
}

static void avx2_fma_f32(long trips)
{
    __asm__ volatile("vbroadcastss (%1), %%ymm14\n vbroadcastss 4(%1), %%ymm15\n"
                     ".irp r," REGISTERS_14 "\n vmovaps %%ymm15, %%ymm\\r\n .endr\n"
                     "1:\n .irp r," REGISTERS_14 "\n vfmadd213ps %%ymm15, %%ymm14, %%ymm\\r\n .endr\n"
                     "dec %0\n jnz 1b\n vzeroupper\n"
                     : "+r"(trips)
                     : "r"(factors_f32)
                     : CLOBBERED_16);
}

static void avx2_fma_f64(long trips)
{
    __asm__ volatile("vbroadcastsd (%1), %%ymm14\n vbroadcastsd 8(%1), %%ymm15\n"
                     ".irp r," REGISTERS_14 "\n vmovapd %%ymm15, %%ymm\\r\n .endr\n"
                     "1:\n .irp r," REGISTERS_14 "\n vfmadd213pd %%ymm15, %%ymm14, %%ymm\\r\n .endr\n"
                     "dec %0\n jnz 1b\n vzeroupper\n"
                     : "+r"(trips)
                     : "r"(factors)
                     : CLOBBERED_16);
}

/* The baseline of x86-64 has no fused multiply-add: a product and a sum. */
static void plain_fma_f32(long trips)
{
    __asm__ volatile("movss (%1), %%xmm14\n shufps $0, %%xmm14, %%xmm14\n"
                     "movss 4(%1), %%xmm15\n shufps $0, %%xmm15, %%xmm15\n"
                     ".irp r," REGISTERS_14 "\n movaps %%xmm15, %%xmm\\r\n .endr\n"
                     "1:\n .irp r," REGISTERS_14 "\n mulps %%xmm14, %%xmm\\r\n addps %%xmm15, %%xmm\\r\n .endr\n"
                     "dec %0\n jnz 1b\n"
                     : "+r"(trips)
                     : "r"(factors_f32)
                     : CLOBBERED_16);
}

static void plain_fma_f64(long trips)
{
    __asm__ volatile("movsd (%1), %%xmm14\n unpcklpd %%xmm14, %%xmm14\n"
                     "movsd 8(%1), %%xmm15\n unpcklpd %%xmm15, %%xmm15\n"
                     ".irp r," REGISTERS_14 "\n movapd %%xmm15, %%xmm\\r\n .endr\n"
                     "1:\n .irp r," REGISTERS_14 "\n mulpd %%xmm14, %%xmm\\r\n addpd %%xmm15, %%xmm\\r\n .endr\n"
                     "dec %0\n jnz 1b\n"
                     : "+r"(trips)
                     : "r"(factors)
                     : CLOBBERED_16);
}

/* One trip of the loops below moves UNIT_STEP = 512 bytes. */
#define OFFSETS_64 "0,64,128,192,256,320,384,448"

__attribute__((target("avx512f"))) static void avx512_read(const void *p, size_t bytes)
{
    const char *end = (const char *)p + bytes;
    __asm__ volatile("1:\n .irp o," OFFSETS_64 "\n vmovaps \\o(%0), %%zmm0\n .endr\n"
                     "add $512, %0\n cmp %1, %0\n jb 1b\n vzeroupper\n"
                     : "+r"(p)
                     : "r"(end)
                     : CLOBBERED_16);
}

__attribute__((target("avx512f"))) static void avx512_write(void *p, size_t bytes)
{
    char *end = (char *)p + bytes;
    __asm__ volatile("vpxord %%zmm0, %%zmm0, %%zmm0\n 1:\n .irp o," OFFSETS_64 "\n vmovaps %%zmm0, \\o(%0)\n .endr\n"
                     "add $512, %0\n cmp %1, %0\n jb 1b\n vzeroupper\n"
                     : "+r"(p)
                     : "r"(end)
                     : CLOBBERED_16);
}

__attribute__((target("avx512f"))) static void avx512_stream(void *p, size_t bytes)
{
    char *end = (char *)p + bytes;
    __asm__ volatile("vpxord %%zmm0, %%zmm0, %%zmm0\n 1:\n .irp o," OFFSETS_64 "\n vmovntps %%zmm0, \\o(%0)\n .endr\n"
                     "add $512, %0\n cmp %1, %0\n jb 1b\n sfence\n vzeroupper\n"
                     : "+r"(p)
                     : "r"(end)
                     : CLOBBERED_16);
}

static void avx2_read(const void *p, size_t bytes)
{
    const char *end = (const char *)p + bytes;
    __asm__ volatile("1:\n .irp o," OFFSETS_64 "\n vmovaps \\o(%0), %%ymm0\n vmovaps 32+\\o(%0), %%ymm1\n .endr\n"
                     "add $512, %0\n cmp %1, %0\n jb 1b\n vzeroupper\n"
                     : "+r"(p)
                     : "r"(end)
                     : CLOBBERED_16);
}

static void avx2_write(void *p, size_t bytes)
{
    char *end = (char *)p + bytes;
    __asm__ volatile("vpxor %%ymm0, %%ymm0, %%ymm0\n"
                     "1:\n .irp o," OFFSETS_64 "\n vmovaps %%ymm0, \\o(%0)\n vmovaps %%ymm0, 32+\\o(%0)\n .endr\n"
                     "add $512, %0\n cmp %1, %0\n jb 1b\n vzeroupper\n"
                     : "+r"(p)
                     : "r"(end)
                     : CLOBBERED_16);
}

static void plain_read(const void *p, size_t bytes)
{
    const char *end = (const char *)p + bytes;
    __asm__ volatile("1:\n .irp o," OFFSETS_64 "\n movaps \\o(%0), %%xmm0\n movaps 16+\\o(%0), %%xmm1\n"
                     "movaps 32+\\o(%0), %%xmm2\n movaps 48+\\o(%0), %%xmm3\n .endr\n"
                     "add $512, %0\n cmp %1, %0\n jb 1b\n"
                     : "+r"(p)
                     : "r"(end)
                     : CLOBBERED_16);
}

static void plain_write(void *p, size_t bytes)
{
    char *end = (char *)p + bytes;
    __asm__ volatile("xorps %%xmm0, %%xmm0\n 1:\n .irp o," OFFSETS_64 "\n movaps %%xmm0, \\o(%0)\n"
                     "movaps %%xmm0, 16+\\o(%0)\n movaps %%xmm0, 32+\\o(%0)\n movaps %%xmm0, 48+\\o(%0)\n .endr\n"
                     "add $512, %0\n cmp %1, %0\n jb 1b\n"
                     : "+r"(p)
                     : "r"(end)
                     : CLOBBERED_16);
}

static void plain_stream(void *p, size_t bytes)
{
    char *end = (char *)p + bytes;
    __asm__ volatile("xorps %%xmm0, %%xmm0\n 1:\n .irp o," OFFSETS_64 "\n movntps %%xmm0, \\o(%0)\n"
                     "movntps %%xmm0, 16+\\o(%0)\n movntps %%xmm0, 32+\\o(%0)\n movntps %%xmm0, 48+\\o(%0)\n .endr\n"
                     "add $512, %0\n cmp %1, %0\n jb 1b\n sfence\n"
                     : "+r"(p)
                     : "r"(end)
                     : CLOBBERED_16);
}

static bool has_vnni(void)
{
    return __builtin_cpu_supports("avx512vnni");
}

/* flops per trip: registers x lanes x 2 */
#define AVX512 avx512_fma_f32, avx512_fma_f64, 24 * 16 * 2, 24 * 8 * 2, avx512_read, avx512_write, avx512_stream
const unit units[] = {
    {"avx512vnni", has_vnni, AVX512},
    {"avx512", has_avx512, AVX512},
    {"avx2", has_avx2, avx2_fma_f32, avx2_fma_f64, 14 * 8 * 2, 14 * 4 * 2, avx2_read, avx2_write, plain_stream},
    {"plain", has_always, plain_fma_f32, plain_fma_f64, 14 * 4 * 2, 14 * 2 * 2, plain_read, plain_write, plain_stream},
    {0},
};

#else

/* Sums of eighths, which stay finite: up to four units of four cycles' latency need sixteen */
#define SUMS "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define CLOBBERED                                                                                                \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v30", \
        "v31", "cc"

static void neon_fma_f32(long trips)
{
    __asm__ volatile("fmov v30.4s, #0.125\n fmov v31.4s, #1.0\n .irp r," SUMS "\n fmov v\\r\\().4s, #1.0\n .endr\n"
                     "1:\n .irp r," SUMS "\n fmla v\\r\\().4s, v30.4s, v31.4s\n .endr\n subs %0, %0, #1\n b.gt 1b\n"
                     : "+r"(trips)
                     :
                     : CLOBBERED);
}

static void neon_fma_f64(long trips)
{
    __asm__ volatile("fmov v30.2d, #0.125\n fmov v31.2d, #1.0\n .irp r," SUMS "\n fmov v\\r\\().2d, #1.0\n .endr\n"
                     "1:\n .irp r," SUMS "\n fmla v\\r\\().2d, v30.2d, v31.2d\n .endr\n subs %0, %0, #1\n b.gt 1b\n"
                     : "+r"(trips)
                     :
                     : CLOBBERED);
}

static void plain_read(const void *p, size_t bytes)
{
    const uint64_t *at = p;
    for (size_t i = 0; i < bytes / 8; i++)
        __asm__ volatile("" : : "r"(at[i]));
}

static void plain_write(void *p, size_t bytes)
{
    memset(p, 0, bytes);
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Plain has the same instructions here, on half of the registers. */
#define NEON has_always, neon_fma_f32, neon_fma_f64, 16 * 4 * 2, 16 * 2 * 2, plain_read, plain_write, plain_write
const unit units[] = {{"neon", NEON}, {"plain", NEON}, {0}};
#endif

const unit *unit_find(const char *isa)
{
    for (const unit *u = units; u->isa; u++)
        if ((!isa || strcmp(isa, u->isa) == 0) && u->present())
            return u;
    return NULL;
}
