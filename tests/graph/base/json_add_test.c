/* Forms of JSON: names, texts, truths, numbers, commas. */
/* ctest: fast */
#include "graph/base/base.h"
#include "tests/check.h"

#include <math.h>

static const char *volatile none; /* what the compiler cannot see */

static void test_values(void)
{
    text t = {0};
    json_add(&t, "{name:%s,bytes:%lld,of:%zu,n:%d,at:%u,usable:%i,not:%i}", "a\"b", 1LL << 40, (size_t)7, -3, 5u, true,
             false);
    CHECK_TEXT(text_str(&t), "{\"name\":\"a\\\"b\",\"bytes\":1099511627776,\"of\":7,\"n\":-3,\"at\":5,\"usable\":true,"
                             "\"not\":false}");
    text_free(&t);
    json_add(&t, "[%.4g,%.0f,%g,%g,%s,%c,%.*s,'by: hand',null,-1.5]", 0.123456, 1e15, (double)NAN, (double)INFINITY,
             none, 'x', 2, "abc");
    CHECK_TEXT(text_str(&t), "[0.1235,1000000000000000,null,null,null,\"x\",\"ab\",\"by: hand\",null,-1.5]");
    text_free(&t);
    json_add(&t, "{%s:1,format:'ops/1'}", "a name: with {all}");
    CHECK_TEXT(text_str(&t), "{\"a name: with {all}\":1,\"format\":\"ops/1\"}");
    text_free(&t);
}

static void test_commas(void)
{
    text t = {0};
    json_add(&t, "a:1");
    json_add(&t, "b:[");
    for (int i = 0; i < 3; i++)
        json_add(&t, "%d", i);
    json_add(&t, "]");
    json_add(&t, "c:{");
    for (int i = 0; i < 2; i++)
        json_add(&t, "%s:", i ? "y" : "x"), json_add(&t, "%s", "{[:");
    json_add(&t, "}");
    json_add(&t, "\n{d:[");
    json_add(&t, "]}\n");
    json_add(&t, "e:1");
    CHECK_TEXT(text_str(&t), "\"a\":1,\"b\":[0,1,2],\"c\":{\"x\":\"{[:\",\"y\":\"{[:\"},\n{\"d\":[]}\n,\"e\":1");
    text_free(&t);
}

int main(void)
{
    test_values();
    test_commas();
    return check_done();
}
