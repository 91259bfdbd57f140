/* units.c - each loop in assembly, once for every instruction set that is told apart here: of x86-64, or AArch64. */
#include "backends/probe/units.h"

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

/* Whole levels, as kernels are compiled for; the compiler asks, too, whether the system saves the wide registers. */
#define HAS __builtin_cpu_supports
static bool has_avx2(void)
{
    return HAS("avx2") && HAS("fma") && HAS("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && HAS("avx512f") && HAS("avx512bw") && HAS("avx512dq") && HAS("avx512vl") && HAS("avx512cd");
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

/* ---- sums that wait, tiles, passes ---- */
void unit_flush(void *p, size_t bytes)
{
    for (char *at = p, *end = at + bytes; at < end; at += 64)
        __asm__ volatile("clflush (%0)" : : "r"(at) : "memory");
    __asm__ volatile("mfence" : : : "memory");
}

#define REPEATED ".rept 16\n"

void unit_cycles(long trips)
{
    long sum = 0;
    __asm__ volatile("1:\n" REPEATED "add %1, %1\n .endr\n dec %0\n jnz 1b\n" : "+r"(trips), "+r"(sum) : : "cc");
}

__attribute__((target("avx512f"))) static void avx512_chain(long trips)
{
    __asm__ volatile("vpxord %%zmm0, %%zmm0, %%zmm0\n vmovaps %%zmm0, %%zmm1\n"
                     "1:\n" REPEATED "vfmadd231ps %%zmm1, %%zmm1, %%zmm0\n .endr\n dec %0\n jnz 1b\n vzeroupper\n"
                     : "+r"(trips)
                     :
                     : CLOBBERED_16);
}

static void avx2_chain(long trips)
{
    __asm__ volatile("vpxor %%ymm0, %%ymm0, %%ymm0\n vmovaps %%ymm0, %%ymm1\n"
                     "1:\n" REPEATED "vfmadd231ps %%ymm1, %%ymm1, %%ymm0\n .endr\n dec %0\n jnz 1b\n vzeroupper\n"
                     : "+r"(trips)
                     :
                     : CLOBBERED_16);
}

static void plain_chain(long trips) /* the product of the next step need not wait */
{
    __asm__ volatile("xorps %%xmm0, %%xmm0\n xorps %%xmm1, %%xmm1\n"
                     "1:\n" REPEATED "addps %%xmm1, %%xmm0\n .endr\n dec %0\n jnz 1b\n"
                     : "+r"(trips)
                     :
                     : CLOBBERED_16);
}

/* One number of the rows, times the vectors of a step */
#define AVX512_ROW(at, a, b, c)                                                \
    "vbroadcastss " at "(%1), %%zmm27\n vfmadd231ps %%zmm24, %%zmm27, %%zmm" a \
    "\n vfmadd231ps %%zmm25, %%zmm27, %%zmm" b "\n vfmadd231ps %%zmm26, %%zmm27, %%zmm" c "\n"
#define AVX2_ROW(at, a, b)                                                     \
    "vbroadcastss " at "(%1), %%ymm14\n vfmadd231ps %%ymm12, %%ymm14, %%ymm" a \
    "\n vfmadd231ps %%ymm13, %%ymm14, %%ymm" b "\n"
#define PLAIN_ROW(at, a, b)                                                               \
    "movss " at "(%1), %%xmm14\n shufps $0, %%xmm14, %%xmm14\n movaps %%xmm14, %%xmm15\n" \
    "mulps %%xmm12, %%xmm14\n addps %%xmm14, %%xmm" a "\n mulps %%xmm13, %%xmm15\n addps %%xmm15, %%xmm" b "\n"

__attribute__((target("avx512f"))) static void avx512_tile(const void *columns, const void *rows, long steps)
{
    __asm__ volatile(".irp r," REGISTERS_24 "\n vpxord %%zmm\\r, %%zmm\\r, %%zmm\\r\n .endr\n"
                     "1:\n vmovaps (%0), %%zmm24\n vmovaps 64(%0), %%zmm25\n vmovaps 128(%0), %%zmm26\n" AVX512_ROW(
                         "0", "0", "1", "2") AVX512_ROW("4", "3", "4", "5") AVX512_ROW("8", "6", "7", "8")
                         AVX512_ROW("12", "9", "10", "11") AVX512_ROW("16", "12", "13", "14")
                             AVX512_ROW("20", "15", "16", "17") AVX512_ROW("24", "18", "19", "20") AVX512_ROW(
                                 "28", "21", "22", "23") "add $192, %0\n add $32, %1\n dec %2\n jnz 1b\n vzeroupper\n"
                     : "+r"(columns), "+r"(rows), "+r"(steps)
                     :
                     : CLOBBERED_32);
}

static void avx2_tile(const void *columns, const void *rows, long steps)
{
    __asm__ volatile(".irp r," REGISTERS_14 "\n vpxor %%ymm\\r, %%ymm\\r, %%ymm\\r\n .endr\n"
                     "1:\n vmovaps (%0), %%ymm12\n vmovaps 32(%0), %%ymm13\n" AVX2_ROW("0", "0", "1")
                         AVX2_ROW("4", "2", "3") AVX2_ROW("8", "4", "5") AVX2_ROW("12", "6", "7")
                             AVX2_ROW("16", "8", "9")
                                 AVX2_ROW("20", "10", "11") "add $64, %0\n add $24, %1\n dec %2\n jnz 1b\n vzeroupper\n"
                     : "+r"(columns), "+r"(rows), "+r"(steps)
                     :
                     : CLOBBERED_16);
}

static void plain_tile(const void *columns, const void *rows, long steps)
{
    __asm__ volatile(".irp r," REGISTERS_14 "\n xorps %%xmm\\r, %%xmm\\r\n .endr\n"
                     "1:\n movaps (%0), %%xmm12\n movaps 16(%0), %%xmm13\n" PLAIN_ROW("0", "0", "1")
                         PLAIN_ROW("4", "2", "3") PLAIN_ROW("8", "4", "5") PLAIN_ROW("12", "6", "7")
                             PLAIN_ROW("16", "8", "9")
                                 PLAIN_ROW("20", "10", "11") "add $32, %0\n add $24, %1\n dec %2\n jnz 1b\n"
                     : "+r"(columns), "+r"(rows), "+r"(steps)
                     :
                     : CLOBBERED_16);
}

#define PASSED(part) "r"(part), "r"(3 * (part)), "r"(5 * (part)), "r"((const char *)from + (part))

__attribute__((target("avx512f"))) static void avx512_pass(const void *from, void *to, size_t part)
{
    __asm__ volatile("1:\n vmovaps (%0), %%zmm0\n vmovaps (%0,%2), %%zmm1\n vmovaps (%0,%2,2), %%zmm2\n"
                     "vmovaps (%0,%3), %%zmm3\n vaddps %%zmm0, %%zmm3, %%zmm4\n vmovaps %%zmm4, (%1)\n"
                     "vaddps %%zmm2, %%zmm3, %%zmm5\n vmovaps %%zmm5, (%1,%2)\n vmovaps %%zmm0, (%1,%2,2)\n"
                     "vmovaps %%zmm3, (%1,%3)\n vaddps %%zmm0, %%zmm1, %%zmm4\n vmovaps %%zmm4, (%1,%2,4)\n"
                     "vsubps %%zmm0, %%zmm2, %%zmm5\n vmovaps %%zmm5, (%1,%4)\n vsubps %%zmm3, %%zmm1, %%zmm4\n"
                     "vmovaps %%zmm4, (%1,%3,2)\n add $64, %0\n add $64, %1\n cmp %5, %0\n jb 1b\n vzeroupper\n"
                     : "+r"(from), "+r"(to)
                     : PASSED(part)
                     : CLOBBERED_16);
}

static void avx2_pass(const void *from, void *to, size_t part)
{
    __asm__ volatile("1:\n vmovaps (%0), %%ymm0\n vmovaps (%0,%2), %%ymm1\n vmovaps (%0,%2,2), %%ymm2\n"
                     "vmovaps (%0,%3), %%ymm3\n vaddps %%ymm0, %%ymm3, %%ymm4\n vmovaps %%ymm4, (%1)\n"
                     "vaddps %%ymm2, %%ymm3, %%ymm5\n vmovaps %%ymm5, (%1,%2)\n vmovaps %%ymm0, (%1,%2,2)\n"
                     "vmovaps %%ymm3, (%1,%3)\n vaddps %%ymm0, %%ymm1, %%ymm4\n vmovaps %%ymm4, (%1,%2,4)\n"
                     "vsubps %%ymm0, %%ymm2, %%ymm5\n vmovaps %%ymm5, (%1,%4)\n vsubps %%ymm3, %%ymm1, %%ymm4\n"
                     "vmovaps %%ymm4, (%1,%3,2)\n add $32, %0\n add $32, %1\n cmp %5, %0\n jb 1b\n vzeroupper\n"
                     : "+r"(from), "+r"(to)
                     : PASSED(part)
                     : CLOBBERED_16);
}

static void plain_pass(const void *from, void *to, size_t part)
{
    __asm__ volatile("1:\n movaps (%0), %%xmm0\n movaps (%0,%2), %%xmm1\n movaps (%0,%2,2), %%xmm2\n"
                     "movaps (%0,%3), %%xmm3\n movaps %%xmm0, (%1,%2,2)\n movaps %%xmm3, (%1,%3)\n"
                     "movaps %%xmm0, %%xmm4\n addps %%xmm3, %%xmm4\n movaps %%xmm4, (%1)\n"
                     "movaps %%xmm2, %%xmm5\n addps %%xmm3, %%xmm5\n movaps %%xmm5, (%1,%2)\n"
                     "movaps %%xmm0, %%xmm4\n addps %%xmm1, %%xmm4\n movaps %%xmm4, (%1,%2,4)\n"
                     "subps %%xmm0, %%xmm2\n movaps %%xmm2, (%1,%4)\n subps %%xmm3, %%xmm1\n movaps %%xmm1, (%1,%3,2)\n"
                     "add $16, %0\n add $16, %1\n cmp %5, %0\n jb 1b\n"
                     : "+r"(from), "+r"(to)
                     : PASSED(part)
                     : CLOBBERED_16);
}

static bool has_vnni(void)
{
    return has_avx512() && HAS("avx512vnni");
}

/* flops per trip: registers x lanes x 2 */
#define AVX512                                                                                                       \
    avx512_fma_f32, avx512_fma_f64, 24 * 16 * 2, 24 * 8 * 2, avx512_read, avx512_write, avx512_stream, avx512_chain, \
        avx512_tile, 8, 3, 64, avx512_pass
const unit units[] = {
    {"avx512vnni", has_vnni, AVX512},
    {"avx512", has_avx512, AVX512},
    {"avx2", has_avx2, avx2_fma_f32, avx2_fma_f64, 14 * 8 * 2, 14 * 4 * 2, avx2_read, avx2_write, plain_stream,
     avx2_chain, avx2_tile, 6, 2, 32, avx2_pass},
    {"plain", has_always, plain_fma_f32, plain_fma_f64, 14 * 4 * 2, 14 * 2 * 2, plain_read, plain_write, plain_stream,
     plain_chain, plain_tile, 6, 2, 16, plain_pass},
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

void unit_cycles(long trips)
{
    long sum = 0;
    __asm__ volatile("1:\n .rept 16\n add %1, %1, %1\n .endr\n subs %0, %0, #1\n b.gt 1b\n"
                     : "+r"(trips), "+r"(sum)
                     :
                     : "cc");
}

void unit_flush(void *p, size_t bytes)
{
    for (char *at = p, *end = at + bytes; at < end; at += 64)
        __asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
    __asm__ volatile("dsb ish" : : : "memory");
}

static void neon_chain(long trips)
{
    __asm__ volatile("movi v0.4s, #0\n movi v30.4s, #0\n"
                     "1:\n .rept 16\n fmla v0.4s, v30.4s, v30.4s\n .endr\n subs %0, %0, #1\n b.gt 1b\n"
                     : "+r"(trips)
                     :
                     : CLOBBERED);
}

#define NEON_ROW(a, b) "ld1r {v26.4s}, [%1], #4\n fmla v" a ".4s, v24.4s, v26.4s\n fmla v" b ".4s, v25.4s, v26.4s\n"

static void neon_tile(const void *columns, const void *rows, long steps)
{
    __asm__ volatile(".irp r," SUMS "\n movi v\\r\\().4s, #0\n .endr\n"
                     "1:\n ldp q24, q25, [%0], #32\n" NEON_ROW("0", "1") NEON_ROW("2", "3") NEON_ROW("4", "5")
                         NEON_ROW("6", "7") NEON_ROW("8", "9") NEON_ROW("10", "11") NEON_ROW("12", "13")
                             NEON_ROW("14", "15") "subs %2, %2, #1\n b.gt 1b\n"
                     : "+r"(columns), "+r"(rows), "+r"(steps)
                     :
                     : CLOBBERED, "v24", "v25", "v26", "memory");
}

static void plain_pass(const void *from, void *to, size_t part)
{
    const float *a = from;
    float *y = to;
    const size_t n = part / sizeof *a;
    for (size_t i = 0; i < n; i++) {
        const float p = a[i], q = a[n + i], r = a[2 * n + i], s = a[3 * n + i];
        y[i] = p + s, y[n + i] = r + s, y[2 * n + i] = p, y[3 * n + i] = s;
        y[4 * n + i] = p + q, y[5 * n + i] = r - p, y[6 * n + i] = q - s;
    }
    __asm__ volatile("" : : "r"(to) : "memory");
}

/* Plain has the same instructions here, on half of the registers. */
#define NEON                                                                                                          \
    has_always, neon_fma_f32, neon_fma_f64, 16 * 4 * 2, 16 * 2 * 2, plain_read, plain_write, plain_write, neon_chain, \
        neon_tile, 8, 2, 16, plain_pass
const unit units[] = {{"neon", NEON}, {"plain", NEON}, {0}};
#endif

const unit *unit_find(const char *isa)
{
    for (const unit *u = units; u->isa; u++)
        if ((!isa || strcmp(isa, u->isa) == 0) && u->present())
            return u;
    return NULL;
}
