/* data.c - a document is read once into plain records; what is missing or of a wrong kind becomes NAN or "" here, so
 * that no section need ask again. */
#include "bench/report/page.h"
#include "bench/report/proportion.h"
#include "bench/report/report.h"
#include "graph/base/formats.h"
#include "graph/base/stats.h"

#include <math.h>
#include <string.h>

void report_free(report *r)
{
    arena_free(&r->mem);
    cJSON_Delete(r->view), cJSON_Delete(r->root);
    locale_t points = uselocale(r->before);
    if (points != LC_GLOBAL_LOCALE && points != r->before)
        freelocale(points);
    *r = (report){0};
}

double result_number(const cJSON *object, const char *key)
{
    double v = js_get_number(object, key, (double)NAN);
    return isfinite(v) ? v : (double)NAN;
}

/* 0 for what is no list, whatever else a file has there. */
static int count_of(const cJSON *list)
{
    return cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
}

/* Room for what a list says; NULL where it says nothing. */
static void *room_for(report *r, const cJSON *list, size_t size)
{
    const int n = count_of(list);
    return n ? arena_array(&r->mem, (size_t)n, size) : NULL;
}

/* Whether an item is one more of those that are shown; what comes after the most of them is counted. */
static bool is_shown(report *r, const cJSON *item, int n, int most)
{
    if (!cJSON_IsObject(item))
        return false;
    r->n_left += n == most;
    return n < most;
}

/* ---- one contestant ---- */

/* Samples that were set aside are counted, not kept. A flag was a number or a text in older files. */
static launch launch_read(report *r, const cJSON *list)
{
    size_t n = (size_t)count_of(list);
    launch l = {0, arena_array(&r->mem, n, sizeof(double)), arena_array(&r->mem, n, sizeof(double)),
                arena_array(&r->mem, n, sizeof(bool)), 0};
    const cJSON *s;
    if (!n)
        return l;
    cJSON_ArrayForEach(s, list)
    {
        if (!cJSON_IsObject(s) || !(result_number(s, "ns") >= 0))
            continue;
        const cJSON *flags = cJSON_GetObjectItemCaseSensitive(s, "flags");
        if (js_find(flags, NULL, "set_aside")) { /* the verdicts do not stand on it, so the charts leave it out */
            l.aside++;
            continue;
        }
        l.ns[l.n] = js_get_number(s, "own_ns", result_number(s, "ns"));
        l.canary[l.n] = result_number(s, "canary_ns");
        l.flagged[l.n++] = count_of(flags) > 0 || result_number(s, "flags") > 0 || *js_get_text(s, "flags");
    }
    return l;
}

/* sorted: samples of all launches, in ns, ascending. */
static void samples_read(report *r, contestant *c)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(c->json, "samples"), *l;
    if (!(c->launches = room_for(r, list, sizeof *c->launches)))
        return;
    cJSON_ArrayForEach(l, list)
    {
        launch got = launch_read(r, l);
        if (got.n)
            c->launches[c->n_launch++] = got;
        c->n_sample += got.n;
        c->n_aside += got.aside;
    }
    c->sorted = arena_array(&r->mem, (size_t)c->n_sample, sizeof(double));
    int at = 0;
    for (int i = 0; i < c->n_launch; i++)
        for (int k = 0; k < c->launches[i].n; k++) {
            c->n_flagged += c->launches[i].flagged[k];
            c->sorted[at++] = c->launches[i].ns[k];
        }
    stats_sort(c->sorted, c->n_sample);
}

static bool is_standing(const contestant *c) /* what is not has no times, whatever was sampled */
{
    return c->peer || !*c->status || !strcmp(c->status, "VALID");
}

/* Figures that a file leaves out are made from its samples. */
static void stats_read(contestant *c)
{
    const cJSON *s = cJSON_GetObjectItemCaseSensitive(c->json, "stats");
    c->stats = (stats){.n = result_number(s, "n"),
                       .min = result_number(s, "min_ns"),
                       .median = result_number(s, "median_ns"),
                       .p90 = result_number(s, "p90_ns"),
                       .low = result_number(s, "low_ns"),
                       .high = result_number(s, "high_ns")};
    if (!c->n_sample || !is_standing(c))
        return;
    if (isnan(c->stats.n))
        c->stats.n = c->n_sample;
    if (isnan(c->stats.min))
        c->stats.min = c->sorted[0];
    if (isnan(c->stats.median))
        c->stats.median = stats_quantile(c->sorted, c->n_sample, 0.5);
    if (isnan(c->stats.p90))
        c->stats.p90 = stats_quantile(c->sorted, c->n_sample, 0.9);
}

static void levels_read(report *r, kernel *k, const cJSON *list)
{
    const cJSON *l;
    if (!(k->levels = room_for(r, list, sizeof *k->levels)))
        return;
    cJSON_ArrayForEach(l, list)
    {
        if (!cJSON_IsObject(l))
            continue;
        k->levels[k->n_level++] = (level){js_get_text(l, "loop"), js_get_text(l, "level"), result_number(l, "trips"),
                                          result_number(l, "working_set"), result_number(l, "share")};
    }
}

/* People know a kernel by what the model calls it; its own name is a counter. */
static const char *known_as(const cJSON *k)
{
    const char *work = js_get_text(k, "work/label");
    if (*work)
        return work;
    const cJSON *label = js_get(k, "label");
    if (!label)
        return js_get_text(k, "name");
    return *js_get_text(k, "label") ? js_get_text(k, "label") : js_get_text(k, "op");
}

static void traffic_read(kernel *k, const cJSON *object)
{
    static const char *const into[] = {"L1", "L2", "L3"};
    for (int i = 0; i < 3; i++)
        k->traffic[i] = result_number(object, into[i]);
}

static tile tile_read(const cJSON *object)
{
    return (tile){.lanes = result_number(object, "lanes"),
                  .lanes_of = result_number(object, "lanes_of"),
                  .sums = result_number(object, "sums"),
                  .sums_of = result_number(object, "sums_of"),
                  .multiply_adds = result_number(object, "multiply_adds"),
                  .loads = result_number(object, "loads"),
                  .cores = result_number(object, "cores")};
}

/* Lists of objects with the same texts under the keys given. */
static bool same_lists(const cJSON *a, const cJSON *b, const char *const *keys)
{
    const cJSON *x = a ? a->child : NULL, *y = b ? b->child : NULL;
    for (; x && y; x = x->next, y = y->next)
        for (int i = 0; keys[i]; i++)
            if (strcmp(js_get_text(x, keys[i]), js_get_text(y, keys[i])) != 0)
                return false;
    return !x && !y;
}

bool kernel_same(const kernel *a, const kernel *b)
{
    static const char *const stage[] = {"name", "loops", NULL}, *const operand[] = {"operand", "type", "layout", NULL};
    return *a->loops && !strcmp(a->loops, b->loops) &&
           !strcmp(js_get_text(a->json, "derived"), js_get_text(b->json, "derived")) &&
           same_lists(js_get(a->json, "stages"), js_get(b->json, "stages"), stage) &&
           same_lists(js_get(a->json, "operands"), js_get(b->json, "operands"), operand);
}

/* gap_ns: what a pass takes beside its kernels, which are timed one by one; negative where the sum is a bit more. */
static void kernels_read(report *r, contestant *c)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(c->json, "kernels"), *k;
    c->kernel_ns = c->gap_ns = (double)NAN;
    if (!(c->kernels = room_for(r, list, sizeof *c->kernels)))
        return;
    const double scale = kernels_scale(c->json);
    double sum = 0;
    cJSON_ArrayForEach(k, list)
    {
        if (!cJSON_IsObject(k))
            continue;
        kernel *out = &c->kernels[c->n_kernel++];
        *out = (kernel){.name = known_as(k),
                        .op = js_get_text(k, js_get(k, "work") ? "work/operation" : "op"),
                        .by = js_get_text(k, "work/by"),
                        .work = js_get_number(k, "work/flops", result_number(k, "flops")),
                        .rule = js_get_text(k, "rule"),
                        .loops = js_get_text(k, "loops"),
                        .dtype = js_get_text(k, "dtype"),
                        .bound = js_get_text(k, "bound"),
                        .calls = result_number(k, "calls"),
                        .ns = result_number(k, "median_ns") * scale,
                        .flops = result_number(k, "flops"),
                        .bytes = result_number(k, "bytes"),
                        .peak_share = result_number(k, "peak_share"),
                        .waste = result_number(k, "tail_waste"),
                        .tile = tile_read(cJSON_GetObjectItemCaseSensitive(k, "tile")),
                        .guessed = js_get_flag(k, "guessed"),
                        .json = k,
                        .notes = cJSON_GetObjectItemCaseSensitive(k, "notes")};
        levels_read(r, out, cJSON_GetObjectItemCaseSensitive(k, "levels"));
        traffic_read(out, cJSON_GetObjectItemCaseSensitive(k, "traffic"));
        c->n_guessed += out->guessed;
        if (out->ns > 0)
            sum += out->ns;
    }
    if (sum <= 0)
        return;
    c->kernel_ns = sum;
    c->timed_share = sum / scale / c->stats.median;
    c->gap_ns = scale < 1 ? 0 : c->stats.median - sum;
}

/* A buffer that ends before it begins would be drawn backwards: it is left out. */
static void memory_read(report *r, contestant *c)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(c->json, "memory"), *b;
    c->peak_bytes = result_number(m, "peak_bytes");
    c->arena_bytes = result_number(m, "arena_bytes");
    c->lower_bound_bytes = result_number(m, "lower_bound_bytes");
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(m, "buffers");
    if (!(c->buffers = room_for(r, list, sizeof *c->buffers)))
        return;
    cJSON_ArrayForEach(b, list)
    {
        buffer got = {js_get_text(b, "name"), result_number(b, "bytes"), result_number(b, "offset"),
                      result_number(b, "first"), result_number(b, "last")};
        if (got.bytes >= 0 && got.offset >= 0 && got.first >= 0 && got.last >= got.first)
            c->buffers[c->n_buffer++] = got;
    }
}

static void contestants_read(report *r, const char *key, bool peer)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(r->root, key))
    {
        if (!is_shown(r, item, r->n, MAX_CONTESTANTS))
            continue;
        contestant *c = &r->of[r->n++];
        const cJSON *numerics = cJSON_GetObjectItemCaseSensitive(item, "numerics");
        *c = (contestant){.name = js_get_text(item, "name"),
                          .status = js_get_text(item, "status"),
                          .reason = js_get_text(item, "reason"),
                          .version = js_get_text(item, "version"),
                          .peer = peer,
                          .max_abs = result_number(numerics, "max_abs"),
                          .max_rel = result_number(numerics, "max_rel"),
                          .tolerance = result_number(numerics, "tolerance"),
                          .json = item};
        samples_read(r, c);
        stats_read(c);
        kernels_read(r, c);
        memory_read(r, c);
        c->valid = c->stats.median > 0 && is_standing(c);
    }
}

/* ---- comparisons and the pair to explain ---- */

static int find(const report *r, const char *name)
{
    for (int i = 0; i < r->n; i++)
        if (!strcmp(r->of[i].name, name))
            return i;
    return -1;
}

/* ia, ib: contestants of these names, or -1 where none is shown. */
static void comparisons_read(report *r)
{
    const cJSON *c;
    double threshold = result_number(r->config, "threshold");
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(r->root, "comparisons"))
    {
        if (!is_shown(r, c, r->n_comparison, MAX_COMPARISONS))
            continue;
        pairing *out = &r->comparisons[r->n_comparison++];
        *out = (pairing){.a = js_get_text(c, "a"),
                         .b = js_get_text(c, "b"),
                         .word = js_get_text(c, "verdict"),
                         .ratio = result_number(c, "ratio"),
                         .low = result_number(c, "low"),
                         .high = result_number(c, "high"),
                         .detectable = result_number(c, "detectable"),
                         .a_error = result_number(c, "a_error"),
                         .b_error = result_number(c, "b_error"),
                         .threshold = result_number(c, "threshold")};
        out->ia = find(r, out->a);
        out->ib = find(r, out->b);
        if (isnan(out->threshold))
            out->threshold = threshold > 0 ? threshold : USUAL_THRESHOLD;
    }
}

const char *report_model(const report *r)
{
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(r->root, "model");
    const char *name = cJSON_IsString(model) ? cJSON_GetStringValue(model) : js_get_text(model, "name");
    if (!*name)
        name = js_get_text(r->config, "model");
    return *name ? path_name(name) : "a model";
}

/* Files called model.onnx are known by their folder. */
const char *path_name(const char *path)
{
    const char *last = path, *before = path;
    for (const char *c = path; *c; c++)
        if (*c == '/' && c[1] && c[1] != '/')
            before = last, last = c + 1;
    return strncmp(last, "model.", 6) != 0 ? last : before;
}

/* In GFLOP/s, of the dtype that the winner computes with. */
double report_peak(const report *r)
{
    bool f64 = r->best >= 0 && r->of[r->best].n_kernel && !strcmp(r->of[r->best].kernels[0].dtype, "f64");
    return result_number(r->ceilings, f64 ? "fma_f64_gflops" : "fma_f32_gflops");
}

const char *report_source(const report *r)
{
    return js_get_flag(r->ceilings, "stated") ? "stated" : "probed";
}

/* Ours only: peers are compared with, they are not candidates. */
static int fastest(const report *r)
{
    int best = -1;
    for (int i = 0; i < r->n; i++)
        if (!r->of[i].peer && r->of[i].valid && (best < 0 || r->of[i].stats.median < r->of[best].stats.median))
            best = i;
    return best;
}

/* The best is always charted: it changes places with the last charted one. */
static void best_find(report *r)
{
    r->best = fastest(r);
    if (r->best < r->charted)
        return;
    contestant moved = r->of[r->best];
    r->of[r->best] = r->of[r->charted - 1];
    r->of[r->charted - 1] = moved;
    r->best = r->charted - 1;
}

/* The winner against the next best: if that is sure, so is the rest. */
static void pair_choose(report *r)
{
    int next = -1;
    r->fast = r->slow = -1;
    for (int i = 0; i < r->charted && r->best >= 0; i++) {
        if (i == r->best || r->of[i].peer || !r->of[i].valid)
            continue;
        if (next < 0 || r->of[i].stats.median < r->of[next].stats.median)
            next = i;
    }
    if (next < 0)
        return;
    r->fast = r->best;
    r->slow = next;
    for (int i = 0; i < r->n_comparison && !r->match; i++) {
        const pairing *c = &r->comparisons[i];
        if ((c->ia == r->fast && c->ib == r->slow) || (c->ia == r->slow && c->ib == r->fast))
            r->match = c;
    }
}

static bool format_known(const report *r, ts_error *e)
{
    ENDED_BY(text_free) text shown = {0};
    const char *format = js_get_text(r->root, "format");
    if (!strcmp(format, FORMAT_RESULTS) || !strcmp(format, FORMAT_STEP))
        return true;
    html_plain(&shown, format);
    if (*format)
        err_set(e, TS_BAD_INPUT,
                "the results have format \"%.60s\"; this version reads " FORMAT_RESULTS " and " FORMAT_STEP,
                text_str(&shown));
    else
        err_set(e, TS_BAD_INPUT,
                "the results have no \"format\", \"" FORMAT_RESULTS "\" or \"" FORMAT_STEP "\" expected");
    return err_hint(e, "give a file that tessera bench wrote with -o");
}

/* Numbers are written with a point, whatever locale the program runs in; report_free puts that back. */
bool report_read(report *r, const char *results_json, ts_error *e)
{
    locale_t points = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *r = (report){.before = uselocale(points)};
    r->root = js_parse(results_json, "the results", e);
    if (!r->root || !format_known(r, e)) {
        report_free(r);
        return false;
    }
    r->environment = cJSON_GetObjectItemCaseSensitive(r->root, "environment");
    r->ceilings = cJSON_GetObjectItemCaseSensitive(r->root, "ceilings");
    r->config = cJSON_GetObjectItemCaseSensitive(r->root, "config");
    contestants_read(r, "candidates", false);
    contestants_read(r, "peers", true);
    r->charted = r->n < MAX_CHARTED ? r->n : MAX_CHARTED;
    best_find(r);
    comparisons_read(r);
    pair_choose(r);
    report_kinds(r);
    for (int i = 0; i < r->n; i++)
        r->of[i].mark = mark_make(r, i);
    for (int i = 0; i < r->n_kind; i++)
        r->kinds[i].shown = kind_make(r, &r->kinds[i]);
    r->view = view_make(r);
    return true;
}
