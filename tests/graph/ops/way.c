#include "tests/graph/ops/way.h"
#include "tests/check.h"

#include <stdio.h>

void way_is_same(graph *g, const node *plain, const char *target, int threads)
{
    const node *other = plain ? plain->op->cheaper(g, plain) : NULL;
    const ts_options o = {.target = target, .threads = threads}, interp = {.target = "interp"};
    ts_array x = {0}, want = {0}, got = {0};
    ts_error e = {0};
    if (CHECK(other && type_equal(&other->type, &plain->type)) &&
        CHECK(ts_array_make(&x, TS_F32, plain->in[0]->type.rank, plain->in[0]->type.dim, &e))) {
        for (int64_t i = 0; i < ts_array_count(&x); i++)
            ((float *)x.data)[i] = (float)(i * 5 % 13 - 6);
        const ts_given given = {"x", x};
        if (!CHECK(ts_eval(1, &plain, 1, &given, &interp, &want, &e) && ts_eval(1, &other, 1, &given, &o, &got, &e)))
            printf("  %s\n", e.text);
        for (int64_t i = 0; got.data && i < ts_array_count(&want); i++)
            if (!CHECK(ts_array_at(&want, i) == ts_array_at(&got, i)))
                break;
    }
    ts_array_free(&x), ts_array_free(&want), ts_array_free(&got);
}

void way_is_none(graph *g, const node *plain)
{
    CHECK(plain && !plain->op->cheaper(g, plain));
}
