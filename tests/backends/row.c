#include "tests/backends/row.h"
#include "tests/check.h"

#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 64, MAX_WORD = 24 };
typedef struct row_names {
    ts_graph *g;
    row_inputs *in;
    int number, n;
    char name[MAX_NAMES][MAX_WORD];
    ts_tensor tensor[MAX_NAMES];
} row_names;

/* "f32[3,4]<5" */
static bool read_leaf(const char *s, ts_array *out, int64_t *below)
{
    int64_t dim[TS_MAX_RANK];
    int rank = 0;
    ts_dtype d = 0;
    const size_t n = strcspn(s, "[");
    err e = {0};
    while (d < TS_N_DTYPE && (strlen(ts_dtype_name(d)) != n || strncmp(ts_dtype_name(d), s, n)))
        d++;
    if (d == TS_N_DTYPE || s[n] != '[')
        return false;
    for (s += n + 1; *s && *s != ']' && rank < TS_MAX_RANK; s += *s == ',') {
        char *end;
        dim[rank++] = strtoll(s, &end, 10);
        if (end == s)
            return false;
        s = end;
    }
    *below = s[0] == ']' && s[1] == '<' ? strtoll(s + 2, NULL, 10) : 0;
    return *s == ']' && ts_array_make(out, d, rank, dim, &e);
}

static void fill(ts_array *a, uint64_t seed, int64_t below)
{
    static const uint16_t half[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000}; /* -2...2 */
    static const uint16_t brain[] = {0xc000, 0xbf80, 0, 0x3f80, 0x4000};
    const int64_t n = ts_array_count(a);
    for (int64_t i = 0; i < n; i++) {
        const int64_t some = (int64_t)(random_bits(seed, (uint64_t)i) >> 32);
        const int v = (int)(below ? some % below : some % 5);
        const int whole = below ? v : v - 2;
        switch (a->dtype) {
        case TS_F32: ((float *)a->data)[i] = (float)whole; break;
        case TS_F64: ((double *)a->data)[i] = whole; break;
        case TS_F16: ((uint16_t *)a->data)[i] = half[whole + 2]; break;
        case TS_BF16: ((uint16_t *)a->data)[i] = brain[whole + 2]; break;
        case TS_I64: ((int64_t *)a->data)[i] = whole; break;
        case TS_I32: ((int32_t *)a->data)[i] = whole; break;
        case TS_I16: ((int16_t *)a->data)[i] = (int16_t)whole; break;
        case TS_I8: ((int8_t *)a->data)[i] = (int8_t)whole; break;
        case TS_BOOL: ((uint8_t *)a->data)[i] = v & 1; break;
        case TS_U8: ((uint8_t *)a->data)[i] = (uint8_t)v; break;
        case TS_U64: ((uint64_t *)a->data)[i] = (uint64_t)v; break;
        default: MUST(!"a dtype that rows can have");
        }
    }
}

static ts_tensor make_leaf(row_names *r, const char *name, bool constant, const char *what)
{
    ts_array a;
    int64_t below;
    if (!read_leaf(what, &a, &below) || r->in->n == MAX_ROW_INPUTS)
        return NULL;
    fill(&a, (uint64_t)(r->number * 64 + r->n + 1), below);
    if (constant) {
        ts_tensor t = ts_constant(r->g, name, &a);
        ts_array_free(&a);
        return t;
    }
    row_inputs *in = r->in;
    snprintf(in->name[in->n], sizeof in->name[0], "r%d.%s", r->number, name);
    in->given[in->n] = (ts_given){in->name[in->n], a};
    return ts_input(r->g, in->name[in->n++], a.dtype, a.rank, a.dim);
}

static ts_tensor make_call(row_names *r, char *word, char **rest)
{
    char call[200];
    ts_tensor in[16];
    int n = 0;
    snprintf(call, sizeof call, "%s", word);
    while ((word = strtok_r(NULL, " ", rest))) {
        const size_t at = strlen(call);
        int k = r->n - 1;
        if (strchr(word, '=')) {
            snprintf(call + at, sizeof call - at, " %s", word);
            continue;
        }
        while (k >= 0 && strcmp(r->name[k], word))
            k--;
        char *end;
        const double v = strtod(word, &end);
        if (n == 16 || (k < 0 && *end))
            return NULL;
        in[n++] = k < 0 ? ts_scalar(r->g, TS_F32, v) : r->tensor[k];
    }
    return ts_call(r->g, call, n, in);
}

static bool statement(row_names *r, char *s)
{
    char *rest = NULL, *name = strtok_r(s, " ", &rest), *what = strtok_r(NULL, " ", &rest);
    if (!name || !what || r->n == MAX_NAMES)
        return false;
    const size_t length = strcspn(name, "!*");
    const char mark = name[length];
    name[length] = 0;
    snprintf(r->name[r->n], MAX_WORD, "%s", name);
    r->tensor[r->n] = strchr(what, '[') && !strchr(what, '=') ? make_leaf(r, name, mark == '!', what)
                                                              : make_call(r, what, &rest);
    if (mark == '*' && r->in->n_also < MAX_ROW_INPUTS)
        r->in->also[r->in->n_also++] = r->tensor[r->n];
    return r->tensor[r->n++] != NULL;
}

ts_tensor row_build(ts_graph *g, const char *row, int number, row_inputs *in)
{
    row_names r = {.g = g, .in = in, .number = number};
    err e = {0};
    char *copy = strdup(row), *rest = NULL;
    bool ok = copy != NULL;
    for (char *s = strtok_r(copy, ";", &rest); ok && s; s = strtok_r(NULL, ";", &rest))
        ok = statement(&r, s);
    free(copy);
    ok = ts_graph_ok(g, &e) && ok;
    if (!CHECK(ok && r.n)) {
        printf("  %s\n  no graph: %s\n", row, e.text);
        return NULL;
    }
    return r.tensor[r.n - 1];
}

void row_inputs_free(row_inputs *in)
{
    for (int i = 0; i < in->n; i++)
        ts_array_free(&in->given[i].value);
    in->n = in->n_also = 0;
}

int64_t row_differs(const ts_array *want, const ts_array *got, double tolerance)
{
    const int64_t n = ts_array_count(want);
    const size_t width = (size_t)ts_dtype_bytes(want->dtype);
    if (got->dtype != want->dtype || ts_array_count(got) != n)
        return 0;
    for (int64_t i = 0; i < n; i++) {
        const double a = ts_array_at(want, i), b = ts_array_at(got, i);
        if ((tolerance == 0 && (a == b || (a != a && b != b))) || /* the sign of a NaN is nobody's */
            !memcmp((char *)want->data + (size_t)i * width, (char *)got->data + (size_t)i * width, width))
            continue;
        if (tolerance == 0 || !(fabs(a - b) <= tolerance * (1 + fabs(a))))
            return i;
    }
    return -1;
}
