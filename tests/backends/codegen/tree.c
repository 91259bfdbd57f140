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
    if (sscanf(s, "MIN(%79[^,], %79[^)])", first, second) == 2)
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

static void read_loop(code *c, const char *role, const char *name, const char *from, const char *to)
{
    const cexpr *a = read_expr(c->mem, from), *b = read_expr(c->mem, to);
    const int64_t trips = a->kind == C_NUMBER ? at_most(b) - a->number : 0;
    code_open(c,
              (stmt){.kind = S_LOOP, .role = role, .name = name, .from = a, .to = b, .trips = trips > 0 ? trips : 0});
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
