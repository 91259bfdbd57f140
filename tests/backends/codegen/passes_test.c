/* passes_test.c - passes over statements, on small trees that are read, changed and printed. */
/* ctest: fast */
#include "backends/codegen/passes.h"
#include "tests/backends/codegen/tree.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static bool noticed[N_CODE_PASS]; /* some tree is another one without it */

static char *printed(const stmt *in)
{
    text t = {0};
    stmt_print(&t, &made_up, in);
    return text_take(&t);
}

static bool run(const char *pass, stmt *in, arena *mem, err *e)
{
    int i = 0;
    while (i < N_CODE_PASS && strcmp(code_passes[i].name, pass))
        i++;
    MUST(i < N_CODE_PASS);
    ENDED_BY(heap_free) char *was = printed(in);
    const bool ok = code_through(in, i, i + 1, mem, &made_up, e);
    ENDED_BY(heap_free) char *is = printed(in);
    noticed[i] = noticed[i] || strcmp(was, is) != 0;
    return ok;
}

static void becomes(const char *pass, const char *from, const char *to)
{
    arena mem = {0};
    err e = {0};
    stmt *in = tree_read(&mem, from);
    tree_is(in, from);
    CHECK(run(pass, in, &mem, &e));
    tree_is(in, to);
    arena_free(&mem);
}

static void is_refused(const char *s, const char *want)
{
    arena mem = {0};
    err e = {0};
    stmt *in = tree_read(&mem, s);
    CHECK(!run("barriers", in, &mem, &e) && e.code == TS_UNSUPPORTED);
    CHECK_TEXT(e.text, want);
    arena_free(&mem);
}

static void test_once(void)
{
    becomes("once", "for (index i = 2; i < 3; i++) {\n    y[i] = x[i];\n}\n",
            "{\n    CONST(i, 2);\n    y[i] = x[i];\n}\n");
    /* inner ones too, also where a test does not hold; what has more trips stays */
    becomes("once",
            "for (index i = 0; i < 8; i++) {\n    if (a) {\n        f(i);\n    }\n    else {\n"
            "        for (index j = 4; j < 5; j++) {\n            f(j);\n        }\n        f(i);\n    }\n}\n",
            "for (index i = 0; i < 8; i++) {\n    if (a) {\n        f(i);\n    }\n    else {\n"
            "        {\n            CONST(j, 4);\n            f(j);\n        }\n        f(i);\n    }\n}\n");
    /* there may be none; where it begins is not known; workers share it */
    becomes("once", "for (index i = 3; i < MIN(4, left); i++) {\n    f(i);\n}\n",
            "if (3 < MIN(4, left)) {\n    CONST(i, 3);\n    f(i);\n}\n");
    becomes("once", "for (index i = low; i < 4; i++) {\n    f(i);\n}\n",
            "for (index i = low; i < 4; i++) {\n    f(i);\n}\n");
    becomes("once", "for (index i = 0; i < 1; i++) {\n    if (a) {\n        break;\n    }\n}\n",
            "for (index i = 0; i < 1; i++) {\n    if (a) {\n        break;\n    }\n}\n");
    becomes("once", "EACH(i, 0, 1, 1) {\n    f(i);\n}\n", "EACH(i, 0, 1, 1) {\n    f(i);\n}\n");
}

static void test_barriers(void)
{
    becomes(
        "barriers",
        "MEET();\nMEET();\nf();\nMEET();\nfor (index i = 0; i < 2; i++) {\n    MEET();\n    f();\n"
        "    MEET();\n    MEET();\n}\nMEET();\n",
        "MEET();\nf();\nMEET();\nfor (index i = 0; i < 2; i++) {\n    MEET();\n    f();\n    MEET();\n}\nMEET();\n");
    /* a stage is what is in it: one in front of it and one that it begins with are one behind the other */
    arena mem = {0};
    err e = {0};
    code c = code_begin(&mem);
    code_add(&c, (stmt){.kind = S_BARRIER});
    code_open(&c, (stmt){.kind = S_STAGE});
    code_add(&c, (stmt){.kind = S_BARRIER}), code_call(&c, cexpr_spelled(&mem, "copy()"));
    code_add(&c, (stmt){.kind = S_BARRIER});
    code_close(&c);
    code_add(&c, (stmt){.kind = S_BARRIER}), code_call(&c, cexpr_spelled(&mem, "read()"));
    CHECK(run("barriers", c.at, &mem, &e));
    tree_is(c.at, "MEET();\ncopy();\nMEET();\nread();\n");
    arena_free(&mem);
}

static void test_refused(void)
{
    static const char lanes[] = "workers of a group would wait for one another inside loop \"i\", of which each makes "
                                "other trips\n  hint: copy the operand at a loop outside of it";
    is_refused("EACH(i, 0, 64, 1) {\n    MEET();\n}\n", lanes);
    is_refused(
        "EACH(i, 0, 64, 1) {\n    if (a) {\n        f();\n    }\n    else {\n        MEET();\n        g();\n    }\n}\n",
        lanes);
}

/* A test that workers decide differently, in a loop whose trips all of them make */
static void test_apart(void)
{
    for (int apart = 0; apart < 2; apart++) {
        arena mem = {0};
        err e = {0};
        stmt *in = tree_read(&mem, "for (index r = 0; r < 8; r++) {\n    if (some) {\n        MEET();\n    }\n}\n");
        in->first->first->divergent = apart;
        CHECK(run("barriers", in, &mem, &e) == !apart);
        CHECK(!apart || strstr(e.text, "inside a test of \"some\", of which each makes other trips"));
        arena_free(&mem);
    }
}

/* for n { for k { for b, written out, of 4 { acc[b] = acc[b] + x[8 at + k] } } }, at: element b + n of rows; how: what
 * stands between them */
typedef enum in_the_way { NOTHING, A_TEST, A_STORE, ANOTHER_STORE, A_PUT, NO_TRIPS, A_CHOICE, A_NAME } in_the_way;

static const cexpr *element_of(arena *mem, const char *of, const cexpr *index, int load)
{
    return cexpr_element(mem, of, index, load);
}

static void opens(code *c, const char *name, const cexpr *to, int written)
{
    code_open(c, (stmt){.kind = S_LOOP,
                        .name = name,
                        .from = cexpr_number(c->mem, 0),
                        .to = to,
                        .how = written ? WRITTEN_OUT : AS_IT_IS,
                        .trips = written});
}

static stmt *rows_of(arena *mem, in_the_way what)
{
    code c = code_begin(mem);
    stmt *root = c.at;
    const cexpr *n = cexpr_word(mem, "n"), *k = cexpr_word(mem, "k"), *b = cexpr_word(mem, "b"),
                *which = cexpr_sum(mem, 0, 2, (const cexpr *[]){b, what == A_NAME ? cexpr_word(mem, "m") : n},
                                   (int64_t[]){1, 1}),
                *at = cexpr_one(mem, "checked($0, 9)", element_of(mem, "rows", which, 0)),
                *x = element_of(mem, "x", cexpr_sum(mem, 0, 2, (const cexpr *[]){at, k}, (int64_t[]){8, 1}), 1),
                *acc = element_of(mem, "acc", b, IN_REGISTERS);
    opens(&c, "n", cexpr_number(mem, 3), 0);
    opens(&c, "k", what == NO_TRIPS ? cexpr_word(mem, "last") : cexpr_number(mem, 16), 0);
    if (what == A_NAME)
        code_let(&c, "index", "m", k);
    opens(&c, "b", cexpr_number(mem, 4), 4);
    if (what == A_TEST)
        code_if(&c, cexpr_word(mem, "asked"));
    const cexpr *chosen = cexpr_lanes(mem, "select", (instance){0}, "pick($0, $1)", 2, (const cexpr *[]){x, k});
    code_store(&c, acc, cexpr_two(mem, "($0 + $1)", acc, what == A_CHOICE ? chosen : x));
    if (what == A_STORE || what == ANOTHER_STORE)
        code_store(&c, element_of(mem, what == A_STORE ? "rows" : "y", b, 2), k);
    if (what == A_PUT) /* of some elements of a vector */
        code_call(&c, cexpr_lanes(mem, "put", (instance){E_F32, 8}, "put(&$0, $1, $2)", 3,
                                  (const cexpr *[]){element_of(mem, "y", b, 2), k, n}));
    return root;
}

static void test_invariant(void)
{
    static const char named[] = "    int64 index0[4];\n    WRITE_OUT 4\n    for (index b = 0; b < 4; b++) {\n"
                                "        index0[b] = checked(rows[b + n], 9);\n    }\n";
    for (in_the_way what = NOTHING; what <= A_NAME; what++) {
        arena mem = {0};
        const bool goes = what == NOTHING || what == ANOTHER_STORE || what == A_PUT;
        stmt *in = rows_of(&mem, what);
        text t = {0};
        CHECK(run("invariant", in, &mem, NULL));
        stmt_print(&t, &made_up, in);
        if (!CHECK(!!strstr(text_str(&t), named) == goes && !!strstr(text_str(&t), "x[8 * index0[b] + k]") == goes))
            printf("%d: %s", what, t.s);
        text_free(&t), arena_free(&mem);
    }
}

/* One that no loop changes is a number, computed in front of all of them; it stays where none has two trips. */
static void test_invariant_one(void)
{
    for (int trips = 1; trips <= 2; trips++) {
        arena mem = {0};
        code c = code_begin(&mem);
        stmt *root = c.at;
        const cexpr *at = cexpr_one(&mem, "checked($0, 9)", element_of(&mem, "rows", cexpr_number(&mem, 2), 0)),
                    *k = cexpr_word(&mem, "k");
        opens(&c, "k", cexpr_number(&mem, trips), 0);
        code_store(&c, element_of(&mem, "y", k, 2), element_of(&mem, "x", at, 1));
        code_store(&c, element_of(&mem, "z", k, 2), element_of(&mem, "x", at, 1));
        CHECK(run("invariant", root, &mem, NULL));
        tree_is(root, trips == 2 ? "const int64 index0 = checked(rows[2], 9);\nfor (index k = 0; k < 2; k++) {\n"
                                   "    y[k] = x[index0];\n    z[k] = x[index0];\n}\n"
                                 : "for (index k = 0; k < 1; k++) {\n    y[k] = x[checked(rows[2], 9)];\n"
                                   "    z[k] = x[checked(rows[2], 9)];\n}\n");
        arena_free(&mem);
    }
}

/* Two loops of one name, of 2 and of 4 trips: each has a list that is as long. */
static void test_invariant_lists(void)
{
    arena mem = {0};
    code c = code_begin(&mem);
    stmt *root = c.at;
    const cexpr *b = cexpr_word(&mem, "b"), *at = cexpr_one(&mem, "checked($0, 9)", element_of(&mem, "rows", b, 0));
    opens(&c, "k", cexpr_number(&mem, 8), 0);
    for (int n = 2; n <= 4; n += 2) {
        opens(&c, "b", cexpr_number(&mem, n), n);
        code_store(&c, element_of(&mem, "acc", b, IN_REGISTERS), element_of(&mem, "x", at, 1));
        code_close(&c);
    }
    CHECK(run("invariant", root, &mem, NULL));
    text t = {0};
    stmt_print(&t, &made_up, root);
    CHECK(strstr(text_str(&t), "index0[2]") && strstr(text_str(&t), "index1[4]") && strstr(t.s, "x[index1[b]]"));
    text_free(&t), arena_free(&mem);
}

/* What a place is computed from may be real: it stays within the place, as what it is counted from stays. */
static void test_invariant_real(void)
{
    arena mem = {0};
    code c = code_begin(&mem);
    stmt *root = c.at;
    const cexpr *k = cexpr_word(&mem, "k"), *real = element_of(&mem, "r", cexpr_number(&mem, 2), 0),
                *at = cexpr_two(&mem, "whole($0 + $1)", real, k), *base = cexpr_one(&mem, "&$0", real);
    opens(&c, "k", cexpr_number(&mem, 4), 0);
    code_store(&c, element_of(&mem, "y", k, 2), element_of(&mem, "x", at, 1));
    code_store(&c, element_of(&mem, "z", k, 2), cexpr_at(&mem, base, k, 1));
    CHECK(run("invariant", root, &mem, NULL));
    tree_is(root, "for (index k = 0; k < 4; k++) {\n    y[k] = x[whole(r[2] + k)];\n    z[k] = &r[2][k];\n}\n");
    arena_free(&mem);
}

int main(void)
{
    test_invariant(), test_invariant_one(), test_invariant_lists(), test_invariant_real(), test_apart(), test_once(),
        test_barriers(), test_refused();
    for (int i = 0; i < N_CODE_PASS; i++)
        if (!CHECK(noticed[i]))
            printf("  no tree is another one without %s\n", code_passes[i].name);
    return check_done();
}
