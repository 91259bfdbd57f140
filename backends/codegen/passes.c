/* passes.c - the table of passes over statements, and what people read of all passes. */
#include "backends/codegen/passes.h"
#include "backends/codegen/trips.h"
#include "schedule/make.h"
#include "tessera.h"

const code_pass code_passes[N_CODE_PASS] = {
    {"invariant", "computes places that data say in front of the loops that do not change them",
     "a kernel's statements", "the same places, each asked for and checked where its row changes", pass_invariant},
    {"once", "makes blocks of loops of one trip, and tests of those that may have none", "a kernel's statements",
     "where a loop was the variable is a number", pass_once},
    {"barriers", "leaves out barriers between which nothing is done, and refuses those that not all workers pass",
     "a kernel's statements", "barriers that all workers of a group pass, and as often", pass_barriers},
};

bool code_through(stmt *in, int from, int to, arena *mem, const dialect *d, err *e)
{
    bool ok = true;
    for (int i = from; i < to && ok; i++)
        ok = code_passes[i].run(in, mem, d, e);
    return ok;
}

static void add(text *t, const char *of, const code_pass *a)
{
    json_add(t, "{name:%s,of:%s,does:%s,requires:%s,guarantees:%s}", a->name, of, a->does, a->requires, a->guarantees);
}

char *ts_passes_json(void)
{
    text t = {0};
    text_add(&t, "[");
    for (int i = 0; i < N_PASS; i++) {
        const pass_record *a = &plan_passes[i];
        text_add(&t, i ? "," : ""), add(&t, "plan", &(code_pass){a->name, a->does, a->requires, a->guarantees, NULL});
    }
    for (int i = 0; i < N_TRIPS_PASS; i++) {
        const trips_pass *a = &trips_passes[i];
        text_add(&t, ","), add(&t, "loops", &(code_pass){a->name, a->does, a->requires, a->guarantees, NULL});
    }
    for (int i = 0; i < N_VALUE_PASS; i++) {
        const value_pass *a = &value_passes[i];
        text_add(&t, ","), add(&t, "values", &(code_pass){a->name, a->does, a->requires, a->guarantees, NULL});
    }
    for (int i = 0; i < N_CODE_PASS; i++)
        text_add(&t, ","), add(&t, "statements", &code_passes[i]);
    text_add(&t, "]");
    return text_take(&t);
}
