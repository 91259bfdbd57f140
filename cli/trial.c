/* trial.c - plans of a problem of ADBench, and somebody else's library for the same. */
#include "cli/trial_parts.h"

#include "graph/base/ended.h"
#include "graph/base/err.h"
#include "cli/outfile.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- plans ---- */
enum { VALUES, SLOPES, WIDE };

static bool set_single(ts_plan *p, int at, const ts_array *x, ts_error *e)
{
    ENDED_BY(ts_array_free) ts_array a = {0};
    bool ok = ts_array_make(&a, TS_F32, x->rank, x->dim, e);
    for (int64_t i = 0; ok && i < ts_array_count(x); i++)
        ((float *)a.data)[i] = (float)((const double *)x->data)[i];
    ok = ok && ts_plan_set(p, at, &a, e);
    return ok;
}

bool trial_set_input(const trial *t, int plan, int i, ts_error *e)
{
    const ts_array *x = &t->p.given[i].value;
    const int at = ts_plan_find(t->plan[plan], t->p.given[i].name);
    if (at >= 0 && t->p.single && plan != WIDE && x->dtype == TS_F64)
        return set_single(t->plan[plan], at, x, e);
    return at < 0 || ts_plan_set(t->plan[plan], at, x, e);
}

int trial_exact(const trial *t)
{
    return t->wide ? WIDE : VALUES;
}

static bool make_plan(trial *t, int k, const problem *p, const ts_options *o, ts_error *e)
{
    ts_tensor all[2 * OBJECTIVE_MOST];
    int n = 0;
    for (int i = 0; i < p->n_value; i++)
        all[n++] = p->value[i];
    for (int i = 0; i < p->n_slope && k == SLOPES; i++)
        all[n++] = p->slope[i].t;
    t->plan[k] = ts_plan_of(p->g, n, all, 0, NULL, o, e);
    bool ok = t->plan[k] && ts_plan_build(t->plan[k], e);
    for (int i = 0; i < p->n_given && ok; i++)
        ok = trial_set_input(t, k, i, e);
    return ok;
}

/* The same problem once more, in f64, whose arrays are the first one's. */
static bool make_wide(trial *t, const ts_options *o, ts_error *e)
{
    problem p = t->p;
    p.single = false, p.n_value = p.n_slope = 0, p.model = NULL;
    const bool built = objective_build(&p);
    t->wide = p.model;
    return built && ts_graph_ok(p.g, e) && make_plan(t, WIDE, &p, o, e);
}

bool trial_make(trial *t, const ts_options *o, ts_error *e)
{
    problem *p = &t->p;
    p->e = e;
    t->reference = t->other = NAN;
    if (p->file && !(t->text = outfile_text(p->file, TRIAL_FILE, e)))
        return false;
    p->at = t->text;
    if (!p->file)
        p->file = p->of->name;
    return objective_begin(p) && p->of->read(p) && objective_build(p) && ts_graph_ok(p->g, e) &&
           make_plan(t, VALUES, p, o, e) && make_plan(t, SLOPES, p, o, e) && (!p->single || make_wide(t, o, e));
}

static void forget(trial *t)
{
    for (int i = 0; i < 2 * OBJECTIVE_MOST; i++)
        ts_array_free(&t->got[i]);
}

void trial_free(trial *t)
{
    forget(t);
    for (int i = 0; i < 2 * OBJECTIVE_MOST; i++)
        free(t->theirs[i]);
    for (int k = 0; k <= WIDE; k++)
        ts_plan_free(t->plan[k]);
    for (int i = 0; i < t->p.n_given; i++)
        ts_array_free(&t->p.given[i].value);
    ts_model_free(t->p.model);
    ts_model_free(t->wide);
    free(t->text);
    if (t->library)
        dlclose(t->library);
}

bool trial_derive(trial *t, ts_error *e)
{
    forget(t);
    if (!ts_plan_run(t->plan[1], e))
        return false;
    for (int i = 0; i < t->p.n_value + t->p.n_slope; i++)
        if (!ts_plan_get(t->plan[1], i, &t->got[i], e))
            return false;
    return t->first = ts_array_at(&t->got[0], 0), true;
}

/* ---- somebody else's library ---- */
void trial_call_other(const trial *t, int k)
{
    const void *in[OBJECTIVE_MOST];
    for (int i = 0; i < t->p.n_given; i++)
        in[i] = t->p.given[i].value.data;
    t->function[k](t->p.size, in, t->theirs);
}

bool trial_against(trial *t, const char *library, ts_error *e)
{
    static const char *const names[] = {"tessera_values", "tessera_slopes"};
    if (!(t->library = dlopen(library, RTLD_NOW | RTLD_LOCAL))) {
        err_set(e, TS_FILES, "--against %s: %s", library, dlerror());
        return err_hint(e, "cc -O3 -march=native -ffast-math -fPIC -shared makes one, of a path with a slash");
    }
    for (int k = 0; k < 2; k++) {
        void *found = dlsym(t->library, names[k]);
        if (!found) {
            err_set(e, TS_BAD_INPUT, "--against %s: it has no function %s", library, names[k]);
            return err_hint(e, "tests/plainc/adbench shows what it is to be");
        }
        memcpy(&t->function[k], &found, sizeof found);
    }
    if (!trial_derive(t, e))
        return false;
    for (int i = 0; i < t->p.n_value + t->p.n_slope; i++) {
        const int64_t n = ts_array_count(&t->got[i]);
        if (!(t->theirs[i] = calloc((size_t)n + 1, sizeof **t->theirs)))
            return err_memory(e, ((size_t)n + 1) * sizeof **t->theirs, "%lld numbers", (long long)n);
    }
    return true;
}

double trial_apart(double a, double b)
{
    const double d = a == b ? 0 : fabs(a - b) / fmax(1, fabs(a) + fabs(b));
    return isnan(d) ? INFINITY : d;
}
