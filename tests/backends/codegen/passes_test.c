/* passes_test.c - passes over statements, on small trees that are read, changed and printed. */
/* ctest: fast */
#include "backends/codegen/passes.h"
#include "tests/backends/codegen/tree.h"
#include "tests/check.h"

#include <string.h>

static void becomes(bool (*pass)(stmt *in, arena *mem, const dialect *d, err *e), const char *from, const char *to)
{
    arena mem = {0};
    err e = {0};
    stmt *in = tree_read(&mem, from);
    tree_is(in, from);
    CHECK(pass(in, &mem, &made_up, &e));
    tree_is(in, to);
    arena_free(&mem);
}

static void is_refused(const char *s, const char *want)
{
    arena mem = {0};
    err e = {0};
    stmt *in = tree_read(&mem, s);
    CHECK(!pass_barriers(in, &mem, &made_up, &e) && e.code == TS_UNSUPPORTED);
    CHECK_TEXT(e.text, want);
    arena_free(&mem);
}

static void test_once(void)
{
    becomes(pass_once, "for (index i = 2; i < 3; i++) {\n    y[i] = x[i];\n}\n",
            "{\n    CONST(i, 2);\n    y[i] = x[i];\n}\n");
    /* inner ones too, also where a test does not hold; what has more trips stays */
    becomes(pass_once,
            "for (index i = 0; i < 8; i++) {\n    if (a) {\n        f(i);\n    }\n    else {\n"
            "        for (index j = 4; j < 5; j++) {\n            f(j);\n        }\n        f(i);\n    }\n}\n",
            "for (index i = 0; i < 8; i++) {\n    if (a) {\n        f(i);\n    }\n    else {\n"
            "        {\n            CONST(j, 4);\n            f(j);\n        }\n        f(i);\n    }\n}\n");
    /* there may be none; where it begins is not known; workers share it */
    becomes(pass_once, "for (index i = 3; i < MIN(4, left); i++) {\n    f(i);\n}\n",
            "if (3 < MIN(4, left)) {\n    CONST(i, 3);\n    f(i);\n}\n");
    becomes(pass_once, "for (index i = low; i < 4; i++) {\n    f(i);\n}\n",
            "for (index i = low; i < 4; i++) {\n    f(i);\n}\n");
    becomes(pass_once, "for (index i = 0; i < 1; i++) {\n    if (a) {\n        break;\n    }\n}\n",
            "for (index i = 0; i < 1; i++) {\n    if (a) {\n        break;\n    }\n}\n");
    becomes(pass_once, "EACH(i, 0, 1, 1) {\n    f(i);\n}\n", "EACH(i, 0, 1, 1) {\n    f(i);\n}\n");
}

static void test_barriers(void)
{
    becomes(
        pass_barriers,
        "MEET();\nMEET();\nf();\nMEET();\nfor (index i = 0; i < 2; i++) {\n    MEET();\n    f();\n"
        "    MEET();\n    MEET();\n}\nMEET();\n",
        "MEET();\nf();\nMEET();\nfor (index i = 0; i < 2; i++) {\n    MEET();\n    f();\n    MEET();\n}\nMEET();\n");
    /* a stage is what is in it: one in front of it and one that it begins with are one behind the other */
    arena mem = {0};
    err e = {0};
    code c = code_begin(&mem);
    code_add(&c, (stmt){.kind = S_BARRIER});
    code_open(&c, (stmt){.kind = S_STAGE});
    code_add(&c, (stmt){.kind = S_BARRIER}), code_call(&c, cexpr_word(&mem, "copy()"));
    code_add(&c, (stmt){.kind = S_BARRIER});
    code_close(&c);
    code_add(&c, (stmt){.kind = S_BARRIER}), code_call(&c, cexpr_word(&mem, "read()"));
    CHECK(pass_barriers(c.at, &mem, &made_up, &e));
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
        CHECK(pass_barriers(in, &mem, &made_up, &e) == !apart);
        CHECK(!apart || strstr(e.text, "inside a test of \"some\", of which each makes other trips"));
        arena_free(&mem);
    }
}

int main(void)
{
    test_apart(), test_once(), test_barriers(), test_refused();
    CHECK(!strcmp(code_passes[0].name, "once") && !strcmp(code_passes[N_CODE_PASS - 1].name, "barriers"));
    return check_done();
}
