/* adbench.c - tessera adbench: problems of ADBench, values and derivatives, checked and timed by its rules. */
#include "cli/say.h"
#include "cli/session.h"
#include "cli/trial.h"
#include "cli/value.h"
#include "graph/base/suggest.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From differences, from somebody else's numbers: ADBench's own bounds. In f32 sums of many terms that cancel keep some
 * two digits (a gradient of gmm by a measure that is absolute below 1). */
static const double far = 1e-4, wrong = 1e-8, far_single = 1e-2;

enum { SAMPLES = 10, LIMIT = 10 }; /* of each: at most so many, and so many seconds */

/* ---- which one ---- */
static void list_all(const args *a)
{
    cJSON *root = reply_make("objectives/1"), *list = js_array(root, "objectives");
    for (const objective *const *o = objectives; *o; o++)
        js_row(list, "name:%s,brief:%s,file:%s,sizes:%s", (*o)->name, (*o)->brief, (*o)->file, (*o)->sizes);
    reply_give(a, root, "[objectives*{name:%-10s}{brief}\n          file: {file}\n          without one: {sizes}\n]");
}

static const objective *find(const char *name, ts_error *e)
{
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    const objective *found = NULL;
    for (const objective *const *o = objectives; *o && !found; o++) {
        found = strcmp((*o)->name, name) ? NULL : *o;
        suggest_offer(&near, (*o)->name);
    }
    if (!found)
        err_set(e, TS_USAGE, "adbench does not know \"%s\"", name), suggest_hint(&near, "known are", e);
    return found;
}

/* --dim NAME=N of a problem that is made */
static bool set_size(problem *p, const char *pair, ts_error *e)
{
    const size_t n = strcspn(pair, "=");
    const char *s = p->of->sizes;
    for (int i = 0; *s && i < OBJECTIVE_SIZES; i++) {
        if (strncmp(s, pair, n + 1)) {
            s += strcspn(s, " "), s += strspn(s, " ");
            continue;
        }
        char *end;
        p->size[i] = strtoll(pair + n + 1, &end, 10);
        if (end == pair + n + 1 || *end || p->size[i] < 1 || p->size[i] > 100000000) {
            err_set(e, TS_USAGE, "--dim \"%s\": the size of %.*s must be a whole number from 1 to 1e8", pair, (int)n,
                    pair);
            return false;
        }
        return true;
    }
    err_set(e, TS_USAGE, "--dim \"%s\": %s has no size \"%.*s\"", pair, p->of->name, (int)n, pair);
    return err_hint(e, "its sizes are %s", p->of->sizes);
}

static bool set_sizes(problem *p, const args *a, ts_error *e)
{
    if (p->file && args_count(a, "dim")) {
        err_set(e, TS_USAGE, "adbench %s: --dim is of problems that are made, %s has sizes of its own", p->of->name,
                p->file);
        return err_hint(e, "leave FILE out, or --dim");
    }
    for (int i = 0; i < args_count(a, "dim"); i++)
        if (!set_size(p, args_at(a, "dim", i), e))
            return false;
    return true;
}

/* ---- what came out ---- */
static void show(const trial *t, const args *a)
{
    static const char form[] =
        "objective {objective:%.17g}\nobjective takes {objective_seconds:%.3g} s, derivative with it "
        "{derivative_seconds:%.3g} s: {ratio:%.2f} times\n"
        "[against?library takes {against/objective_seconds:%.3g} s and {against/derivative_seconds:%.3g} s: "
        "{against/objective_ratio:%.2f} and {against/derivative_ratio:%.2f} times ours\n"
        "derivative against library: {against/difference:%.2g}\n]"
        "[reference?derivative against reference: {reference:%.2g}\n]"
        "derivative against differences: {difference:%.2g}\n";
    cJSON *root = reply_make("adbench/1");
    js_put(root, "name:%s,precision:%s,objective:%g,objective_seconds:%g,derivative_seconds:%g,ratio:%g,difference:%g",
           t->p.of->name, t->p.single ? "f32" : "f64", t->first, t->time[0], t->time[1], t->time[1] / t->time[0],
           t->difference);
    if (!isnan(t->reference))
        js_number(root, "reference", t->reference);
    if (t->library)
        js_put(js_object(root, "against"),
               "objective_seconds:%g,derivative_seconds:%g,objective_ratio:%g,derivative_ratio:%g,difference:%g",
               t->other_time[0], t->other_time[1], t->other_time[0] / t->time[0], t->other_time[1] / t->time[1],
               t->other);
    reply_give(a, root, form);
}

/* ---- the verb ---- */
typedef struct asked {
    char name[32];      /* of the objective */
    const char *folder; /* of files; or NULL */
    trial_limits by;
} asked;

static bool read_runs(const args *a, int i, const char *what, int *out, ts_error *e)
{
    int64_t n;
    const bool ok = value_integer(args_noun(a, i), &n) && n >= 1 && n <= 1000000;
    *out = ok ? (int)n : 0;
    return ok || err_set(e, TS_USAGE, "adbench runner: %s \"%s\": must be a whole number from 1 to 1000000", what,
                         args_noun(a, i));
}

static bool read_time(const args *a, int i, const char *what, double *out, ts_error *e)
{
    return value_seconds(args_noun(a, i), out) ||
           err_set(e, TS_USAGE, "adbench runner: %s \"%s\": must be a time in seconds, as in 0.5", what,
                   args_noun(a, i));
}

/* As ADBench calls its runners: GMM MODULE FILE FOLDER TIME NF NJ LIMIT. Its names are ours, but for one. */
static bool read_runner(const args *a, asked *to, ts_error *e)
{
    static const char *const settled[] = {"min-time", "out", "dim", NULL};
    const char *test = args_noun(a, 0);
    for (size_t i = 0; i + 1 < sizeof to->name && test[i]; i++)
        to->name[i] = (char)tolower((unsigned char)test[i]);
    if (strcmp(to->name, "hand-complicated") == 0)
        snprintf(to->name, sizeof to->name, "hand-us");
    to->folder = args_noun(a, 3);
    return args_clash(a, settled, "adbench runner: ", " is said by the arguments", "leave it out", e) &&
           read_time(a, 4, "TIME", &to->by.least, e) && read_runs(a, 5, "NF", &to->by.samples[0], e) &&
           read_runs(a, 6, "NJ", &to->by.samples[1], e) && read_time(a, 7, "LIMIT", &to->by.most, e);
}

static bool work(trial *t, const args *a, const asked *w, ts_error *e)
{
    const ts_options o = session_options(a);
    const char *folder = w->folder, *library = args_text(a, "against");
    const char *reference = args_text(a, "reference");
    t->p.file = args_noun(a, *a->form ? 2 : 1);
    t->p.seed = (uint64_t)args_integer(a, "seed");
    t->p.single = !strcmp(args_text(a, "precision"), "f32");
    return set_sizes(&t->p, a, e) && trial_make(t, &o, e) && (!library || trial_against(t, library, e)) &&
           trial_measure(t, &w->by, e) && trial_check(t, e) && (!reference || trial_compare(t, reference, e)) &&
           (!folder || trial_write(t, folder, e));
}

static int run(const args *a, ts_error *e)
{
    if (!args_noun(a, 0))
        return list_all(a), TS_OK;
    asked w = {.folder = args_text(a, "out"), .by = {args_number(a, "min-time"), {SAMPLES, SAMPLES}, LIMIT}};
    if (!*a->form)
        snprintf(w.name, sizeof w.name, "%s", args_noun(a, 0));
    else if (!read_runner(a, &w, e))
        return e->code;
    trial t = {.p = {.of = find(w.name, e)}};
    if (!t.p.of)
        return e->code;
    const bool ok = work(&t, a, &w, e);
    if (ok)
        show(&t, a);
    const double most = t.p.single ? far_single : far, other = t.p.single ? far_single : wrong;
    const bool confirmed = t.reference <= other || t.other <= other; /* by more digits than differences have */
    const bool right = (t.difference <= most || confirmed) && !(t.reference > other) && !(t.other > other);
    trial_free(&t);
    return !ok || right ? TS_OK : TS_FAILED;
}

static const option options[] = {
    {"min-time", 0, SECONDS, "TIME", "least time of a sample", "500ms", false, 0, 0},
    {"dim", 0, PAIR, "NAME=N", "without FILE: a size of the generated problem; repeats", REPEATS},
    {"precision", 0, CHOICE, "f64|f32", "type of all reals; the numbers given are rounded to it", "f64", false, 0, 0},
    {"seed", 0, INTEGER, "N", "without FILE: seed of its numbers", "1", false, 0, INT64_MAX},
    {"reference", 0, A_FILE, "FILE", "derivatives as ADBench writes them, to compare with", ONCE},
    {"against", 0, A_FILE, "FILE", "a library that computes the same, timed in turns with ours", ONCE},
    {"out", 'o', A_FOLDER, "FOLDER", "where to write values, derivatives and times as ADBench does", ONCE},
    {0},
};

const verb verb_adbench = {
    .name = "adbench",
    .brief = "Check and time objectives of ADBench and their derivatives",
    .usage = "runner TEST MODULE FILE FOLDER TIME NF NJ LIMIT\n[OBJECTIVE] [FILE]",
    .own = {"Options", options, NULL},
    .groups = session_plan_groups,
    .examples = "tessera adbench # the objectives and what they read\n"
                "tessera adbench gmm gmm_d10_K25.txt --threads 1\n"
                "tessera adbench ba ba1_n49_m7776_p31843.txt --json -o results\n"
                "tessera adbench hand --dim n=1000 # of numbers from a seed\n"
                "tessera adbench gmm --precision f32\n"
                "tessera adbench runner GMM - gmm_d10_K25.txt out 0.5 10 10 60\n"
                "tessera adbench lstm lstm_l2_c1024.txt --against ./lstm.so --threads 1",
    .details =
        "Runs are repeated until a sample takes --min-time; the shortest of up to ten samples counts. A derivative is "
        "timed together with the values. Exits with 1 where it differs from --reference or --against by more than "
        "1e-8, or, where neither confirms it, from differences by more than 1e-4, by |x - y| / max(1, |x| + |y|); with "
        "--precision f32, where "
        "values "
        "for differences are still of f64, by more than 1e-2. tests/plainc/adbench has libraries "
        "in plain C, and compare.sh there builds them and prints all ratios.\n\nrunner takes the arguments of "
        "ADBench's own runners and writes its files: TIME is the least time of a sample, NF and NJ say of how "
        "many samples the shortest counts, LIMIT ends them; MODULE, which is another tool's, is passed over.",
    .run = run,
};
