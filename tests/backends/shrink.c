#include "tests/backends/shrink.h"
#include "tests/backends/row.h"

#include <string.h>

enum { MOST_ROOTS = 16 };

computed fault_compute(const fault *f, err *e)
{
    const ts_options interp = {.target = "interp"};
    row_inputs in = {0};
    ts_array want[MOST_ROOTS] = {0}, got[MOST_ROOTS] = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor t[MOST_ROOTS] = {row_build(g, text_str(&f->row), f->number, &in)};
    computed how = NOTHING;
    int n = 1;
    for (int i = 0; i < in.n_also && n < MOST_ROOTS; i++)
        t[n++] = in.also[i];
    if (t[0] && file_save(f->o.schema, text_str(&f->schema), f->schema.length, e) &&
        ts_eval(n, t, in.n, in.given, &interp, want, e) && ts_eval(n, t, in.n, in.given, &f->o, got, e))
        how = AS_WANTED;
    for (int i = 0; i < n; i++) {
        if (how == AS_WANTED && row_differs(&want[i], &got[i], 0) >= 0)
            how = OTHERWISE;
        ts_array_free(&want[i]), ts_array_free(&got[i]);
    }
    row_inputs_free(&in), ts_graph_free(g);
    return how;
}

bool fault_shows(const fault *f)
{
    err e = {0};
    const computed how = fault_compute(f, &e);
    return how == OTHERWISE || (how == NOTHING && (e.code == TS_TOOLCHAIN || e.code == TS_DEVICE));
}

/* Puts `with` in the place of [from, end) of t, and takes it back unless the fault still shows. */
static bool replaced(fault *f, text *t, size_t from, size_t end, const char *with)
{
    text was = {0};
    text_add(&was, "%s", text_str(t));
    t->length = from;
    text_add(t, "%s%s", with, was.s + end);
    const bool still = fault_shows(f);
    if (!still)
        t->length = 0, text_add(t, "%s", was.s);
    text_free(&was);
    return still;
}

/* Pieces of the schema that begin with one of `first` and end before one of `stop`, the last ones first. */
static bool cut(fault *f, const char *first, const char *stop)
{
    bool any = false;
    for (size_t i = f->schema.length; i-- > 0;)
        if (i < f->schema.length && strchr(first, f->schema.s[i]))
            any |= replaced(f, &f->schema, i, i + 1 + strcspn(f->schema.s + i + 1, stop), "");
    return any;
}

/* "v3 f32[4,5]" for "v3* matmul v1 v2", the statement that begins at `from`. */
static void as_input(const fault *f, size_t from, size_t end, text *out)
{
    text row = {0};
    row_inputs in = {0};
    ts_graph *g = ts_graph_make();
    text_bytes(&row, f->row.s, end);
    ts_tensor t = row_build(g, text_str(&row), f->number, &in);
    text_add(out, "; %.*s %s[", (int)strcspn(f->row.s + from + 2, " *"), f->row.s + from + 2,
             t ? ts_dtype_name(ts_type(t)) : "");
    for (int i = 0; t && i < ts_rank(t); i++)
        text_add(out, "%s%lld", i ? "," : "", (long long)ts_shape(t)[i]);
    text_add(out, "]");
    text_free(&row), row_inputs_free(&in), ts_graph_free(g);
}

static bool is_call(const char *statement) /* not "v3! f32[4,5]": its second word is followed by others */
{
    const char *what = statement + strcspn(statement, " ") + 1;
    return strcspn(what, " ") < strcspn(what, ";");
}

/* The last statement goes, or others become inputs; what is then not used is left for the eye. */
static bool cut_row(fault *f)
{
    bool any = false;
    for (size_t i = f->row.length; i-- > 0;) {
        if (i >= f->row.length || f->row.s[i] != ';')
            continue;
        const size_t end = i + 1 + strcspn(f->row.s + i + 1, ";");
        text leaf = {0};
        if (end == f->row.length)
            any |= replaced(f, &f->row, i, end, "");
        else if (is_call(f->row.s + i + 2))
            as_input(f, i, end, &leaf), any |= replaced(f, &f->row, i, end, text_str(&leaf));
        text_free(&leaf);
    }
    return any;
}

void fault_shrink(fault *f)
{
    bool any = true;
    while (any) {
        any = cut_row(f);
        any |= cut(f, "\n", "\n");     /* a rule */
        any |= cut(f, ";", ";\"");     /* a stage's loops */
        any |= cut(f, "+", "+ ;\"");   /* staging */
        any |= cut(f, "@/", "@+ ;\""); /* a role, a step */
        any |= cut(f, " ", " ;\"");    /* a loop */
    }
}
