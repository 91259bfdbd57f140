#include "tests/models/agree.h"
#include "tests/check.h"
#include "tests/models/outcome.h"

#include <stdio.h>

/* Sums of at most 512 products in f32, through a few layers that each bring numbers back to size 1. */
static const double close_enough = 1e-5;

static bool near(const char *what, const ts_array *a, const ts_array *b)
{
    const double off = outcome_distance(a, b);
    if (!CHECK(off <= close_enough))
        return printf("%s: off by %g of the largest\n", what, off), false;
    return true;
}

void agree_check(const char *target)
{
    static const char *const runs[][2] = {
        {"bert-tiny", "batch=2 seq=7"}, {"bert-tiny", "seq=1"},
        {"gpt2-tiny", "batch=2 seq=5"}, {"gpt2-tiny", "seq=1 past=6 last=1"},
        {"resnet-tiny", "batch=2"},     {"resnet-tiny", "size=9"},
        {"vae-tiny", "size=2"},
    };
    for (int i = 0; i < COUNT(runs); i++) {
        ts_error e = {0};
        char what[128];
        arrays judge = {0}, ours = {0};
        ts_model *m = rig_model(runs[i][0], runs[i][1], &e);
        arrays in = m ? outcome_inputs(m, 7) : (arrays){0};
        snprintf(what, sizeof what, "%s %s on %s", runs[i][0], runs[i][1], target);
        if (CHECK(m && outcome_run(m, "interp", &in, &judge, &e) && outcome_run(m, target, &in, &ours, &e)))
            for (int k = 0; k < ours.n; k++)
                near(what, &ours.at[k], &judge.at[k]);
        else
            printf("%s: %s\n", what, e.text);
        arrays_free(&in), arrays_free(&judge), arrays_free(&ours);
        ts_model_free(m);
    }
}

/* ---- generation ---- */
enum { LENGTH = 9, VOCABULARY = 1024 };

static void put(ts_array *a, int64_t i, int64_t v)
{
    ((int64_t *)a->data)[i] = v;
}

static int64_t token(int64_t row, int64_t place)
{
    return (row * 331 + place * 197 + 5) % VOCABULARY;
}

/* Tokens first ... first + seq - 1 of two rows; place 2 of row 1 is padding. */
static arrays prompt(const ts_model *m, int64_t first, int64_t seq)
{
    arrays in = outcome_inputs(m, 1);
    for (int64_t row = 0; row < 2; row++) {
        for (int64_t i = 0; i < seq; i++)
            put(&in.at[0], row * seq + i, token(row, first + i));
        for (int64_t i = 0; i < first + seq; i++)
            put(&in.at[1], row * (first + seq) + i, row != 1 || i != 2);
    }
    return in;
}

static bool run(const char *dims, const char *target, int64_t first, int64_t seq, const arrays *past, arrays *out)
{
    ts_error e = {0};
    ts_model *m = rig_model("gpt2-tiny", dims, &e);
    arrays in = m ? prompt(m, first, seq) : (arrays){0};
    for (int i = 0; past && i + 2 < in.n; i++) { /* results: logits, then the cache; inputs: ids, mask, the cache */
        ts_array_free(&in.at[i + 2]);
        in.at[i + 2] = past->at[i + 1];
    }
    const bool ok = m && outcome_run(m, target, &in, out, &e);
    if (!CHECK(ok))
        printf("%s %s: %s\n", target, dims, e.text);
    if (past)
        in.n = 2; /* the rest is borrowed */
    arrays_free(&in);
    ts_model_free(m);
    return ok;
}

static ts_array row_of(const ts_array *logits, int64_t row, int64_t place)
{
    return (ts_array){.dtype = TS_F32,
                      .rank = 1,
                      .dim = {VOCABULARY},
                      .data = (float *)logits->data + (row * logits->dim[1] + place) * VOCABULARY};
}

void agree_generation(const char *target)
{
    arrays whole = {0}, prefill = {0}, step = {0}, next = {0};
    if (run("batch=2 seq=9", target, 0, LENGTH, NULL, &whole) &&
        run("batch=2 seq=7 last=1", target, 0, LENGTH - 2, NULL, &prefill) &&
        run("batch=2 seq=1 past=7", target, LENGTH - 2, 1, &prefill, &step) &&
        run("batch=2 seq=1 past=8 last=1", target, LENGTH - 1, 1, &step, &next)) {
        const arrays *const part[] = {&prefill, &step, &next};
        for (int row = 0; row < 2; row++)
            for (int i = 0; i < COUNT(part); i++) {
                const ts_array a = row_of(&part[i]->at[0], row, 0), b = row_of(&whole.at[0], row, LENGTH - 3 + i);
                near("logits", &a, &b);
            }
        for (int i = 1; i < whole.n; i++)
            near("cache", &next.at[i], &whole.at[i]);
        const ts_array a = row_of(&whole.at[0], 0, 3), b = row_of(&whole.at[0], 0, 4);
        CHECK(outcome_distance(&a, &b) > 0.1); /* or else the comparisons above would say nothing */
    }
    arrays_free(&whole), arrays_free(&prefill), arrays_free(&step), arrays_free(&next);
}
