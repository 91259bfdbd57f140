/* adbench.c - tessera adbench: problems of ADBench, objective and derivative, timed by its rules. */
#include "graph/base/clock.h"
#include "graph/base/err.h"
#include "cli/outfile.h"
#include "cli/reply.h"
#include "cli/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 30, MOST = 8, SAMPLES = 10, LIMIT = 10 };
typedef struct problem {
    const char *file, *at; /* what is left to be read */
    char *text;
    ts_model *model;
    ts_graph *g;
    int n_given, n_value, n_slope;
    ts_given given[MOST];
    ts_tensor value[MOST], slope[MOST];
    int moves[MOST]; /* of each slope: which given one it is by */
    double first, worst, time[2];
    ts_plan *plan[2]; /* objective, derivative */
} problem;

/* ---- files ---- */
static bool number(problem *p, double *out, ts_error *e)
{
    char *end;
    *out = strtod(p->at, &end);
    if (end == p->at || !isfinite(*out))
        return err_set(e, TS_BAD_INPUT, "%s: a number expected at \"%.20s\"", p->file, p->at);
    return p->at = end, true;
}

static bool extent(problem *p, int64_t *out, ts_error *e)
{
    double v;
    if (!number(p, &v, e))
        return false;
    if (v != floor(v) || v < 1 || v > 1e8)
        return err_set(e, TS_BAD_INPUT, "%s: %g is no size", p->file, v);
    return *out = (int64_t)v, true;
}

/* An input of the model: one row of `read` numbers where it is repeated, else all of them. */
static bool take(problem *p, const char *name, int rank, const int64_t *dim, bool repeated, ts_error *e)
{
    ts_given *to = &p->given[p->n_given];
    *to = (ts_given){.name = name};
    if (!ts_array_make(&to->value, TS_F64, rank, dim, e))
        return false;
    p->n_given++;
    double *v = to->value.data;
    const int64_t all = ts_array_count(&to->value), row = !repeated ? all : rank > 1 ? dim[1] : 1;
    for (int64_t i = 0; i < row && i < all; i++)
        if (!number(p, &v[i], e))
            return false;
    for (int64_t i = row; i < all; i++)
        v[i] = v[i - row];
    return true;
}

/* Observation i is of camera i mod n and point i mod m. */
static bool count(problem *p, const char *name, int64_t n, int64_t below, ts_error *e)
{
    ts_given *to = &p->given[p->n_given];
    *to = (ts_given){.name = name};
    if (!ts_array_make(&to->value, TS_I64, 1, &n, e))
        return false;
    p->n_given++;
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)to->value.data)[i] = i % below;
    return true;
}

static bool open_model(problem *p, const char *name, const int64_t *dim, const char *letters, ts_error *e)
{
    char words[3][32];
    const char *list[3];
    for (int i = 0; i < 3; i++)
        snprintf(words[i], sizeof words[i], "%c=%lld", letters[i], (long long)dim[i]), list[i] = words[i];
    p->model = ts_model_open(name, e);
    if (!p->model || !ts_model_bind(p->model, 3, list, NULL, e))
        return false;
    return p->g = ts_model_graph(p->model), true;
}

static ts_tensor input(const problem *p, int i)
{
    const ts_array *a = &p->given[i].value;
    return ts_input(p->g, p->given[i].name, a->dtype, a->rank, a->dim);
}

/* ---- a mixture of Gaussians ---- */
/* What of the Wishart prior depends on gamma and m alone, pi as ADBench has it. */
static double constant(int64_t d, int64_t k, double gamma, double m)
{
    const double n = (double)d + m + 1, log_pi = log(3.14159265359);
    double out = 0.25 * (double)(d * (d - 1)) * log_pi;
    for (int64_t j = 1; j <= d; j++)
        out += lgamma(0.5 * n + 0.5 * (double)(1 - j));
    return (double)k * (n * (double)d * (log(gamma) - 0.5 * log(2)) - out);
}

static bool make_gmm(problem *p, ts_error *e)
{
    int64_t d, k, n;
    if (!extent(p, &d, e) || !extent(p, &k, e) || !extent(p, &n, e) || !take(p, "alphas", 1, &k, false, e) ||
        !take(p, "means", 2, (const int64_t[]){k, d}, false, e) ||
        !take(p, "icf", 2, (const int64_t[]){k, d * (d + 1) / 2}, false, e) ||
        !take(p, "x", 2, (const int64_t[]){n, d}, false, e))
        return false;
    ts_given *prior = &p->given[p->n_given];
    *prior = (ts_given){.name = "prior"};
    if (!ts_array_make(&prior->value, TS_F64, 1, (const int64_t[]){3}, e))
        return false;
    p->n_given++;
    double *v = prior->value.data;
    if (!number(p, &v[0], e) || !number(p, &v[1], e))
        return false;
    v[2] = constant(d, k, v[0], v[1]);
    if (!open_model(p, "adbench-gmm", (const int64_t[]){n, d, k}, "ndk", e))
        return false;
    const ts_tensor in[] = {input(p, 0), input(p, 1), input(p, 2)};
    p->value[p->n_value++] = ts_model_tensor(p->model, 0);
    p->n_slope = 3, p->moves[1] = 1, p->moves[2] = 2;
    return ts_chain_rule(p->g, 1, p->value, NULL, 3, in, p->slope) || ts_graph_ok(p->g, e);
}

/* ---- bundle adjustment ---- */
static bool make_ba(problem *p, ts_error *e)
{
    int64_t n, m, k;
    if (!extent(p, &n, e) || !extent(p, &m, e) || !extent(p, &k, e) ||
        !take(p, "cameras", 2, (const int64_t[]){n, 11}, true, e) ||
        !take(p, "points", 2, (const int64_t[]){m, 3}, true, e) || !take(p, "weights", 1, &k, true, e) ||
        !take(p, "features", 2, (const int64_t[]){k, 2}, true, e) || !count(p, "camera_of", k, n, e) ||
        !count(p, "point_of", k, m, e) || !open_model(p, "adbench-ba", (const int64_t[]){n, m, k}, "nmp", e))
        return false;
    int pairs, pair[TS_MAX_RANK][2];
    for (int i = 0; i < 2; i++)
        p->value[p->n_value++] = ts_model_tensor(p->model, i);
    const ts_tensor by[] = {ts_model_tensor(p->model, 2), ts_model_tensor(p->model, 3), input(p, 2)};
    for (int i = 0; i < 3; i++) /* [observation, 2, numbers of what it reads] */
        p->moves[i] = i, p->slope[p->n_slope++] = ts_jacobian(p->g, p->value[0], by[i], &pairs, pair);
    p->slope[p->n_slope++] = ts_jacobian(p->g, p->value[1], by[2], &pairs, pair);
    p->moves[3] = -1;
    return ts_graph_ok(p->g, e);
}

/* ---- plans ---- */
static bool set_input(const problem *p, int plan, int i, ts_error *e)
{
    const int at = ts_plan_find(p->plan[plan], p->given[i].name);
    return at < 0 || ts_plan_set(p->plan[plan], at, &p->given[i].value, e);
}

static bool make_plans(problem *p, const ts_options *o, ts_error *e)
{
    for (int k = 0; k < 2; k++) {
        p->plan[k] = ts_plan_of(p->g, k ? p->n_slope : p->n_value, k ? p->slope : p->value, 0, NULL, o, e);
        if (!p->plan[k] || !ts_plan_build(p->plan[k], e))
            return false;
        for (int i = 0; i < p->n_given; i++)
            if (!set_input(p, k, i, e))
                return false;
    }
    return true;
}

static bool run_for(ts_plan *p, int64_t times, double *seconds, ts_error *e)
{
    const double begin = seconds_now();
    for (int64_t i = 0; i < times; i++)
        if (!ts_plan_run(p, e))
            return false;
    return *seconds = seconds_now() - begin, true;
}

/* Runs are repeated until that takes `least` seconds; the shortest of up to ten such samples counts. */
static bool measure(problem *p, int k, double least, ts_error *e)
{
    int64_t times = 1;
    double took = 0, all = 0;
    if (!ts_plan_run(p->plan[k], e))
        return false;
    while (run_for(p->plan[k], times, &took, e) && took < least)
        times *= 2;
    p->time[k] = took / (double)times;
    for (int i = 1; i < SAMPLES && (all += took) < LIMIT && run_for(p->plan[k], times, &took, e); i++)
        p->time[k] = fmin(p->time[k], took / (double)times);
    return !err_is(e);
}

/* ---- the derivative against differences ---- */
static bool total(problem *p, double *out, ts_error *e)
{
    ts_array a;
    if (!ts_plan_run(p->plan[0], e) || !ts_plan_get(p->plan[0], 0, &a, e))
        return false;
    *out = 0;
    for (int64_t i = 0; i < ts_array_count(&a); i++)
        *out += ts_array_at(&a, i);
    p->first = ts_array_at(&a, 0);
    return ts_array_free(&a), true;
}

/* What the derivative says of the sum of all results, by element i: of a Jacobian's rows those that read it count. */
static double said(const problem *p, int k, const ts_array *slope, int64_t i)
{
    const ts_array *x = &p->given[p->moves[k]].value;
    if (slope->rank == x->rank && ts_array_count(slope) == ts_array_count(x))
        return ts_array_at(slope, i);
    const int64_t rows = slope->dim[0], width = slope->rank > 2 ? slope->dim[2] : 1, own = i / width;
    double sum = 0;
    for (int64_t r = own; r < rows; r += x->dim[0])
        for (int64_t side = 0; side < 2; side++)
            sum += ts_array_at(slope, (r * 2 + side) * width + i % width);
    return sum;
}

static bool check_one(problem *p, int k, const ts_array *slope, int64_t i, ts_error *e)
{
    const int which = p->moves[k];
    double *v = &((double *)p->given[which].value.data)[i], up, down;
    const double was = *v, h = 1e-6 * fmax(1, fabs(was));
    *v = was + h;
    bool good = set_input(p, 0, which, e) && total(p, &up, e);
    *v = was - h;
    good = good && set_input(p, 0, which, e) && total(p, &down, e);
    *v = was;
    if (!good || !set_input(p, 0, which, e))
        return false;
    const double want = (up - down) / (2 * h), got = said(p, k, slope, i);
    p->worst = fmax(p->worst, fabs(got - want) / fmax(1, fabs(got) + fabs(want)));
    return true;
}

static bool check(problem *p, ts_error *e)
{
    for (int k = 0; k < p->n_slope; k++) {
        ts_array slope;
        if (p->moves[k] < 0)
            continue;
        const int64_t n = ts_array_count(&p->given[p->moves[k]].value);
        if (!ts_plan_get(p->plan[1], k, &slope, e))
            return false;
        for (int64_t i = 0; i < n && i < 16; i++)
            if (!check_one(p, k, &slope, i * (n - 1) / 15 % n, e))
                return ts_array_free(&slope), false;
        ts_array_free(&slope);
    }
    double unused;
    return total(p, &unused, e);
}

/* ---- files as ADBench writes them: one number a line, 17 digits ---- */
static bool write_plan(const problem *p, int k, const char *path, ts_error *e)
{
    char *words = NULL;
    size_t size;
    FILE *f = open_memstream(&words, &size);
    bool good = f != NULL;
    for (int i = 0; i < (k ? p->n_slope : p->n_value) && good; i++) {
        ts_array a;
        if (!(good = ts_plan_get(p->plan[k], i, &a, e)))
            break;
        for (int64_t j = 0; j < ts_array_count(&a); j++)
            fprintf(f, "%.17g\n", ts_array_at(&a, j));
        ts_array_free(&a);
    }
    if (f)
        fclose(f);
    good = good && ts_file_write(path, words, size, e);
    return free(words), good;
}

static bool write_files(const problem *p, const char *folder, ts_error *e)
{
    char path[4096], words[80];
    const char *slash = strrchr(p->file, '/'), *base = slash ? slash + 1 : p->file;
    const int n = (int)strcspn(base, ".");
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%.*s_%c_Tessera.txt", folder, n, base, "FJ"[k]);
        if (!write_plan(p, k, path, e))
            return false;
    }
    snprintf(path, sizeof path, "%s/%.*s_times_Tessera.txt", folder, n, base);
    snprintf(words, sizeof words, "%.17g %.17g\n", p->time[0], p->time[1]);
    return ts_file_write(path, words, strlen(words), e);
}

/* ---- the verb ---- */
static void show(const problem *p, const args *a)
{
    if (!a->console.json) {
        printf("objective %.17g\nobjective takes %.3g s, derivative %.3g s: %.2f times\n", p->first, p->time[0],
               p->time[1], p->time[1] / p->time[0]);
        printf("derivative against differences: %.2g\n", p->worst);
        return;
    }
    cJSON *root = reply_make("adbench/1");
    js_number(root, "objective", p->first);
    js_number(root, "objective_seconds", p->time[0]), js_number(root, "derivative_seconds", p->time[1]);
    js_number(root, "difference", p->worst);
    reply_print(root);
    cJSON_Delete(root);
}

static bool work(problem *p, const args *a, ts_error *e)
{
    const ts_options o = session_options(a);
    const double least = args_number(a, "min-time", 0.5);
    const char *folder = args_text(a, "out", NULL);
    p->file = args_noun(a, 0);
    p->at = p->text = outfile_read(p->file, LONGEST, e);
    return p->text && (strcmp(a->form, "gmm") ? make_ba(p, e) : make_gmm(p, e)) && make_plans(p, &o, e) &&
           measure(p, 0, least, e) && measure(p, 1, least, e) && check(p, e) && (!folder || write_files(p, folder, e));
}

static int run(const args *a, ts_error *e)
{
    problem p = {.n_given = 0};
    const bool good = work(&p, a, e);
    if (good)
        show(&p, a);
    for (int k = 0; k < 2; k++)
        ts_plan_free(p.plan[k]);
    for (int i = 0; i < p.n_given; i++)
        ts_array_free(&p.given[i].value);
    ts_model_free(p.model);
    free(p.text);
    return !good || p.worst <= 1e-4 ? TS_OK : TS_FAILED;
}

static const option options[] = {
    {"min-time", 0, SECONDS, "TIME", "least time of a sample (default: 500ms)", false, 0, 0},
    {"out", 'o', A_FOLDER, "DIR", "where to write values, derivatives and times as ADBench does", false, 0, 0},
    {0},
};
static const option_group group = {"Options", options};
static const option_group *const groups[] = {&group, &session_plan_options, NULL};
static const char *const examples[] = {
    "tessera adbench gmm gmm_d10_K25.txt --threads 1",
    "tessera adbench ba ba1_n49_m7776_p31843.txt --json",
    NULL,
};

const verb verb_adbench = {
    .name = "adbench",
    .brief = "Time objectives of ADBench and their derivatives",
    .usage = "gmm FILE\nba FILE",
    .groups = groups,
    .examples = examples,
    .details =
        "Runs are repeated until a sample takes --min-time; the shortest of up to ten samples counts. Exits with 1 "
        "where the derivative differs from differences by more than 1e-4.",
    .run = run,
};
