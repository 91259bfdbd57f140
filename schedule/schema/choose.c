/* choose.c - the loops of one kernel: by the first rule that fits it, by the first that fits a stage of it, or guessed.
 * Alternatives are tried in order; each that is refused is noted with its reason. */
#include "schedule/schema/schema.h"
#include "schedule/nest/nest.h"

#include <string.h>

static bool ended(nesting *b, err *e)
{
    ENDED_BY(text_free) text loops = {0};
    if (nest_end(b))
        return true;
    nest_print(&loops, b->k, false);
    return err_set(e, TS_BAD_INPUT, "guess \"%s\": %s", text_str(&loops), b->why);
}

static bool guess(plan *p, kernel *k, bool shared, err *e)
{
    bool ok = true;
    if (k->n_stage > 1 && shared) {
        nesting b = nest_begin(p->on, k, NULL);
        p->on->guess->shared(p, k, &b);
        ok = ended(&b, e);
    }
    for (int i = 0; ok && i < k->n_stage; i++) {
        stage *s = &k->stage[i];
        ENDED_BY(text_free) text second = {0};
        if (s->nest.n)
            continue;
        nesting b = nest_begin(p->on, k, s);
        p->on->guess->stage(p, k, i, &b, &second);
        ok = ended(&b, e);
        s->second = second.length ? arena_format(&p->mem, "%s", text_str(&second)) : NULL;
    }
    return ok;
}

static void reset(kernel *k)
{
    k->shared.n = 0;
    for (int i = 0; i < k->n_stage; i++)
        k->stage[i].nest.n = k->stage[i].n_staging = 0, k->stage[i].written = false, k->stage[i].second = NULL;
}

/* What the guess's register tile has of each axis, on this machine: what rules call "tile". */
void choose_tiles(plan *p, kernel *k)
{
    err e = {0};
    reset(k);
    const bool ok = stage_nested(k->stage) && guess(p, k, true, &e);
    for (int i = 0; i < k->n_stage; i++)
        for (int a = 0; a < k->stage[i].n_axis; a++) {
            stage *s = &k->stage[i];
            const int64_t left = ok ? nest_left(k, s, a, nest_unrolled(s) - 1) : 0;
            s->tile[a] = ok && left < 1 ? 1 : left;
        }
}

/* Why two trips of a stage's loops may not change places: one starts from what the other leaves, or both may write the
 * same element. */
static bool refuse_own(const stage *s, const char *loops, err *e)
{
    const expr *x = s->value;
    const int axis = x->kind != X_SCAN || !x->folds ? x->axis : __builtin_ctz(x->folds);
    const char *at = s->letter[axis];
    if (x->kind == X_SCAN)
        return err_set(e, TS_BAD_INPUT,
                       "loops \"%s\": the loops of %s are its own and no others can be chosen: %s = 1 starts from what "
                       "%s = 0 leaves",
                       loops, s->name, at, at);
    return err_set(e, TS_BAD_INPUT, "loops \"%s\": the loops of %s are its own and no others can be chosen: %s", loops,
                   s->name, x->kind == X_SCATTER ? "two updates may write one element" : "it is a routine");
}

static bool try_loops(plan *p, kernel *k, const char *loops, err *e)
{
    reset(k);
    if (!stage_nested(k->stage))
        return !strcmp(loops, "guess") || refuse_own(k->stage, loops, e);
    if (!strcmp(loops, "guess"))
        return guess(p, k, true, e) && nest_fits(p, k, loops, e);
    if (!nest_parse(p->on, k, loops, e))
        return false;
    for (int i = 0; i < k->n_stage; i++)
        k->stage[i].written = k->stage[i].nest.n > 0;
    return guess(p, k, false, e) && nest_fits(p, k, loops, e);
}

static void note_lost(plan *p, kernel *k, const char *loops)
{
    if (*k->lost)
        kernel_note(
            p, k,
            arena_format(&p->mem,
                         "loops \"%s\": %s is walked once, for its axis has one element or is part of another; what "
                         "else it says is left aside",
                         loops, k->lost));
}

/* ---- a stage's own loops ---- */
/* Under the shared loops as they are; the stage is as it was where that is refused. */
static bool try_stage(plan *p, kernel *k, int which, const char *loops, err *e)
{
    stage *s = &k->stage[which];
    const stage was = *s;
    bool ok = true;
    *k->lost = 0;
    s->second = NULL;
    if (!strcmp(loops, "guess"))
        s->nest.n = 0, ok = guess(p, k, false, e);
    else
        ok = nest_parse_stage(p->on, k, which, loops, e);
    if (ok && nest_fits(p, k, loops, e))
        return true;
    *s = was;
    return err_in(e, "stage %s", s->name);
}

/* A text without stages, for a kernel whose operation is that of stages: it is for each of these. */
static bool is_for_each(const kernel *k, const rule *r, const char *loops)
{
    bool any = false;
    for (int i = 0; i < k->n_stage; i++)
        any = any || schema_fits_stage(r, k, i);
    return any && k->n_stage > 1 && !strchr(loops, ';') && strcmp(loops, "guess");
}

static bool try_each(plan *p, kernel *k, const rule *r, const char *loops, err *e)
{
    char lost[sizeof k->lost] = "";
    reset(k);
    if (!guess(p, k, true, e))
        return false;
    for (int i = 0; i < k->n_stage; i++) {
        if (!schema_fits_stage(r, k, i))
            continue;
        if (!try_stage(p, k, i, loops, e))
            return false;
        k->stage[i].written = true;
        if (!*lost)
            memcpy(lost, k->lost, sizeof lost);
    }
    memcpy(k->lost, lost, sizeof lost);
    return true;
}

/* ---- by rules ---- */
static bool try_rule(plan *p, kernel *k, const rule *r, int which, const char *loops, err *e)
{
    if (which >= 0)
        return try_stage(p, k, which, loops, e);
    if (try_loops(p, k, loops, e))
        return true;
    if (!is_for_each(k, r, loops))
        return false;
    *e = (err){0};
    return try_each(p, k, r, loops, e);
}

/* The alternatives of rule `at` in order, for the kernel or for a stage of it (-1: the kernel). */
static bool by_rule(plan *p, kernel *k, int at, int which, const char **asked, err *e)
{
    const rule *r = &p->schema->rule[at];
    ENDED_BY(text_free) text all = {0};
    *asked = NULL;
    for (int i = 0; i < r->n_loops && !*asked; i++) {
        err why = {0};
        if (try_rule(p, k, r, which, r->loops[i], &why)) {
            note_lost(p, k, *asked = r->loops[i]);
            break;
        }
        text_add(&all, "\n  %s", why.text);
        kernel_note(p, k, why.text);
        schema_refuse(p, at, k, which, why.text);
    }
    if (!*asked && r->n_loops && !r->optional) {
        err_set(e, TS_BAD_INPUT, "%s: rule \"%s\" on %s %s: every alternative is refused:%s", r->loops_place, r->name,
                k->op, k->label, text_str(&all));
        err_hint(e, "add \"guess\" to its loops, or \"optional\": true to pass on to the next rule");
    }
    return !err_is(e);
}

static bool is_late_guess(const rule *r, const char *asked)
{
    return asked && asked != r->loops[0] && !strcmp(asked, "guess");
}

static bool choose_kernel(plan *p, kernel *k, int *used, err *e)
{
    for (int at = 0; p->schema && (at = schema_match(p->schema, k, at)) >= 0; at++) {
        const rule *r = &p->schema->rule[at];
        k->compute = r->compute;
        if (r->n_loops && !by_rule(p, k, at, -1, &k->asked, e))
            return false;
        if (!k->asked && r->n_loops) {
            k->compute = NULL;
            continue;
        }
        *used = at, p->rule_used[at] = true;
        k->rule = r->name, k->guessed = is_late_guess(r, k->asked);
        break;
    }
    if (*used < 0)
        k->rule = "guess";
    return k->asked || try_loops(p, k, "guess", e) || err_in(e, "kernel %d (%s)", (int)(k - p->kernel), k->op);
}

/* By the first rule that fits the stage, unless one before it, for the kernel, has written its loops. */
static bool choose_stage(plan *p, kernel *k, int which, int *used, err *e)
{
    stage *s = &k->stage[which];
    for (int at = 0; p->schema && (at = schema_match_stage(p->schema, k, which, at)) >= 0; at++) {
        const rule *r = &p->schema->rule[at];
        const char *asked = NULL;
        if (s->written && used[0] < at)
            return true;
        if (r->n_loops && !by_rule(p, k, at, which, &asked, e))
            return false;
        if (!asked && r->n_loops)
            continue;
        used[1 + which] = at, p->rule_used[at] = true;
        s->rule = r->name, s->asked = asked, s->guessed = is_late_guess(r, asked);
        return true;
    }
    return true;
}

static bool is_ruled(const plan *p, const kernel *k)
{
    bool any = p->schema && schema_match(p->schema, k, 0) >= 0;
    for (int i = 0; p->schema && i < k->n_stage && !any; i++)
        any = schema_match_stage(p->schema, k, i, 0) >= 0;
    return any;
}

bool choose_loops(plan *p, kernel *k, const rule **used, err *e)
{
    int at[1 + MAX_STAGES];
    for (int i = 0; i <= MAX_STAGES; i++)
        at[i] = -1;
    if (k->merges) { /* rules are for what it is a part of */
        memset(used, 0, (1 + MAX_STAGES) * sizeof *used);
        return try_loops(p, k, "guess", e) || err_in(e, "kernel %d (%s)", (int)(k - p->kernel), k->op);
    }
    if (is_ruled(p, k))
        choose_tiles(p, k);
    if (!choose_kernel(p, k, at, e))
        return false;
    for (int i = 0; i < k->n_stage && k->n_stage > 1; i++)
        if (!choose_stage(p, k, i, at, e))
            return false;
    for (int i = 0; i <= MAX_STAGES; i++)
        used[i] = at[i] < 0 ? NULL : &p->schema->rule[at[i]];
    return true;
}
