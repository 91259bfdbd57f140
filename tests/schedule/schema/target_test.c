/* One file with rules for several targets: each plan follows those that are for its back end or its kind of machine,
 * and none speaks of the others. */
/* ctest: fast */
#include "schedule/explain/explain.h"
#include "schedule/nest/nest.h"
#include "schedule/schema/schema.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <string.h>

static const char rules[] = "{\"name\":\"groups\",\"match\":{\"op\":\"matmul\",\"target\":[\"gpu\"]},"
                            "\"loops\":\"m@block n/32@block k n@lane\"},\n"
                            "{\"name\":\"elsewhere\",\"match\":{\"target\":\"interp\"},\"loops\":\"m n k\"},\n"
                            "{\"name\":\"threads\",\"match\":{\"op\":\"matmul\",\"target\":[\"cpu\",\"interp\"]},"
                            "\"loops\":\"m/4@core n/16 k m@unroll n@vector\"}";

static void follows(const char *card, const char *by, const char *loops)
{
    planned b;
    text t = {0}, json = {0};
    if (make_plan(&b, &(setting){small_product, card, "avx512", rules, 2})) {
        nest_print(&t, b.p->kernel, false);
        CHECK_TEXT(text_str(&t), loops);
        CHECK_TEXT(b.p->kernel->rule, by);
        plan_explain(b.p, "c", "", &json);
        CHECK(strstr(text_str(&json), "\"notes\":[],\"build\"")); /* no rule of others is said to decide nothing */
    }
    text_free(&t), text_free(&json);
    free_plan(&b);
}

static void reads(const char *text_of, const schema_use *by, const char *want) /* want: "" is no refusal */
{
    scratch folder = scratch_make();
    arena mem = {0};
    schema out;
    err e = {0};
    const char *path = scratch_in(&folder, "x.json");
    CHECK(file_save(path, text_of, strlen(text_of), &e));
    CHECK(schema_load(&mem, path, by, &out, &e) == !*want && (!*want || e.code == TS_BAD_INPUT));
    const char *at = strstr(e.text, "x.json");
    CHECK_TEXT(at ? at : e.text, want);
    arena_free(&mem), scratch_free(&folder);
}

int main(void)
{
    static const char *const known[] = {"c", "null", "cpu", "gpu", NULL};
    const schema_use threads = {.by = "c", .kind = "cpu", .known = known},
                     groups = {.by = "null", .kind = "gpu", .known = known};
    follows(two_cores, "threads", "m/4@core n/16 k m@unroll n@vector");
    follows("gpu:h100", "groups", "m@block n/32@block k n@lane");
    reads("{\"format\":\"tiling/1\",\"rules\":[{\"match\":{\"target\":\"gpuu\"}}]}", &threads,
          "x.json:1:50 (/rules/0/match/target): there is no target \"gpuu\"\n  hint: did you mean gpu?\n  hint: "
          "rules are for back ends or kinds of machines: c, null, cpu, gpu");
    reads("{\"format\":\"tiling/1\",\"rules\":[{\"match\":{\"target\":[]}}]}", &threads,
          "x.json:1:50 (/rules/0/match/target): \"target\" is an empty list; leave it out instead");
    reads("{\"format\":\"tiling/1\",\"target\":\"gpu\",\"rules\":[]}", &groups, "");
    reads("{\"format\":\"tiling/1\",\"target\":\"null\",\"rules\":[]}", &groups, "");
    reads("{\"format\":\"tiling/1\",\"target\":\"gpu\",\"rules\":[]}", &threads,
          "x.json:1:31 (/target): the schema is for target \"gpu\", the plan for \"c\"");
    return check_done();
}
