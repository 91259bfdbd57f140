/* What stays in the process has no text: a kernel of a custom operation is refused by name, with the remedy, whatever
 * language it is to be written in. */
/* ctest: fast */
#include "backends/c/dialect.h"
#include "backends/codegen/codegen.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

static bool kernel_of_nothing(const ts_use *u, ts_error *e)
{
    (void)u, (void)e;
    return true;
}

static const node *custom(graph *g)
{
    static const int64_t dim[] = {4, 8};
    CHECK(ts_define(g, &(ts_operation){.name = "mine", .n_in = 1, .kernel = kernel_of_nothing}));
    return ts_call1(g, "mine", ts_input(g, "x", TS_F32, 2, dim));
}

int main(void)
{
    planned b;
    err e = {0};
    kernel_text out;
    const setting s = {.make = custom, .machine = two_cores, .isa = "avx2", .threads = 2};
    if (CHECK(make_plan(&b, &s))) {
        CHECK(b.p->n_kernel == 1 && !kernel_write(&c_dialect, b.p, b.p->kernel, &out, &e) && e.code == TS_UNSUPPORTED);
        CHECK_TEXT(e.text, "mine is a function of this process, which cannot be called from c\n"
                           "  hint: define it by text in place of a kernel, or choose another target");
    }
    free_plan(&b);
    return check_done();
}
