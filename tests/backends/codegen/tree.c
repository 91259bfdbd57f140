#include "tests/backends/codegen/tree.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const role_form roles[] = {{"lane", "EACH($0, $1, $2, $3)", true}, {"row", "ROWS($0, $1, $2)", false}, {0}};
static const function functions[] = {{0}};
const dialect made_up = {.name = "made up",
                         .index = "index",
                         .whole = {"int8", "int16", "int32", "int64"},
                         .function = functions,
                         .constant = "CONST($0, $1);",
                         .table = "TABLE($0: $1);",
                         .unroll = "WRITE_OUT $0",
                         .lanes = "VECTORS",
                         .fetch = "FETCH($0, $1);",
                         .barrier = "MEET()",
                         .role = roles,
                         .chunks = (const char *const[]){"WHILE (take($1)) {", "FOR $0 {", NULL}};

void tree_is(const stmt *in, const char *want)
{
    text t = {0};
    stmt_print(&t, &made_up, in);
    if (!CHECK(!strcmp(text_str(&t), want)))
        printf("got\n%swanted\n%s", text_str(&t), want);
    text_free(&t);
}

static const cexpr *read_expr(arena *mem, const char *s)
{
    char first[80], second[80], *end;
    const long long n = strtoll(s, &end, 10);
    if (!*end)
        return cexpr_number(mem, n);
    int all = 0;
    if (sscanf(s, "MIN(%79[^,], %79[^)])%n", first, second, &all) == 2 && all && !s[all])
        return cexpr_least(mem, read_expr(mem, first), read_expr(mem, second));
    return cexpr_spelled(mem, s);
}

static int64_t at_most(const cexpr *x) /* -1: not known */
{
    int64_t n = -1;
    for (int i = 0; i < x->n && n < 0; i++)
        n = at_most(x->arg[i]);
    return x->kind == C_NUMBER ? x->number : n;
}

static void read_loop(code *c, const char *by, const char *name, const char *from, const char *to)
{
    const cexpr *a = read_expr(c->mem, from), *b = read_expr(c->mem, to);
    const int64_t trips = a->kind == C_NUMBER ? at_most(b) - a->number : 0;
    code_open(c, (stmt){.kind = S_LOOP, .role = by, .name = name, .from = a, .to = b, .trips = trips > 0 ? trips : 0});
}

static stmt *read_line(code *c, char *s, stmt *test) /* the test that was closed last, if any */
{
    char name[80], a[80], b[80];
    if (sscanf(s, "for (index %79s = %79[^;]; %*s < %79[^;]; ", name, a, b) == 3)
        read_loop(c, NULL, name, a, b);
    else if (sscanf(s, "EACH(%79[^,], %79[^,], %79[^,], 1)", name, a, b) == 3)
        read_loop(c, "lane", name, a, b);
    else if (!strncmp(s, "if (", 4))
        s[strlen(s) - 3] = 0, code_if(c, read_expr(c->mem, s + 4));
    else if (!strcmp(s, "else {"))
        code_else(c, test);
    else if (!strcmp(s, "{"))
        code_open(c, (stmt){.kind = S_BLOCK});
    else if (*s == '}') {
        stmt *closed = c->at;
        code_close(c);
        return closed;
    } else if (!strcmp(s, "MEET();") || !strcmp(s, "break;"))
        code_add(c, (stmt){.kind = *s == 'M' ? S_BARRIER : S_LEAVE});
    else if (sscanf(s, "CONST(%79[^,], %79[^)])", name, a) == 2)
        code_add(c, (stmt){.kind = S_CONSTANT, .name = name, .value = read_expr(c->mem, a)});
    else if (sscanf(s, "%79[^=]= %79[^;];", a, b) == 2)
        a[strlen(a) - 1] = 0, code_store(c, read_expr(c->mem, a), read_expr(c->mem, b));
    else
        s[strlen(s) - 1] = 0, code_call(c, cexpr_spelled(c->mem, s));
    return NULL;
}

stmt *tree_read(arena *mem, const char *s)
{
    code c = code_begin(mem);
    stmt *root = c.at, *closed = NULL;
    while (*s) {
        char line[200];
        s += strspn(s, " ");
        const size_t n = strcspn(s, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, s);
        closed = read_line(&c, line, closed);
        s += n + (s[n] == '\n');
    }
    MUST(c.at == root);
    return root;
}

/* ---- trips ---- */
static const char *const kinds[] = {"",     "stage",   "chunks", "carried", "tile",    "if",    "else",
                                    "ring", "access",  "lanes",  "apart",   "vectors", "first", "turn",
                                    "unit", "product", "fetch",  "dot",     "phase"};
static const char ways[] = {[TRIPS_LEFT] = '?', [WHOLE_TRIPS] = '|', [LAST_TRIP] = '$', [VECTORS_LEFT] = '%'},
                  makers[] = {[BY_PARTS] = '/', [AS_CHUNKS] = '+'};

static int loop_of(const emitter *m, const strip *t) /* what is around loops is of the first in it */
{
    return t->kind == T_VECTORS ? nest_last(m->s) : t->in ? t->in->loop : 0;
}

static bool numbered(const strip *t) /* of which loop it is, or how many, is asked later */
{
    return t->kind == T_STAGE || t->kind == T_CHUNKS || t->kind == T_RING || t->kind == T_ACCESS ||
           t->kind == T_LANES || t->kind == T_VECTORS || t->kind == T_TURN;
}

static void print_head(const emitter *m, const strip *t, text *out)
{
    if (t->kind == T_LOOP)
        text_add(out, "%s%s_%d", t->shared ? "*" : "", m->s->letter[trips_loop(m, t)->axis], t->loop);
    else if (t->kind == T_IF && t->left)
        text_add(out, "if_%s>%lld", m->s->letter[t->loop], (long long)t->left);
    else
        text_add(out, "%s", kinds[t->kind]);
    if (numbered(t) && t->loop != loop_of(m, t))
        text_add(out, "_%d", t->loop);
}

static void add_mark(text *out, char c)
{
    if (c)
        text_add(out, "%c", c);
}

static void print_trips(const emitter *m, const strip *t, text *out)
{
    print_head(m, t, out);
    if (t->end)
        text_add(out, "[%lld,%lld", (long long)t->first, (long long)t->end);
    if (t->all > t->end - t->first)
        text_add(out, "/%lld", (long long)t->all);
    text_add(out, t->end ? ")" : "");
    if (t->left && t->kind != T_IF && t->kind != T_ELSE)
        text_add(out, "x%lld", (long long)t->left);
    add_mark(out, t->rest ? '!' : 0), add_mark(out, t->masked ? '~' : 0);
    add_mark(out, ways[t->way]), add_mark(out, makers[t->made]);
    if (t->how == WRITTEN_OUT)
        text_add(out, ":%lld", (long long)t->together);
    text_add(out, t->how == IN_LANES ? ":lanes" : "");
    if (t->to)
        text_add(out, "{%s..%s}", cexpr_text(m->mem, t->from), cexpr_text(m->mem, t->to));
}

const char *trips_text(const emitter *m, const strip *t)
{
    ENDED_BY(text_free) text out = {0};
    for (; t; t = t->next) {
        print_trips(m, t, &out);
        if (t->in)
            text_add(&out, "(%s)", trips_text(m, t->in));
        text_add(&out, t->next ? " " : "");
    }
    return arena_string(m->mem, text_str(&out));
}

static bool starts(const char **s, const char *with)
{
    const size_t n = strlen(with);
    const bool is = !strncmp(*s, with, n);
    *s += is ? n : 0;
    return is;
}

static bool number_after(const char **s, const char *mark, int64_t *n)
{
    char *end;
    if (!starts(s, mark))
        return false;
    *n = strtoll(*s, &end, 10);
    *s = end;
    return true;
}

static int mark_of(const char **s, const char *marks, int n) /* 0: none of them */
{
    int i = n;
    while (--i && marks[i] != **s)
        ;
    *s += i > 0;
    return i;
}

static int axis_of(const emitter *m, const char **s, const char *end) /* -1: none */
{
    int a = 0;
    while (a < m->s->n_axis &&
           !(!strncmp(m->s->letter[a], *s, strlen(m->s->letter[a])) && strchr(end, (*s)[strlen(m->s->letter[a])])))
        a++;
    if (a == m->s->n_axis)
        return -1;
    *s += strlen(m->s->letter[a]);
    return a;
}

static void read_head(const emitter *m, strip *t, const char **s, bool *given)
{
    const size_t n = strspn(*s, "abcdefghijklmnopqrstuvwxyz");
    int64_t which = 0;
    for (t->kind = COUNT(kinds) - 1; t->kind && (strlen(kinds[t->kind]) != n || strncmp(kinds[t->kind], *s, n));)
        t->kind--;
    *s += t->kind ? n : 0;
    if (t->kind == T_IF)
        t->loop = starts(s, "_") ? axis_of(m, s, ">") : -1, number_after(s, ">", &t->left);
    t->shared = t->kind == T_LOOP && starts(s, "*");
    MUST(t->kind || axis_of(m, s, "_") >= 0);
    if ((*given = number_after(s, "_", &which)))
        t->loop = (int)which;
}

static const cexpr *read_until(emitter *m, const char **s, const char *end)
{
    const char *to = strstr(*s, end);
    MUST(to);
    const cexpr *x = read_expr(m->mem, arena_format(m->mem, "%.*s", (int)(to - *s), *s));
    *s = to + strlen(end);
    return x;
}

static void read_range(strip *t, const char **s)
{
    if (number_after(s, "[", &t->first))
        number_after(s, ",", &t->end), t->all = t->end - t->first, number_after(s, "/", &t->all), starts(s, ")");
    number_after(s, "x", &t->left);
}

static void read_marks(emitter *m, strip *t, const char **s)
{
    t->rest = starts(s, "!"), t->masked = starts(s, "~");
    t->way = (trips_way)mark_of(s, ways, COUNT(ways)), t->made = (trips_maker)mark_of(s, makers, COUNT(makers));
    if (starts(s, ":lanes"))
        t->how = IN_LANES;
    else if (number_after(s, ":", &t->together))
        t->how = WRITTEN_OUT;
    if (starts(s, "{"))
        t->from = read_until(m, s, ".."), t->to = read_until(m, s, "}");
}

static strip *read_all(emitter *m, const strip *around, const char **s)
{
    strip *first = NULL, **end = &first, *last = NULL;
    while (**s && **s != ')') {
        bool given;
        strip *t = trips_node(m, (strip){.ph = around->ph, .ring = around->kind == T_RING ? around->ring : NULL});
        read_head(m, t, s, &given), read_range(t, s), read_marks(m, t, s);
        if (t->kind == T_RING)
            t->ring = arena_get(m->mem, 1);
        if (t->kind == T_ELSE)
            t->loop = last->loop, t->left = last->left;
        if (starts(s, "("))
            t->in = read_all(m, t, s), MUST(starts(s, ")"));
        if (!given && numbered(t))
            t->loop = loop_of(m, t);
        t->shared = t->shared || (t->kind > T_STAGE && t->kind < T_TILE && t->in->shared);
        *end = last = t, end = &t->next;
        starts(s, " ");
    }
    return first;
}

strip *trips_read(emitter *m, tile_phase ph, const char *s)
{
    strip *t = read_all(m, &(strip){.ph = ph}, &s);
    MUST(!*s);
    return t;
}
