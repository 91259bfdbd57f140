/* net_feed.c - what each input of a model is given, found out from its name, dtype and rank. */
#include "graph/base/base.h"
#include "train/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool net_is_integer(const ts_port *p)
{
    return p->dtype == TS_I64 || p->dtype == TS_I32;
}

feed_role net_role(const ts_port *p)
{
    return strstr(p->name, "mask")       ? FEED_MASK
           : strstr(p->name, "type")     ? FEED_TYPES
           : strstr(p->name, "position") ? FEED_POSITIONS
                                         : FEED_IDS;
}

static bool refuse_text(const ts_port *p, ts_error *e)
{
    err_set(e, TS_UNSUPPORTED, "input \"%s\" is %s of rank %d: text cannot fill it", p->name, ts_dtype_name(p->dtype),
            p->rank);
    return err_hint(e, "a model over text takes integers [batch, sequence]; give arrays as --data NAME=FILE.npy");
}

static bool is_empty(const ts_port *p)
{
    for (int i = 0; i < p->rank; i++)
        if (p->dim[i] == 0)
            return true;
    return false;
}

/* [batch, sequence]; masks may be reals. */
static bool text_feed(feed *f, ts_error *e)
{
    f->role = net_role(&f->port);
    if (f->port.rank == 2 && (net_is_integer(&f->port) || f->role == FEED_MASK))
        return true;
    f->role = FEED_EMPTY; /* as the past of a model that can go on, when there is none */
    for (int i = 0; i < f->port.rank; i++)
        if (f->port.dim[i] <= 0)
            return true; /* not known before it is bound */
    return refuse_text(&f->port, e);
}

static bool array_feed(feed *f, const data *d, ts_error *e)
{
    f->role = FEED_ARRAY;
    f->from = data_array(d, f->port.name);
    if (!d->n_array) /* no data at all: as the model has it */
        return true;
    if (!f->from) {
        err_set(e, TS_USAGE, "no array for input \"%s\" of the model", f->port.name);
        return err_hint(e, "--data %s=FILE.npy gives it", f->port.name);
    }
    if (f->from->dtype == f->port.dtype && f->from->rank == f->port.rank)
        return true;
    err_set(e, TS_BAD_INPUT, "array \"%s\" is %s of rank %d, the model's input is %s of rank %d", f->port.name,
            ts_dtype_name(f->from->dtype), f->from->rank, ts_dtype_name(f->port.dtype), f->port.rank);
    return err_hint(e, "convert it once, as with numpy's astype and reshape; its first axis walks the examples");
}

/* An array that nothing reads is a mistake of typing. */
static bool all_read(const net *n, const data *d, ts_error *e)
{
    ENDED_BY(text_free) text list = {0};
    for (int k = 0; k < n->n_feed; k++)
        text_add(&list, "%s%s", k ? ", " : "", n->feed[k].port.name);
    for (int i = 0; i < d->n_array; i++) {
        bool found = strcmp(d->name[i], "label") == 0;
        for (int k = 0; k < n->n_feed; k++)
            found |= strcmp(d->name[i], n->feed[k].port.name) == 0;
        if (found)
            continue;
        err_set(e, TS_USAGE, "the model has no input \"%s\"", d->name[i]);
        return err_hint(e, "its inputs are %s; label gives the labels", text_str(&list));
    }
    return true;
}

/* The shapes that the inputs are bound to. */
static ts_array shape_of(const net *n, const feed *f)
{
    ts_array a = {.dtype = f->port.dtype, .rank = f->port.rank};
    if (f->role == FEED_EMPTY || (f->role == FEED_ARRAY && !f->from))
        a.dtype = TS_N_DTYPE; /* as the model has it, or --dim says */
    else if (f->role == FEED_ARRAY)
        memcpy(a.dim, f->from->dim, sizeof a.dim);
    else
        a.dim[1] = n->length;
    a.dim[0] = n->rows;
    return a;
}

static bool bind(net *n, ts_error *e)
{
    ts_array shape[MOST_FEEDS] = {{0}};
    const char *dims[64];
    ENDED_BY(heap_free) char *own = NULL;
    const int n_dims = option_lines_make(n->asked->dims, COUNT(dims), dims, &own);
    for (int i = 0; i < n->n_feed; i++)
        shape[i] = shape_of(n, &n->feed[i]);
    return ts_model_bind(n->model, n_dims, dims, shape, e);
}

/* Whether it would, with texts of so many tokens; nothing is kept of it but the binding. */
static bool binds(net *n, int64_t length)
{
    ts_error none = {0};
    const int64_t was = n->length;
    n->length = length;
    const bool ok = bind(n, &none);
    n->length = was;
    return ok;
}

/* Where fewer tokens would do, it is the model's positions that are too few. */
static void tell_length(net *n, ts_error *e)
{
    int64_t ok = 1, bad = n->length;
    if (!binds(n, ok))
        return;
    while (bad - ok > 1) {
        const int64_t middle = ok + (bad - ok) / 2;
        if (binds(n, middle))
            ok = middle;
        else
            bad = middle;
    }
    *e = (ts_error){0};
    err_set(e, TS_BAD_INPUT, "--length %lld: the model has positions for %lld tokens", (long long)n->length,
            (long long)ok);
    err_hint(e, "say --length %lld; longer texts are cut then, and counted", (long long)ok);
}

/* Exporters fix extents that nobody told them to leave free. */
static bool extents_fit(const net *n, const feed *f, ts_error *e)
{
    const bool of_text = f->role != FEED_ARRAY && f->role != FEED_EMPTY;
    const int64_t rows = f->port.rank > 0 && (of_text || f->from) ? f->port.dim[0] : -1,
                  length = f->port.rank > 1 && of_text ? f->port.dim[1] : -1;
    if (rows > 0 && rows != n->rows) {
        err_set(e, TS_BAD_INPUT, "--batch %lld: input \"%s\" of the model takes %lld examples at once, no other number",
                (long long)n->batch, f->port.name, (long long)rows);
        return err_hint(e, "say --batch %lld, or export the model with that dimension free",
                        (long long)(rows * n->batch / n->rows));
    }
    if (length <= 0 || length == n->length)
        return true;
    err_set(e, TS_BAD_INPUT, "--length %lld: input \"%s\" of the model takes %lld tokens, no other number",
            (long long)n->length, f->port.name, (long long)length);
    return err_hint(e, "say --length %lld, or export the model with that dimension free", (long long)length);
}

/* An extent that --dim gives and the batch or the data gives too, as another one. */
static bool tell_dims(const net *n, ts_error *e)
{
    char line[OPTION_LINE], same[OPTION_LINE];
    for (int i = 0; i < n->n_feed; i++) {
        const feed *f = &n->feed[i];
        const ts_array a = shape_of(n, f);
        for (int k = 0; a.dtype != TS_N_DTYPE && k < f->port.rank; k++)
            for (const char *at = f->port.dim[k] < 0 ? n->asked->dims : NULL; option_line(&at, line);) {
                snprintf(same, sizeof same, "%.3000s=%lld", f->port.symbol[k], (long long)a.dim[k]);
                if (!option_names(line, f->port.symbol[k]) || strcmp(line, same) == 0)
                    continue;
                err_hint(e, "%s says that already: leave --dim %s out",
                         k == 0                  ? "--batch"
                         : f->role == FEED_ARRAY ? "the data"
                                                 : "--length",
                         line);
                return true;
            }
    }
    return false;
}

bool net_bind(net *n, const data *d, ts_error *e)
{
    const int inputs = ts_model_inputs(n->model);
    if (inputs > MOST_FEEDS)
        return err_set(e, TS_UNSUPPORTED, "the model has %d inputs, at most %d can be fed", inputs, MOST_FEEDS);
    n->n_feed = inputs;
    for (int i = 0; i < n->n_feed; i++) {
        feed *f = &n->feed[i];
        ts_model_input(n->model, i, &f->port);
        if (!(n->text ? text_feed(f, e) : array_feed(f, d, e)) || !extents_fit(n, f, e))
            return false;
    }
    if (!n->text && !all_read(n, d, e))
        return false;
    if (!bind(n, e)) {
        if (!tell_dims(n, e) && n->text)
            tell_length(n, e);
        return false;
    }
    for (int i = 0; i < n->n_feed; i++) {
        ts_model_input(n->model, i, &n->feed[i].port);
        if (n->feed[i].role == FEED_IDS)
            n->vocabulary = n->feed[i].port.below;
        if (n->feed[i].role == FEED_EMPTY && !is_empty(&n->feed[i].port))
            return refuse_text(&n->feed[i].port, e);
    }
    return true;
}

/* ---- batches ---- */
/* -1 behind the end of a text. Rows from n->batch on are the second texts of pairs; a stream has one text for all. */
static int64_t token_at(const net *n, const data *d, int64_t row, const int64_t *which, int64_t k)
{
    if (n->stream)
        return d->text.id[which[row] + k];
    const tokens *t = row < n->batch ? &d->text : &d->second;
    const int64_t i = which[row % n->batch], at = t->at[i] + k;
    return at < t->at[i + 1] ? t->id[at] : -1;
}

/* [rows, length]; places behind a text's end hold token 0, which the mask hides. */
static void fill_text(const net *n, const feed *f, const data *d, const int64_t *which, ts_array *a)
{
    for (int64_t r = 0; r < n->rows; r++)
        for (int64_t k = 0; k < n->length; k++) {
            const int64_t id = token_at(n, d, r, which, k), at = r * n->length + k;
            const int64_t v = f->role == FEED_IDS         ? (id < 0 ? 0 : id)
                              : f->role == FEED_MASK      ? id >= 0
                              : f->role == FEED_POSITIONS ? k
                                                          : 0;
            ts_array_set(a, at, (double)v);
        }
}

/* [examples, ...] -> [rows, ...] */
static void fill_rows(const net *n, const ts_array *from, const int64_t *which, ts_array *a)
{
    const size_t width = (size_t)(ts_array_count(from) / from->dim[0]) * (size_t)ts_dtype_bytes(from->dtype);
    for (int64_t r = 0; r < n->rows; r++)
        memcpy((char *)a->data + (size_t)r * width, (const char *)from->data + (size_t)which[r] * width, width);
}

int net_n_arrays(const net *n)
{
    return n->n_feed + 2;
}

void net_arrays_free(const net *n, ts_array *all)
{
    for (int i = 0; i < net_n_arrays(n); i++)
        ts_array_free(&all[i]);
}

/* Room for a value of t. */
static bool like(ts_array *a, ts_tensor t, ts_error *e)
{
    return ts_array_make(a, ts_type(t), ts_rank(t), ts_shape(t), e);
}

/* [batch], of a stream [batch, length]: the token that comes next. Without labels 0: nobody reads the loss then. */
static void fill_label(const net *n, const data *d, const int64_t *which, ts_array *a)
{
    for (int64_t r = 0; r < n->batch; r++)
        for (int64_t k = 0; k < (n->stream ? n->length : 1); k++)
            if (n->stream)
                ts_array_set(a, r * n->length + k, (double)d->text.id[which[r] + k + 1]);
            else if (a->dtype != TS_F32 && n->rows > n->batch)
                ts_array_set(a, r, (double)r);
            else
                ts_array_set(a, r, d->label ? d->label[which[r]] : 0);
}

/* Fewer examples than a batch: the first one fills it up, and whoever reads the result leaves those rows aside. */
bool net_arrays(const net *n, const data *d, const int64_t *which, int64_t count, ts_array *out, ts_error *e)
{
    ENDED_BY(heap_free) int64_t *all = heap_array((size_t)n->batch, sizeof *all);
    bool ok = true;
    for (int64_t i = 0; i < n->batch; i++)
        all[i] = which[i < count ? i : 0];
    for (int i = 0; ok && i < n->n_feed; i++) {
        const feed *f = &n->feed[i];
        ok = ts_array_make(&out[i], f->port.dtype, f->port.rank, f->port.dim, e);
        if (ok && f->role == FEED_ARRAY)
            fill_rows(n, f->from, all, &out[i]);
        else if (ok && f->role != FEED_EMPTY)
            fill_text(n, f, d, all, &out[i]);
    }
    const feed own = {.role = FEED_MASK};
    if (ok && n->mask && (ok = like(&out[n->n_feed], n->mask, e)))
        fill_text(n, &own, d, all, &out[n->n_feed]);
    if (ok && n->label && (ok = like(&out[n->n_feed + 1], n->label, e)))
        fill_label(n, d, all, &out[n->n_feed + 1]);
    return ok;
}

/* Behind the inputs come the mask over tokens and the labels. */
const char *net_array_name(const net *n, int i)
{
    return i < n->n_feed    ? n->feed[i].port.name
           : i == n->n_feed ? (n->mask ? ts_name(n->mask) : "")
           : n->label       ? ts_name(n->label)
                            : "";
}

bool net_array_fixed(const net *n, int i)
{
    const feed_role role = i < n->n_feed ? n->feed[i].role : i == n->n_feed ? FEED_MASK : FEED_IDS;
    if (i > n->n_feed)
        return n->rows > n->batch; /* of pairs: the label is the place in the batch */
    return role == FEED_TYPES || role == FEED_POSITIONS || role == FEED_EMPTY || (role == FEED_MASK && n->stream);
}

bool net_set(const net *n, ts_plan *p, const ts_array *all, ts_error *e)
{
    for (int i = 0; i < net_n_arrays(n); i++) {
        const int at = all[i].data ? ts_plan_find(p, net_array_name(n, i)) : -1;
        if (at >= 0 && !ts_plan_set(p, at, &all[i], e))
            return false;
    }
    return true;
}
