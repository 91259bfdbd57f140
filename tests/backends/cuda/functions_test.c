/* functions_test.c - functions that are patterns, in the text that a kernel carries: with what they use, with as many
 * operands as their names say. */
/* ctest: fast */
#include "backends/codegen/library.h"
#include "backends/cuda/dialect.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static void expect(const char *name, const char *want)
{
    callees used = {0};
    text t = {0};
    callees_call(&used, &cuda_dialect, name, strlen(name));
    library_write(&t, &cuda_dialect, &used);
    CHECK_TEXT(text_str(&t), want);
    text_free(&t);
}

static void test_texts(void)
{
    expect("send8",
           "FUNCTION uint2 take8(const void *from, int inside)\n"
           "{\n"
           "    return inside ? *(const uint2 *)from : make_uint2(0, 0);\n"
           "}\n"
           "template <int far> FUNCTION void send8(uint32_t to, const void *from, int inside)\n"
           "{\n"
           "#if __CUDA_ARCH__ >= 800\n"
           "    asm volatile(\"cp.async.ca.shared.global [%0 + %3], [%1], 8, %2;\"\n"
           "                 ::\"r\"(to), \"l\"(__cvta_generic_to_global(from)), \"r\"(inside ? 8 : 0), \"n\"(far)\n"
           "                 : \"memory\");\n"
           "#else\n"
           "    void *const at = __cvta_shared_to_generic(to + far);\n"
           "    *(uint2 *)at = take8(from, inside);\n"
           "#endif\n"
           "}\n");
    expect("columns2", "template <int far> FUNCTION void columns2(uint32_t *to, uint32_t at)\n"
                       "{\n"
                       "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2 + %3];\"\n"
                       "                 : \"=r\"(to[0]), \"=r\"(to[1])\n"
                       "                 : \"r\"(at), \"n\"(far) : \"memory\");\n"
                       "}\n");
    expect("box2",
           "struct __align__(64) tensor_map { uint64_t word[16]; }; /* what the driver calls CUtensorMap */\n"
           "FUNCTION void box2(uint32_t to, const tensor_map *map, uint32_t bar, int a, int b)\n"
           "{\n"
           "    asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
           "[%0], [%1, {%3, %4}], [%2];\"\n"
           "                 ::\"r\"(to), \"l\"(map), \"r\"(bar), \"r\"(a), \"r\"(b) : \"memory\");\n"
           "}\n");
}

/* Every form of a matrix unit calls functions that are there; a product of several warps names each sum of a lane
 * twice, as an operand and in the instruction. */
static void test_products(void)
{
    int several = 0;
    for (const matrix_form *f = cuda_dialect.matrix; f->m; f++) {
        callees used = {0};
        text t = {0};
        callees_form(&used, &cuda_dialect, f->text, "");
        library_write(&t, &cuda_dialect, &used);
        char head[16], last[16];
        snprintf(head, sizeof head, "m%dn%dk%d.", f->group ? 64 : f->m, f->n, f->k);
        snprintf(last, sizeof last, ", %%%d}", f->sums - 1);
        CHECK(strstr(text_str(&t), head));
        if (f->group) {
            several++;
            CHECK(strstr(text_str(&t), last));
            CHECK(check_count(text_str(&t), "\"+f\"(y[") == f->sums);
        }
        text_free(&t);
    }
    CHECK(several == 12);
}

int main(void)
{
    test_texts();
    test_products();
    return check_done();
}
