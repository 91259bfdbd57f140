/* table.c - results/1 and comparison/1 as people see them: what was measured where, a row each, verdicts, notes. */
#include "bench/bench.h"
#include "bench/cell.h"
#include "bench/report/outcome.h"
#include "graph/base/base.h"
#include "graph/base/err.h"
#include "graph/base/formats.h"
#include "graph/base/js.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct table {
    FILE *f;
    const bench_view *view;
} table;

/* Colours of the terminal's own palette: a person's choice of them is kept. */
static const char *tint(const table *t, const char *word)
{
    static const struct {
        const char *word, *code;
    } tints[] = {{"INVALID", "\033[31m"}, {"ABSENT", "\033[33m"}, {"VALID", "\033[32m"},
                 {"quiet", "\033[32m"},   {"busy", "\033[33m"},   {"unusable", "\033[31m"}};
    static const char *const decided[] = {
        [FASTER] = "\033[32m", [SLOWER] = "\033[31m", [SAME] = "\033[36m", [UNDECIDED] = "\033[33m"};
    const outcome is = outcome_read(word);
    if (t->view->colour && is != NO_VERDICT)
        return decided[is];
    for (size_t i = 0; t->view->colour && i < sizeof tints / sizeof *tints; i++)
        if (strcmp(word, tints[i].word) == 0)
            return tints[i].code;
    return "";
}

static void put_word(const table *t, const char *word)
{
    const char *code = tint(t, word);
    fprintf(t->f, "%s%s%s", code, word, *code != 0 ? "\033[0m" : "");
}

/* Names come from files: what would move the cursor is shown, not sent. */
static void put_name(const table *t, const char *s)
{
    char *safe = cell_text(s, 0);
    fputs(safe ? safe : "?", t->f);
    free(safe);
}

/* ---- the first line: model and machine ---- */

static void put_heading(const table *t, const cJSON *v)
{
    const cJSON *dim;
    put_name(t, js_get_text(v, "model/name"));
    cJSON_ArrayForEach(dim, js_get(v, "model/dims"))
    {
        fputs("  ", t->f);
        put_name(t, cJSON_GetStringValue(dim));
    }
    int threads = (int)js_get_number(v, "environment/threads", 0);
    fprintf(t->f, "   %d thread%s (", threads, threads == 1 ? "" : "s");
    put_name(t, js_get_text(v, "environment/cpu"));
    fputs(", ", t->f);
    put_name(t, js_get_text(v, "environment/isa"));
    fprintf(t->f, ")   peak %s GFLOP/s f32, %s GB/s (%s)\n",
            cell_number(js_get_number(v, "ceilings/fma_f32_gflops", NAN)).s,
            cell_number(js_get_number(v, "ceilings/read_gbs", NAN)).s,
            js_get_flag(v, "ceilings/stated") ? "as the device states" : "probed");
}

/* ---- rows ---- */

enum { COLUMNS = 8, NAME_LEAST = 8 }; /* of the table; the least width of names */
static const char *const heads[COLUMNS] = {"contestant", "median", "95% CI", "p90",
                                           "GFLOP/s",    "peak",   "memory", "status"};

typedef struct row {
    char *cell[COLUMNS]; /* each of its own */
    const char *reason;
} row;

static char *own(const char *s)
{
    char *copy = strdup(s);
    return copy ? copy : calloc(1, 1);
}

/* The rate is of the model's arithmetic as the first candidate's plan counts it: the same work for everybody. */
static row row_of(const cJSON *c, double flops, double peak)
{
    row r = {.reason = js_get_text(c, "reason")};
    double ns = js_get_number(c, "stats/median_ns", NAN);
    char interval[72];
    snprintf(interval, sizeof interval, "%s \xE2\x80\xA6 %s", cell_time(js_get_number(c, "stats/low_ns", NAN)).s,
             cell_time(js_get_number(c, "stats/high_ns", NAN)).s);
    r.cell[0] = cell_text(js_get_text(c, "name"), 0);
    r.cell[1] = own(cell_time(ns).s);
    r.cell[2] = own(isfinite(ns) ? interval : "-");
    r.cell[3] = own(cell_time(js_get_number(c, "stats/p90_ns", NAN)).s);
    r.cell[4] = own(cell_number(flops > 0 ? flops / ns : NAN).s);
    r.cell[5] = own(cell_share(flops > 0 ? flops / ns / peak : NAN).s);
    r.cell[6] = own(cell_bytes(js_get_number(c, "memory/peak_bytes", NAN)).s);
    r.cell[7] = own(js_get_text(c, "status"));
    return r;
}

/* Columns that names may take where the terminal is narrow; 0 wide means no terminal, and no limit. */
static int cell_limit(const table *t, const int *width)
{
    int others = 0;
    for (int k = 1; k < COLUMNS; k++)
        others += width[k] + 2;
    int left = t->view->width - others;
    return t->view->width == 0 || width[0] <= left ? width[0] : left > NAME_LEAST ? left : NAME_LEAST;
}

static void put_row(const table *t, char *const *cell, const int *width)
{
    char *name = cell_text(cell[0], width[0]);
    cell_put(t->f, name ? name : "", width[0], 0);
    free(name);
    for (int k = 1; k + 1 < COLUMNS; k++) {
        fputs("  ", t->f);
        cell_put(t->f, cell[k], width[k], 1);
    }
    fputs("  ", t->f);
    put_word(t, cell[COLUMNS - 1]);
    fputc('\n', t->f);
}

/* Each column as wide as its widest cell. */
static void put_rows(const table *t, row *rows, int n)
{
    int width[COLUMNS];
    for (int k = 0; k < COLUMNS; k++) {
        width[k] = cell_width(heads[k]);
        for (int i = 0; i < n; i++)
            width[k] = cell_width(rows[i].cell[k]) > width[k] ? cell_width(rows[i].cell[k]) : width[k];
    }
    width[0] = cell_limit(t, width);
    put_row(t, (char *const *)heads, width);
    for (int i = 0; i < n; i++) {
        put_row(t, rows[i].cell, width);
        if (*rows[i].reason != 0) {
            fputs("  ", t->f);
            put_name(t, rows[i].reason);
            fputc('\n', t->f);
        }
    }
}

/* Candidates, then peers, in the order of the command line. */
static void put_contestants(const table *t, const cJSON *v)
{
    const cJSON *lists[] = {js_get(v, "candidates"), js_get(v, "peers")}, *c;
    int most = cJSON_GetArraySize(lists[0]) + cJSON_GetArraySize(lists[1]), n = 0;
    row *rows = calloc((size_t)most + 1, sizeof *rows);
    double flops = 0, peak = js_get_number(v, "ceilings/fma_f32_gflops", NAN);
    cJSON_ArrayForEach(c, lists[0]) flops = flops > 0 ? flops : js_get_number(c, "flops", 0);
    for (int i = 0; i < 2 && rows; i++)
        cJSON_ArrayForEach(c, lists[i]) rows[n++] = row_of(c, flops, peak);
    if (rows)
        put_rows(t, rows, n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < COLUMNS; k++)
            free(rows[i].cell[k]);
    free(rows);
}

/* ---- verdicts ---- */

/* The ratio is of times, b over a: above 1 where a is faster. */
static void put_verdict(const table *t, const cJSON *c)
{
    int launches = (int)js_get_number(c, "launches", 0), pairs = (int)js_get_number(c, "pairs", 0);
    put_name(t, js_get_text(c, "a"));
    fputs(" vs ", t->f);
    put_name(t, js_get_text(c, "b"));
    fputs(": ", t->f);
    put_word(t, js_get_text(c, "verdict"));
    if (isnan(js_get_number(c, "ratio", NAN))) {
        fputs(", no samples count\n", t->f);
        return;
    }
    fprintf(t->f, " %.3fx (99%% CI %.3f \xE2\x80\xA6 %.3f), %d launch%s, %d pairs, detectable >= %.1f%%\n",
            js_get_number(c, "ratio", NAN), js_get_number(c, "low", NAN), js_get_number(c, "high", NAN), launches,
            launches == 1 ? "" : "es", pairs, 100 * js_get_number(c, "detectable", NAN));
}

/* Nanoseconds of the kernels whose `key` is `value`. */
static double time_in(const cJSON *c, const char *key, const char *value)
{
    const cJSON *k;
    double sum = 0;
    cJSON_ArrayForEach(k, js_get(c, "kernels"))
    {
        double ns = js_get_number(k, "median_ns", NAN);
        sum += strcmp(js_get_text(k, key), value) == 0 && isfinite(ns) ? ns : 0;
    }
    return sum;
}

/* Where the difference comes from: the operation with the largest part of it. Only what both were profiled for. */
static void put_reason(const table *t, const cJSON *v, const cJSON *comparison)
{
    const cJSON *all = js_get(v, "candidates"), *k;
    const cJSON *a = js_find(all, "name", js_get_text(comparison, "a"));
    const cJSON *b = js_find(all, "name", js_get_text(comparison, "b"));
    double whole = js_get_number(b, "stats/median_ns", NAN) - js_get_number(a, "stats/median_ns", NAN), most = 0;
    const outcome is = outcome_read(js_get_text(comparison, "verdict"));
    const char *where = NULL;
    if (!a || !b || (is != FASTER && is != SLOWER))
        return;
    cJSON_ArrayForEach(k, js_get(a, "kernels"))
    {
        const char *op = js_get_text(k, "op");
        double part = (time_in(b, "op", op) - time_in(a, "op", op)) / whole;
        if (isfinite(part) && part > most) {
            most = part;
            where = op;
        }
    }
    if (!where || most < 0.05)
        return;
    fprintf(t->f, "  %s of the difference is in \"", most > 1 ? "more than all" : cell_share(most).s);
    put_name(t, where);
    fprintf(t->f, "\": %s against %s\n", cell_time(time_in(a, "op", where)).s, cell_time(time_in(b, "op", where)).s);
}

static void put_notes(const table *t, const cJSON *v)
{
    const cJSON *n;
    if (t->view->quiet)
        return;
    cJSON_ArrayForEach(n, js_get(v, "notes"))
    {
        fputs("note: ", t->f);
        put_name(t, cJSON_IsString(n) ? n->valuestring : "");
        fputc('\n', t->f);
    }
}

/* What the machine was like: before the verdicts, which stand on it. */
static void put_state(const table *t, const cJSON *v)
{
    const cJSON *m = js_get(v, "machine_state");
    if (!m)
        return;
    fputs("machine: ", t->f);
    put_word(t, js_get_text(m, "state"));
    fprintf(t->f, ", %.0f of %.0f rounds count\n", js_get_number(m, "counted_rounds", 0),
            js_get_number(m, "rounds", 0));
}

/* From what was done to what follows from it. */
static void put_results(const table *t, const cJSON *v)
{
    const cJSON *c;
    put_heading(t, v);
    put_contestants(t, v);
    put_state(t, v);
    cJSON_ArrayForEach(c, js_get(v, "comparisons"))
    {
        put_verdict(t, c);
        put_reason(t, v, c);
    }
    put_notes(t, v);
}

/* First what else differs between the two files: a verdict over two machines says little. */
static void put_comparison(const table *t, const cJSON *v)
{
    const cJSON *c;
    cJSON_ArrayForEach(c, js_get(v, "differences"))
    {
        fputs("differs: ", t->f);
        put_name(t, js_get_text(c, "key"));
        fputs(": ", t->f);
        put_name(t, js_get_text(c, "before"));
        fputs(" before, ", t->f);
        put_name(t, js_get_text(c, "after"));
        fputs(" after\n", t->f);
    }
    cJSON_ArrayForEach(c, js_get(v, "comparisons"))
    {
        put_verdict(t, c);
        if (*js_get_text(c, "reason") != 0) {
            fputs("  ", t->f);
            put_name(t, js_get_text(c, "reason"));
            fputc('\n', t->f);
        }
    }
    put_notes(t, v);
}

/* For free(). Any file of the two formats, of whatever version of the tool. */
char *bench_table_text(const char *results, const bench_view *view, ts_error *e)
{
    static const bench_view plain = {0};
    static const struct {
        const char *format;
        void (*put)(const table *t, const cJSON *v);
    } forms[] = {{FORMAT_RESULTS, put_results}, {FORMAT_COMPARISON, put_comparison}};
    cJSON *v = js_parse(results, "results", e);
    char *shown = NULL;
    size_t size = 0;
    for (size_t i = 0; v && i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(js_get_text(v, "format"), forms[i].format) != 0)
            continue;
        table t = {open_memstream(&shown, &size), view ? view : &plain};
        if (!t.f)
            break;
        forms[i].put(&t, v);
        fclose(t.f);
    }
    if (v && !shown) {
        text safe = {0};
        text_safe(&safe, js_get_text(v, "format"));
        err_set(e, TS_BAD_INPUT,
                "results: \"format\" is \"%.40s\", " FORMAT_RESULTS " or " FORMAT_COMPARISON " expected",
                text_str(&safe));
        err_hint(e, "give a file that tessera bench wrote with -o, or what compare --json printed");
        text_free(&safe);
    }
    cJSON_Delete(v);
    return shown;
}
