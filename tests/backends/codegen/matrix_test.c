/* matrix_test.c - a language without the matrix unit that loops ask for says so: nothing is written in plain loops in
 * its place. The unit is one that a worker has alone, which no language here has, on a processor that is made up. */
/* ctest: fast */
#include "backends/c/dialect.h"
#include "backends/codegen/codegen.h"
#include "backends/cpu/cpu.h"
#include "schedule/make.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 32 };

/* The processor, with a role of loops that a unit of 4 x 4 x 8 takes */
static const target *with_unit(arena *mem, target *own, role roles[MOST], err *e)
{
    static const matrix_unit unit = {.m = 4, .n = 4, .k = 8, .operand = TS_F32, .sum = TS_F32, .reached = 1};
    const target *on = cpu_target(mem, &(machine_options){.machine = "core:4 isa:avx2"}, e);
    if (!on || on->n_role >= MOST)
        return NULL;
    memcpy(roles, on->role, (size_t)on->n_role * sizeof *roles);
    roles[on->n_role] = (role){
        .name = "unit", .done = "a unit's", .in_registers = true, .unit = true, .own = true, .folded = true};
    *own = *on, own->role = roles, own->n_role++, own->unit = &unit, own->n_unit = 1;
    return own;
}

int main(void)
{
    static const char schema[] =
        "{\"format\":\"tiling/1\",\"rules\":[{\"loops\":\"m/4@core n/4 k/8 m@unit n@unit k@unit\"}]}";
    arena mem = {0};
    err e = {0};
    target own;
    role roles[MOST];
    kernel_text t = {0};
    scratch folder = scratch_make();
    graph *g = ts_graph_make();
    const node *y = g_call2(g, "matmul", g_input(g, "a", &(type){.dtype = TS_F32, .rank = 2, .dim = {16, 24}}, NULL),
                            g_input(g, "b", &(type){.dtype = TS_F32, .rank = 2, .dim = {24, 40}}, NULL));
    const char *path = scratch_in(&folder, "test.json");
    CHECK(file_save(path, schema, sizeof schema - 1, &e));
    const target *on = with_unit(&mem, &own, roles, &e);
    plan *p = on ? plan_make(g, 1, &y, &(plan_options){.on = on, .target = "c", .schema = path}, &e) : NULL;
    if (!CHECK(p != NULL))
        printf("  %s\n", e.text);
    else {
        CHECK(!kernel_write(&c_dialect, p, p->kernel, &t, &e) && e.code == TS_UNSUPPORTED);
        CHECK_TEXT(
            e.text,
            "matmul: kernels in c have no matrix unit for 4 x 4 x 8 of f32 that a worker has alone\n"
            "  hint: write its loops without the unit's role, or plan for a target that has it; this one has none");
    }
    kernel_text_free(&t), plan_free(p), ts_graph_free(g), scratch_free(&folder), arena_free(&mem);
    return check_done();
}
