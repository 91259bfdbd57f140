/* print.c - a graph as text that parses back, and the hash of what that text says.
 *
 *   n0 = input "x" : f32[2,3]
 *   n1 = const {1,2,3} : f32[3]                    its values, where there are at most 64 of them; else its name
 *   n2 = weight "w" mean=0 scale=0.1 seed=7 : f32[3]
 *   n3 = add(n0, n1) : f32[2,3]
 *   n4 = iterate(n1, n0) trips=2 states=1 slices=[0] : f32[3] {    its trip, numbered by itself (trip.h)
 *     n0 = trip_operand "0" : f32[3]
 *     n1 = trip_operand "1" : f32[3]
 *     n2 = add(n0, n1) : f32[3]
 *     return n2
 *   }
 *   return n3, n4
 *
 * Functions of the graph that texts call stand in front: function relu3(x) = "x < 0 ? 0.0 : x*x*x/3" */
#include "graph/ir/attr.h"
#include "graph/ir/custom.h"
#include "graph/ir/scalar.h"
#include "graph/ir/trip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INLINE_CONST = 64 };

static void print_elements(text *t, const type *y, const void *data)
{
    const int64_t n = type_count(y);
    text_add(t, " {");
    for (int64_t i = 0; i < n; i++)
        if (dtype_class(y->dtype) == D_REAL)
            text_add(t, "%s%.17g", i ? "," : "", load_real(y->dtype, data, i));
        else
            text_add(t, "%s%lld", i ? "," : "", (long long)load_whole(y->dtype, data, i));
    text_add(t, "}");
}

static void print_leaf(text *t, const node *n)
{
    const leaf *l = n->leaf;
    text_add(t, "%s", n->op->name);
    if (*n->label)
        text_add(t, " "), text_json(t, n->label);
    if (l->kind == LEAF_CONST && l->data && type_count(&n->type) <= INLINE_CONST)
        print_elements(t, &n->type, l->data);
    if (l->kind == LEAF_WEIGHT && !l->data)
        text_add(t, " mean=%.17g scale=%.17g seed=%llu", l->mean, l->scale, (unsigned long long)l->seed);
    if (l->below)
        text_add(t, " below=%lld", (long long)l->below);
}

static void print_all(text *t, int depth, int n, const node *const *root);

static void print_node(text *t, int depth, const node *n, const int *number)
{
    text_add(t, "%*sn%d = ", 2 * depth, "", number[n->id]);
    if (n->leaf)
        print_leaf(t, n);
    else {
        text_add(t, "%s(", n->op->name);
        for (int i = 0; i < n->n_in; i++)
            text_add(t, "%sn%d", i ? ", " : "", number[n->in[i]->id]);
        text_add(t, ")");
        int k = 0;
        for (const attr_spec *s = n->op->attr; s && s->name; s++, k++)
            attr_print(t, &n->attr[k]);
        if (n->index)
            text_add(t, " #%d", n->index);
    }
    text_add(t, " : ");
    type_print(t, &n->type);
    if (n->trip) {
        text_add(t, " {\n");
        print_all(t, depth + 1, n->trip->n_root, n->trip->root);
        text_add(t, "%*s}", 2 * depth, "");
    }
    text_add(t, "\n");
}

/* ---- functions that texts call ---- */
static bool calls(const char *s, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = s; at && (at = strstr(at, name)); at++)
        if ((at == s || !in_word(at[-1])) && strspn(at + n, " .d0123456789") < strlen(at + n) &&
            at[n + strspn(at + n, " .d0123456789")] == '(')
            return true;
    return false;
}

static bool is_called(const node *n, const char *name)
{
    bool found = n->trip || (n->op->custom && n->op->text && calls(n->op->text, name)); /* a trip may */
    int k = 0;
    for (const attr_spec *s = n->op->attr; s && s->name && !found; s++, k++)
        found = n->attr[k].kind == 's' && calls(n->attr[k].s, name);
    return found;
}

static void print_function(text *t, const scalar *f)
{
    text_add(t, "function %s(", f->name);
    for (int i = 0; i < f->n_parameter; i++)
        text_add(t, "%s%s", i ? ", " : "", f->parameter[i]);
    text_add(t, ") = "), text_json(t, f->text);
    if (f->derivative)
        text_add(t, " by "), text_json(t, f->derivative);
    text_add(t, "\n");
}

static void print_functions(text *t, int count, const node *const *all)
{
    const scalars *own = NULL;
    for (int i = 0; i < count; i++)
        own = all[i]->scalars ? all[i]->scalars : own;
    ENDED_BY(heap_free) bool *used = heap_array(own ? (size_t)own->n + 1 : 1, sizeof *used);
    for (int k = own ? own->n - 1 : -1; k >= 0; k--) { /* later ones call earlier ones */
        const char *name = own->all[k]->name;
        for (int i = 0; i < count && !used[k]; i++)
            used[k] = is_called(all[i], name);
        for (int i = k + 1; i < own->n && !used[k]; i++)
            used[k] = used[i] && (calls(own->all[i]->text, name) || calls(own->all[i]->derivative, name));
    }
    for (int k = 0; own && k < own->n; k++)
        if (used[k])
            print_function(t, own->all[k]);
}

static void print_all(text *t, int depth, int n, const node *const *root)
{
    int count;
    ENDED_BY(heap_free) const node **all = g_reached_make(n, root, &count);
    ENDED_BY(heap_free) int *number = heap_array(count ? (size_t)all[count - 1]->id + 1 : 1, sizeof *number);
    if (!depth)
        print_functions(t, count, all);
    for (int i = 0; i < count; i++)
        number[all[i]->id] = i, print_node(t, depth, all[i], number);
    text_add(t, "%*sreturn", 2 * depth, "");
    for (int i = 0; i < n; i++)
        text_add(t, "%s n%d", i ? "," : "", number[root[i]->id]);
    text_add(t, "\n");
}

void g_print(text *t, int n, const node *const *root)
{
    print_all(t, 0, n, root);
}

void g_hash(int n, const node *const *root, char hex[65])
{
    ENDED_BY(text_free) text t = {0};
    g_print(&t, n, root);
    hasher *h = hash_open();
    hash_bytes(h, t.s, t.length);
    const digest d = hash_close(h);
    digest_hex(&d, hex);
}

/* ---- reading ---- */
enum { MAX_OPERANDS = 1024 };
typedef struct reader {
    graph *g;
    const char *at;
    int line;
    err *e;
    const node **node;
    int n, cap, depth;
} reader;

static bool fail(reader *r, const char *what)
{
    return err_set(r->e, TS_BAD_INPUT, "graph text, line %d: %s at \"%.20s\"", r->line, what, r->at);
}

static bool eat(reader *r, const char *s)
{
    while (*r->at == ' ')
        r->at++;
    const size_t n = strlen(s);
    return !strncmp(r->at, s, n) && (r->at += n, true);
}

static bool read_int(reader *r, int64_t *out)
{
    char *end;
    *out = strtoll(r->at, &end, 10);
    if (end == r->at)
        return fail(r, "a number expected");
    return r->at = end, true;
}

static bool read_word(reader *r, char *out, size_t max)
{
    size_t n = 0;
    while (*r->at == ' ')
        r->at++;
    while (in_word(*r->at) || (n && *r->at == '.')) {
        if (n + 1 == max)
            return fail(r, arena_format(&r->g->mem, "a word of at most %d bytes expected", (int)max - 1));
        out[n++] = *r->at++;
    }
    out[n] = 0;
    return n || fail(r, "a word expected");
}

static bool read_ref(reader *r, const node **out)
{
    int64_t i;
    if (!eat(r, "n"))
        return fail(r, "a node expected");
    if (!read_int(r, &i))
        return false;
    if (i < 0 || i >= r->n)
        return fail(
            r, arena_format(&r->g->mem, "n%lld is not defined yet, a node below n%d expected", (long long)i, r->n));
    return *out = r->node[i], true;
}

static bool read_type(reader *r, type *t)
{
    char name[16];
    if (!read_word(r, name, sizeof name))
        return false;
    if (!dtype_parse(name, &t->dtype))
        return fail(r, arena_format(&r->g->mem, "\"%s\" is no dtype, one as in f32 expected", name));
    if (!eat(r, "["))
        return fail(r, "'[' expected");
    for (t->rank = 0; !eat(r, "]"); t->rank++) {
        if (t->rank && !eat(r, ","))
            return fail(r, "',' expected");
        if (t->rank == MAX_RANK)
            return fail(r, arena_format(&r->g->mem, "a rank of at most %d expected", MAX_RANK));
        if (!read_int(r, &t->dim[t->rank]))
            return false;
    }
    return type_valid(t, r->e);
}

static bool read_label(reader *r, char *out, size_t max) /* a JSON string; only the escapes that text_json writes */
{
    size_t n = 0;
    *out = 0;
    if (!eat(r, "\""))
        return true;
    for (; *r->at != '"'; r->at++) {
        unsigned v = (unsigned char)*r->at;
        if (!v || v == '\n')
            return fail(r, "'\"' expected");
        if (v == '\\') {
            static const char from[] = "nrtbf\"\\/", to[] = "\n\r\t\b\f\"\\/";
            const char *k = *++r->at ? strchr(from, *r->at) : NULL;
            if (k)
                v = (unsigned char)to[k - from];
            else if (*r->at != 'u' || sscanf(r->at + 1, "%4x", &v) != 1 || v > 0x7f)
                return fail(r, "a bad escape");
            else
                r->at += 4;
        }
        if (n + 1 == max)
            return fail(r, arena_format(&r->g->mem, "a name of at most %d bytes expected", (int)max - 1));
        out[n++] = (char)v, out[n] = 0;
    }
    return r->at++, true;
}

static bool read_values(reader *r, int *n, double *real, int64_t *whole)
{
    for (*n = 0; !eat(r, "}"); ++*n) {
        char *end;
        if (*n && !eat(r, ","))
            return fail(r, "',' expected");
        if (*n == INLINE_CONST)
            return fail(r, arena_format(&r->g->mem, "at most %d values expected", INLINE_CONST));
        whole[*n] = strtoll(r->at, &end, 10);
        real[*n] = strtod(r->at, &end);
        if (end == r->at)
            return fail(r, "a value expected");
        r->at = end;
    }
    return true;
}

static bool read_seeded(reader *r, leaf *l) /* behind "mean=" */
{
    char *end;
    l->mean = strtod(r->at, &end), r->at = end;
    if (!eat(r, "scale="))
        return fail(r, "scale= expected");
    l->scale = strtod(r->at, &end), r->at = end;
    if (!eat(r, "seed="))
        return fail(r, "seed= expected");
    l->seed = strtoull(r->at, &end, 10), r->at = end;
    return true;
}

static bool read_leaf(reader *r, const op *o, const node **out)
{
    char label[513];
    double real[INLINE_CONST];
    int64_t whole[INLINE_CONST], v;
    int n = -1;
    leaf l = {.kind = !strcmp(o->name, "input") ? LEAF_INPUT : !strcmp(o->name, "weight") ? LEAF_WEIGHT : LEAF_CONST};
    type t = {0};
    if (!read_label(r, label, sizeof label))
        return false;
    if (eat(r, "{") && !read_values(r, &n, real, whole))
        return false;
    if (eat(r, "mean=")) {
        if (!read_seeded(r, &l))
            return false;
    } else if (l.kind == LEAF_WEIGHT)
        l.kind = LEAF_INPUT;
    if (eat(r, "below=")) {
        if (!read_int(r, &v))
            return false;
        l.below = v;
    }
    if (!eat(r, ":") || !read_type(r, &t))
        return fail(r, "': type' expected");
    l.bound = l.kind == LEAF_CONST && strcmp(o->name, "const");
    if (l.bound)
        l.kind = LEAF_INPUT;
    if (l.bound && !r->depth)
        return fail(r, "an operand of a trip outside of one");
    if (l.bound)
        return *out = g_leaf(r->g, o, label, &t, &l), *out != NULL;
    if (l.kind != LEAF_CONST)
        return *out = g_leaf(r->g, l.kind == LEAF_INPUT ? op_find("input") : o, label, &t, &l), *out != NULL;
    if (n < 0)
        return *out = g_input(r->g, label, &t, NULL), *out != NULL;
    if (n != type_count(&t))
        return fail(r, "as many values as the type has elements expected");
    unsigned char data[INLINE_CONST * 8];
    for (int i = 0; i < n; i++)
        if (dtype_class(t.dtype) == D_REAL)
            store_real(t.dtype, data, i, real[i]);
        else
            store_whole(t.dtype, data, i, whole[i]);
    return *out = g_const(r->g, label, &t, data), *out != NULL;
}

/* How far attributes go: up to an output's number or the type, quotes aside. */
static size_t attributes(const char *s)
{
    size_t n = 0;
    for (bool quoted = false; s[n] && s[n] != '\n' && (quoted || (s[n] != ':' && s[n] != '#')); n++) {
        quoted ^= s[n] == '"';
        n += quoted && s[n] == '\\' && s[n + 1] && s[n + 1] != '\n';
    }
    return n;
}

enum { MAX_RESULTS = 2 * MAX_PART + 1, MAX_DEPTH = 16 };
static bool read_all(reader *r, int max, const node **root, int *n);

/* The trip of a scan, behind its type; NULL: there is none. */
static bool read_trip(reader *r, const node **root, scan_trip *out)
{
    reader own = {.g = r->g, .at = r->at, .line = r->line, .e = r->e, .depth = r->depth + 1};
    out->root = root;
    if (own.depth == MAX_DEPTH)
        return fail(r, arena_format(&r->g->mem, "trips within trips at most %d deep expected", MAX_DEPTH - 1));
    if (!eat(&own, "\n"))
        return fail(r, "a line of its own for each node of a trip expected");
    own.line++;
    const bool ok = read_all(&own, MAX_RESULTS, root, &out->n_root);
    free(own.node);
    r->at = own.at, r->line = own.line;
    return ok && ((eat(r, "\n") && eat(r, "}")) || fail(r, "the end of a trip expected"));
}

typedef struct calling { /* what a line says of a call */
    const op *op;
    int n, n_given;
    const node *in[MAX_OPERANDS];
    attr given[MAX_ATTR];
    int64_t index;
    type type;
} calling;

static bool read_operands(reader *r, calling *c)
{
    while (!eat(r, ")")) {
        if (c->n && !eat(r, ","))
            return fail(r, "',' expected");
        if (c->n == MAX_OPERANDS)
            return fail(r, arena_format(&r->g->mem, "at most %d operands expected", MAX_OPERANDS));
        if (!read_ref(r, &c->in[c->n++]))
            return false;
    }
    return true;
}

static const node *make_call(reader *r, const calling *c)
{
    const node *root[MAX_RESULTS];
    scan_trip t = {0};
    if (!eat(r, "{"))
        return g_make(r->g, c->op, c->n, c->in, c->given, c->n_given);
    return read_trip(r, root, &t) ? g_make_scan(r->g, c->op, c->n, c->in, c->given, c->n_given, &t) : NULL;
}

static bool read_call(reader *r, const op *o, const node **out)
{
    calling c = {.op = o};
    const int line = r->line; /* a trip has lines of its own */
    if (!read_operands(r, &c))
        return false;
    const size_t stop = attributes(r->at);
    ENDED_BY(heap_free) char *words = strndup(r->at, stop);
    MUST(words);
    const bool ok = attr_parse(&r->g->mem, o, words, c.given, &c.n_given, r->e);
    if (!ok)
        return false;
    r->at += stop;
    if (eat(r, "#") && !read_int(r, &c.index))
        return false;
    if (!eat(r, ":") || !read_type(r, &c.type))
        return fail(r, "': type' expected");
    *out = make_call(r, &c);
    /* Outputs follow each other */
    if (*out && c.index)
        *out = g_output(r->g, *out, r->n ? r->node[r->n - 1] : *out, (int)c.index);
    if (!*out)
        return err_set(r->e, r->g->err.code, "graph text, line %d: %s", line, r->g->err.text);
    return type_equal(&c.type, &(*out)->type) || fail(r, "the type does not follow from the operands");
}

static bool read_function(reader *r)
{
    const size_t size = strcspn(r->at, "\n") + 1;
    char *head = heap_array(3, size), *source = head + size, *derivative = source + size;
    const char *equals = memchr(r->at, '=', size);
    if (equals)
        memcpy(head, r->at, (size_t)(equals - r->at)), r->at = equals + 1;
    bool ok = equals ? read_label(r, source, size) : fail(r, "'=' expected");
    ok = ok && (!eat(r, "by") || read_label(r, derivative, size));
    if (ok && !ts_function(r->g, head, source, derivative))
        ok = err_set(r->e, r->g->err.code, "graph text, line %d: %s", r->line, r->g->err.text);
    free(head);
    return ok && (eat(r, "\n") || fail(r, "end of line expected"));
}

static bool read_line(reader *r)
{
    char word[64];
    int64_t number;
    const node *made = NULL;
    if (!eat(r, "n") || !read_int(r, &number) || number != r->n || !eat(r, "="))
        return fail(r, arena_format(&r->g->mem, "n%d = expected", r->n));
    if (!read_word(r, word, sizeof word))
        return false;
    const op *o = g_op(r->g, word);
    if (!o)
        return fail(r, arena_format(&r->g->mem, "no operation is called \"%s\", one of tessera ops expected", word));
    if (!(eat(r, "(") ? read_call(r, o, &made) : read_leaf(r, o, &made)))
        return false;
    r->node = heap_grown(r->node, r->n, &r->cap, sizeof *r->node);
    r->node[r->n++] = made;
    return eat(r, "\n") || fail(r, "end of line expected");
}

static bool read_all(reader *r, int max, const node **root, int *n) /* up to the end of the line of results */
{
    bool ok = true;
    for (; ok && !eat(r, "return"); r->line++)
        ok = !r->depth && eat(r, "function ") ? read_function(r) : read_line(r);
    for (*n = 0; ok && *r->at && *r->at != '\n';) {
        if (*n && !eat(r, ","))
            ok = fail(r, "',' expected");
        else if (*n == max)
            ok = fail(r, arena_format(&r->g->mem, "at most %d results expected", max));
        else
            ok = read_ref(r, &root[*n]) && ++*n;
    }
    return ok;
}

bool g_parse(graph *g, const char *source, int max, const node **root, int *n, err *e)
{
    reader r = {.g = g, .at = source, .line = 1, .e = e};
    const bool ok = read_all(&r, max, root, n);
    free(r.node);
    return ok && (!r.at[strspn(r.at, "\n ")] || fail(&r, "the end expected"));
}
