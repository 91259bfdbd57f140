/* problem.c - lines of op->cases, "f32[2,3] i64[4]<5 axis=1", read, printed, and built of nodes. */
#include "graph/ir/problem.h"
#include "graph/ir/attr.h"
#include "graph/ir/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *at;
    size_t n;
} span;

/* "f32[2,3]<5 " or "- " at *at; false: what follows are attributes. */
static bool read_operand(const char **at, const char *end, problem_operand *out)
{
    char name[16];
    char *stop;
    const size_t n = strcspn(*at, "[ \n");
    *out = (problem_operand){0};
    if (n == 1 && **at == '-') {
        out->absent = true;
        *at += 1 + strspn(*at + 1, " ");
        return true;
    }
    snprintf(name, sizeof name, "%.*s", (int)n, *at);
    if (*at + n >= end || (*at)[n] != '[' || !dtype_parse(name, &out->type.dtype))
        return false;
    for (*at += n + 1; *at < end && **at != ']'; *at = stop + (*stop == ',')) {
        const bool open = **at == '?';
        out->type.dim[out->type.rank++] = open ? OPEN_EXTENT : strtoll(*at, &stop, 10);
        stop = open ? (char *)(uintptr_t)*at + 1 : stop;
    }
    const char *mark = *at + 1;
    out->carries = *mark == '*';
    mark += out->carries;
    out->below = *mark == '<' ? strtoll(mark + 1, NULL, 10) : 0;
    out->known = *mark == '=';
    out->value = out->known ? strtod(mark + 1, NULL) : 0;
    *at += strcspn(*at, " \n"), *at += strspn(*at, " ");
    return true;
}

/* What line says carries the values; else the first real that it does not know, or the first operand. */
static dtype carrier(int n, const problem_operand *list)
{
    dtype found = TS_N_DTYPE;
    for (int i = n - 1; i >= 0; i--)
        if (!list[i].absent && !list[i].known)
            found = list[i].type.dtype;
    for (int i = n - 1; i >= 0; i--)
        if (!list[i].absent && !list[i].known && dtype_class(list[i].type.dtype) == D_REAL)
            found = list[i].type.dtype;
    for (int i = n - 1; i >= 0; i--)
        if (list[i].carries)
            found = list[i].type.dtype;
    return found;
}

static const node *known_node(graph *g, const type *t, double v)
{
    const int64_t n = type_count(t);
    void *data = arena_array(&g->mem, (size_t)n + 1, sizeof(double));
    for (int64_t i = 0; i < n; i++)
        if (dtype_class(t->dtype) == D_REAL)
            store_real(t->dtype, data, i, v);
        else
            store_whole(t->dtype, data, i, (int64_t)v);
    return g_const(g, "", t, data);
}

void problem_read(arena *mem, const op *o, const char *line, size_t n, problem *out)
{
    const char *end = line + n;
    *out = (problem){.op = o};
    while (line < end && out->n < PROBLEM_OPERANDS && read_operand(&line, end, &out->operand[out->n]))
        out->n++;
    while (end > line && end[-1] == ' ')
        end--;
    out->attributes = arena_format(mem, "%.*s", (int)(end > line ? end - line : 0), line);
}

static void print_operand(text *t, const problem_operand *x)
{
    text_add(t, "%s[", ts_dtype_name(x->type.dtype));
    for (int i = 0; i < x->type.rank; i++) {
        text_add(t, i ? "," : "");
        text_add(t, x->type.dim[i] == OPEN_EXTENT ? "?" : "%lld", (long long)x->type.dim[i]);
    }
    text_add(t, x->carries ? "]*" : "]");
    if (x->below)
        text_add(t, "<%lld", (long long)x->below);
    if (x->known)
        text_add(t, "=%.17g", x->value);
}

void problem_print(text *t, const problem *p)
{
    text_add(t, "%s", p->op->name);
    for (int i = 0; i < p->n; i++) {
        text_add(t, p->operand[i].absent ? " -" : " ");
        if (!p->operand[i].absent)
            print_operand(t, &p->operand[i]);
    }
    text_add(t, *p->attributes ? " %s" : "", p->attributes);
}

/* The line's operands as nodes. reals: reals are known where the line states them. */
static void read_nodes(graph *g, const op *o, span line, dtype values, bool reals, problem *out)
{
    problem_read(&g->mem, o, line.at, line.n, out);
    const dtype from = carrier(out->n, out->operand);
    for (int i = 0; i < out->n; i++) {
        char name[16];
        problem_operand *x = &out->operand[i];
        type *t = &x->type;
        t->dtype = values != TS_N_DTYPE && t->dtype == from ? values : t->dtype;
        snprintf(name, sizeof name, "x%d", g->n); /* problems share graphs */
        out->in[i] = x->absent                                                ? NULL
                     : x->known && (reals || dtype_class(t->dtype) != D_REAL) ? known_node(g, t, x->value)
                                                                              : g_input(g, name, t, NULL);
    }
}

/* ---- lines that somebody wrote ---- */
static bool is_operand(const char *word, size_t n)
{
    char name[16];
    dtype d;
    const size_t length = strcspn(word, "[ ");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), word);
    return length < n && word[length] == '[' && dtype_parse(name, &d);
}

bool problem_begins(const char *line)
{
    const char *word = line + (*line == ' ');
    return word > line && is_operand(word, strcspn(word, " "));
}

/* "f32[2,3]", with "*", "=2" or "<5" behind it, or "f32[2,?]", of which the operation says how long it is. */
static bool operand_is_right(const char *word, size_t n)
{
    const char *at = memchr(word, '[', n), *end = word + n;
    char *stop;
    int rank = 0;
    for (at++; at < end && *at != ']'; at = stop + (*stop == ',' && stop[1] != ']'), rank++) {
        const bool open = *at == '?';
        const int64_t extent = strtoll(at, &stop, 10);
        stop += open;
        if (stop == at || *at == '+' || *at == ' ' || extent < 0 || rank == MAX_RANK || (*stop != ',' && *stop != ']'))
            return false;
    }
    at += at < end;
    at += at < end && *at == '*';
    if (at == end || (*at != '=' && *at != '<'))
        return at == end && word[n - 1] != '[';
    const double mark = strtod(at + 1, &stop);
    return stop == end && stop > at + 1 && (*at == '=' || (mark >= 1 && mark <= 1e15));
}

bool problem_check(const char *line, err *e)
{
    int n = 0;
    for (size_t length; *line; line += length, line += strspn(line, " "), n++) {
        length = strcspn(line, " ");
        if (!is_operand(line, length) && strncmp(line, "- ", 2) && strcmp(line, "-"))
            return true; /* attributes are checked where they are read */
        if (*line != '-' && !operand_is_right(line, length))
            return err_set(e, TS_USAGE,
                           "operand %d is \"%.*s\", expected a dtype with extents, as f32[2,3] or i64[4]<9", n,
                           (int)length, line);
        if (n == PROBLEM_OPERANDS)
            return err_set(e, TS_USAGE, "operand %d is \"%.*s\", at most %d expected", n + 1, (int)length, line,
                           PROBLEM_OPERANDS);
    }
    return true;
}

void problem_build(graph *g, const op *o, const char *line, size_t n, dtype values, problem *out)
{
    read_nodes(g, o, (span){line, n}, values, false, out);
    out->y = g_callf(g, out->n, out->in, "%s %s", o->name, out->attributes);
}

/* ---- through a rule ---- */

/* What kind an attribute of an operator has, nobody declares: its value shows it. */
static char kind_shown(const char *value, size_t n)
{
    const bool list = *value == '[', real = memchr(value, '.', n) != NULL;
    const bool number = list || (*value >= '0' && *value <= '9') || (*value == '-' && n > 1);
    return list ? (real ? 'F' : 'I') : number ? (real ? 'f' : 'i') : 's';
}

static bool read_attributes(graph *g, const char *source, attr *out, int *n)
{
    attr_spec spec[MAX_ATTR + 1] = {0};
    const op shown = {.name = "problem", .attr = spec};
    int k = 0;
    for (const char *at = source + strspn(source, " "); *at && k < MAX_ATTR; at += strspn(at, " ")) {
        const size_t length = strcspn(at, "= "), all = strcspn(at, " ");
        spec[k++] = (attr_spec){arena_format(&g->mem, "%.*s", (int)length, at),
                                all > length ? kind_shown(at + length + 1, all - length - 1) : 'i', ""};
        at += all;
    }
    return attr_parse(&g->mem, &shown, source, out, n, &g->err);
}

void problem_adapt(graph *g, const op *o, const onnx_rule *r, const char *line, size_t n, dtype values, problem *out)
{
    attr list[MAX_ATTR];
    int n_attr;
    err e = {0};
    const char *dot = strrchr(r->type, '.');
    const char *domain = dot ? arena_format(&g->mem, "%.*s", (int)(dot - r->type), r->type) : "";
    read_nodes(g, o, (span){line, n}, values, true, out);
    if (!read_attributes(g, out->attributes, list, &n_attr))
        return;
    onnx_value value[PROBLEM_OPERANDS] = {0};
    const ts_array **tensor = arena_array(&g->mem, (size_t)n_attr + 1, sizeof *tensor);
    for (int i = 0; i < out->n; i++)
        value[i].node = out->in[i];
    onnx_call c = {.g = g, .type = dot ? dot + 1 : r->type, .domain = domain, .name = "", .version = r->since};
    c.n_in = out->n, c.in = out->in, c.value = value, c.n_out = 1;
    c.n_attr = n_attr, c.attr = list, c.tensor = tensor;
    const node *y = NULL;
    if (onnx_apply(o, r, &c, &y, &e))
        out->y = y;
    else
        g_fail(g, e.code, "%s", e.text);
}

const char *problem_next(const char **at, size_t *n)
{
    const char *line = *at;
    if (!line || !*line)
        return NULL;
    *n = strcspn(line, "\n");
    *at = line + *n + (line[*n] == '\n');
    return line;
}

/* The next line that begins with that operator, behind that word. */
static const char *next_named(const char **at, const char *operator, size_t * n)
{
    const size_t length = strlen(operator);
    const char *line;
    while ((line = problem_next(at, n)))
        if (*n > length && !strncmp(line, operator, length) && line[length] == ' ') {
            *n -= length + 1;
            return line + length + 1;
        }
    return NULL;
}

const char *problem_of_rule(const op *o, const onnx_rule *r, const char **at, size_t *n)
{
    const char *own = o->onnx_cases;
    const bool named = next_named(&own, r->type, n) != NULL;
    if (!*at)
        *at = named ? o->onnx_cases : o->cases;
    return named ? next_named(at, r->type, n) : problem_next(at, n);
}
