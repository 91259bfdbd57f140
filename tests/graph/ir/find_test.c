/* Operations are found by their names, and by what ONNX calls them in a domain at a version. */
/* ctest: fast */
#include "graph/ir/op.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static void test_names(void)
{
    int n = 0;
    for (const op *o = op_next(NULL); o; o = op_next(o), n++)
        CHECK(op_find(o->name) == o);
    CHECK(n > 200 && !op_find("") && !op_find("Add") && !op_find("nothing_of_the_kind"));
}

static void test_operators(void)
{
    const onnx_rule *r;
    CHECK(op_for_onnx("", "Add", 17, &r) == op_find("add"));
    CHECK(op_for_onnx("ai.onnx", "Add", 7, &r) == op_find("add") && r->since == 7);
    CHECK(op_for_onnx("", "Add", 6, &r) == op_find("add") && r->since == 1); /* broadcast by attribute */
    CHECK(!op_for_onnx("", "GroupNormalization", 17, &r) && !r);
    CHECK(!op_for_onnx("com.acme", "Add", 17, &r));
    CHECK(!op_for_onnx("", "com.acme.Add", 17, &r) && !op_for_onnx("", "", 17, &r));
    char *endless = calloc(1, 10000); /* longer than any */
    MUST(endless != NULL);
    CHECK(!op_for_onnx("com.acme", memset(endless, 'a', 9999), 17, &r) && !r);
    free(endless);
}

int main(void)
{
    test_names();
    test_operators();
    return check_done();
}
