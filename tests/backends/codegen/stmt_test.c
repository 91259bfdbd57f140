/* stmt_test.c - statements as text of a language made up here, and what is seen of them: the bytes of copies. */
/* ctest: fast */
#include "tests/backends/codegen/tree.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static void test_loops(arena *mem)
{
    code c = code_begin(mem);
    code_open(&c, (stmt){.kind = S_CHUNKS, .name = "n", .trips = 12});
    code_open(&c, (stmt){.kind = S_LOOP,
                         .how = WRITTEN_OUT,
                         .name = "i",
                         .from = cexpr_word(mem, "0"),
                         .to = cexpr_word(mem, "3"),
                         .trips = 3});
    code_open(&c, (stmt){.kind = S_LOOP,
                         .how = IN_LANES,
                         .name = "j",
                         .from = cexpr_word(mem, "a"),
                         .to = cexpr_word(mem, "b"),
                         .step = 4,
                         .tight = true});
    code_store(&c, cexpr_spelled(mem, "y[j]"), cexpr_spelled(mem, "x[i]"));
    code_close(&c), code_close(&c);
    code_open(
        &c,
        (stmt){.kind = S_LOOP, .role = "lane", .name = "l", .from = cexpr_word(mem, "0"), .to = cexpr_word(mem, "64")});
    code_store(&c, cexpr_word(mem, "sum"),
               cexpr_two(mem, "($0 + $1)", cexpr_word(mem, "sum"), cexpr_spelled(mem, "y[l]")));
    code_close(&c), code_close(&c);
    tree_is(c.at, "WHILE (take(12)) {\n    FOR n {\n        WRITE_OUT 3\n        for (index i = 0; i < 3; i++) {\n"
                  "            VECTORS\n            for (index j = a; j < b; j += 4) y[j] = x[i];\n"
                  "        }\n        EACH(l, 0, 64, 1) {\n            sum = sum + y[l];\n        }\n    }\n}\n");
}

static void test_others(arena *mem)
{
    code c = code_begin(mem), front = code_begin(mem);
    char local[] = "x0"; /* statements have a copy */
    code_let(&c, "const real *", local, cexpr_spelled(mem, "at[0]"));
    local[1] = '1';
    code_let(&c, "const index", "low", cexpr_word(mem, "0"));
    code_also(&c, "high", cexpr_word(mem, "7"));
    code_array(&c, "real", "acc", "[4]");
    code_open(&c, (stmt){.kind = S_REPEAT, .place = cexpr_word(mem, "limit"), .value = cexpr_number(mem, 3)});
    stmt *test = code_open(&c, (stmt){.kind = S_IF, .value = cexpr_spelled(mem, "low < limit")});
    code_add(&c, (stmt){.kind = S_CALL, .value = cexpr_spelled(mem, "turn(x0)")});
    code_close(&c);
    code_else(&c, test);
    code_add(&c, (stmt){.kind = S_LEAVE});
    code_close(&c), code_close(&c);
    code_open(&c, (stmt){.kind = S_BLOCK});
    code_add(&c, (stmt){.kind = S_CONSTANT, .name = "k", .value = cexpr_word(mem, "5")});
    code_add(&c, (stmt){.kind = S_FETCH, .value = cexpr_spelled(mem, "x0 + 16"), .trips = 2});
    code_close(&c);
    code_add(&front, (stmt){.kind = S_TABLE, .name = "count", .value = cexpr_spelled(mem, "1, 2")});
    code_before(c.at, &front);
    tree_is(c.at,
            "TABLE(count: 1, 2);\nconst real *x0 = at[0];\nconst index low = 0, high = 7;\nreal acc[4];\n"
            "for (;; limit = 3) {\n    if (low < limit) {\n        turn(x0);\n    }\n    else\n        break;\n}\n"
            "{\n    CONST(k, 5);\n    FETCH(x0 + 16, 2);\n}\n");
}

/* What people read: a block around one loop says nothing, and lines end by column 120, outside of as many brackets as
 * can be, behind commas rather than before signs. */
static void test_read(arena *mem)
{
    code c = code_begin(mem);
    const char *index = "[first_index + second_index + third_index + fourth_index]";
    code_open(&c, (stmt){.kind = S_BLOCK});
    code_open(&c, (stmt){.kind = S_LOOP, .name = "i", .from = cexpr_word(mem, "0"), .to = cexpr_word(mem, "2")});
    code_add(&c, (stmt){.kind = S_CALL,
                        .value = cexpr_spelled(mem, arena_format(mem, "tile(one%s, two%s, three)", index, index))});
    code_store(&c, cexpr_spelled(mem, arena_format(mem, "y%s", index)),
               cexpr_spelled(mem, arena_format(mem, "x%s", index)));
    code_close(&c), code_close(&c);
    tree_is(c.at, "for (index i = 0; i < 2; i++) {\n"
                  "    tile(one[first_index + second_index + third_index + fourth_index],\n"
                  "        two[first_index + second_index + third_index + fourth_index], three);\n"
                  "    y[first_index + second_index + third_index + fourth_index] =\n"
                  "        x[first_index + second_index + third_index + fourth_index];\n}\n");
    text t = {0};
    stmt_lines(&t, "#define A B\n{\n");
    CHECK_TEXT(text_str(&t), "#define A B\n{\n");
    text_free(&t);
}

/* Braces stand where names are given, and where one statement is expected and several are written. */
static void test_braces(arena *mem)
{
    code c = code_begin(mem);
    code_open(&c, (stmt){.kind = S_BLOCK}), code_open(&c, (stmt){.kind = S_BLOCK});
    code_store(&c, cexpr_word(mem, "y"), cexpr_word(mem, "1")),
        code_store(&c, cexpr_word(mem, "z"), cexpr_word(mem, "2"));
    code_close(&c), code_close(&c);
    code_open(&c, (stmt){.kind = S_BLOCK});
    code_open(&c, (stmt){.kind = S_STAGE}), code_let(&c, "real", "copy", cexpr_word(mem, "3")), code_close(&c);
    code_close(&c);
    for (int several = 0; several < 2; several++) {
        code_open(&c, (stmt){.kind = S_IF, .value = cexpr_word(mem, "some"), .tight = true});
        code_open(&c, (stmt){.kind = S_BLOCK}), code_store(&c, cexpr_word(mem, "y"), cexpr_word(mem, "4"));
        if (several)
            code_store(&c, cexpr_word(mem, "z"), cexpr_word(mem, "5"));
        code_close(&c), code_close(&c);
    }
    tree_is(c.at, "y = 1;\nz = 2;\n{\n    real copy = 3;\n}\nif (some)\n    y = 4;\n"
                  "if (some) {\n    y = 4;\n    z = 5;\n}\n");
}

static void test_copied(arena *mem)
{
    code c = code_begin(mem);
    CHECK(stmt_copied(c.at) == 0);
    code_open(&c, (stmt){.kind = S_STAGE, .offset = 128, .bytes = 256}), code_close(&c);
    code_open(&c, (stmt){.kind = S_BLOCK});
    code_open(&c, (stmt){.kind = S_STAGE, .offset = 384, .bytes = 64}), code_close(&c);
    code_close(&c);
    CHECK(stmt_copied(c.at) == 448);
}

int main(void)
{
    arena mem = {0};
    test_loops(&mem);
    test_others(&mem);
    test_read(&mem);
    test_braces(&mem);
    test_copied(&mem);
    arena_free(&mem);
    return check_done();
}
