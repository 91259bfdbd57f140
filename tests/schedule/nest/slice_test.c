/* How copies lie, by hand. */
/* ctest: fast */
#include "schedule/nest/slice.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>

/* The slice of the first operand that is staged: axes with their strides, and the size */
static void lies(maker *make, const char *on, const char *loops, const char *want)
{
    planned b;
    char rule[200];
    text t = {0};
    snprintf(rule, sizeof rule, "{\"match\":{\"op\":[\"matmul\",\"transpose\"]},\"loops\":\"%s\"}", loops);
    if (make_plan(&b, &(setting){.make = make, .machine = on, .isa = "avx2", .rules = rule, .threads = 1})) {
        const stage *s = b.p->kernel->stage;
        slice y;
        slice_find(b.p, b.p->kernel, s, s->staging, &y);
        for (int i = 0; i < y.n; i++)
            text_add(&t, "%s %lld of %lld, ", s->letter[y.order[i]], (long long)y.stride[y.order[i]],
                     (long long)y.extent[y.order[i]]);
        text_add(&t, "%lld", (long long)y.size);
    }
    CHECK_TEXT(text_str(&t), want);
    text_free(&t);
    free_plan(&b);
}

int main(void)
{
    /* matmul m=24 n=36 k=40: a[m,k] and b[k,n] in rows. Alone, a worker copies in the order of all loops. */
    lies(small_product, two_cores, "m/8+a n/16 k m@unroll n@vector", "m 40 of 8, k 1 of 40, 320");
    lies(small_product, two_cores, "n/16+b m/8 k m@unroll n@vector", "k 16 of 40, n 1 of 16, 640");
    /* by a group: a is turned, so its rows have a gap; b is not */
    lies(small_product, "gpu:h100", "m/8@block n/16@block k/10+a k m@lane n@lane", "k 9 of 10, m 1 of 8, 90");
    lies(small_product, "gpu:h100", "m/8@block n/16@block k/10+b k m@lane n@lane", "k 16 of 10, n 1 of 16, 160");
    /* in vectors, gaps keep to 16 bytes: 8 become three of four */
    lies(small_product, "gpu:h100", "n/36@block m/8@block k/10+a k n@lane m@vector", "k 12 of 10, m 1 of 8, 120");
    return check_done();
}
