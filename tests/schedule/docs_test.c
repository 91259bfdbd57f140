/* docs/schema.md and docs/plan.md are true: their schemas load, their nests are legal, and every key of a
 * plan is explained. */
/* ctest: fast */
#include "schedule/explain/explain.h"
#include "schedule/nest/nest.h"
#include "schedule/schema/schema.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_doc(const char *name)
{
    const char *source = getenv("SOURCE");
    char path[500];
    text t = {0};
    err e = {0};
    snprintf(path, sizeof path, "%s/docs/%s", source ? source : ".", name);
    if (!CHECK(file_read(path, 1 << 20, &t, &e)))
        printf("  %s\n", e.text);
    return text_take(&t);
}

/* The next block between ``` lines that is marked so, from *at on, which moves behind it; NULL when there is none. */
static char *block(const char **at, const char *mark)
{
    char open[40];
    snprintf(open, sizeof open, "\n```%s\n", mark);
    const char *s = strstr(*at, open), *end = s ? strstr(s + strlen(open), "```") : NULL;
    if (!end)
        return NULL;
    s += strlen(open);
    *at = end;
    return strndup(s, (size_t)(end - s));
}

static void test_schemas(const char *doc)
{
    scratch folder = scratch_make();
    char path[200];
    int n = 0;
    snprintf(path, sizeof path, "%s/doc.json", folder.path);
    for (char *s; (s = block(&doc, "json")); free(s), n++) {
        arena mem = {0};
        schema out;
        err e = {0};
        CHECK(file_save(path, s, strlen(s), &e));
        if (!CHECK(schema_load(&mem, path, &(schema_use){.by = "c", .kind = "cpu"}, &out, &e) && out.n_rule > 0))
            printf("  %s\n", e.text);
        arena_free(&mem);
    }
    CHECK(n == 5);
    scratch_free(&folder);
}

static void test_nests(const char *doc, const char *mark, const char *on, int count)
{
    static const char one_by_one[] = "{\"match\":{\"op\":\"matmul\"},\"compute\":\"f32\"}";
    planned b;
    char *s = block(&doc, mark), *rest = NULL;
    int n = 0;
    if (CHECK(s) && make_plan(&b, &(setting){product, on, "avx512", one_by_one, 2})) {
        for (char *line = strtok_r(s, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), n++) {
            err e = {0};
            if (!CHECK(nest_parse(b.p->on, b.p->kernel, line, &e) && nest_fits(b.p, b.p->kernel, line, &e)))
                printf("  %s\n", e.text);
        }
        free_plan(&b);
    }
    CHECK(n == count);
    free(s);
}

static int check_keys(const char *doc, const cJSON *v)
{
    int n = 0;
    const bool data = v->string && !strcmp(v->string, "dims");
    for (const cJSON *i = v->child; i && !data; i = i->next) {
        char quoted[60];
        n += 1 + check_keys(doc, i);
        if (!i->string)
            continue;
        snprintf(quoted, sizeof quoted, "`%s`", i->string);
        if (!CHECK(strstr(doc, quoted)))
            printf("  docs/plan.md does not explain %s\n", quoted);
    }
    return n;
}

static void test_keys(const char *doc, const char *on)
{
    planned b;
    if (make_plan(&b, &(setting){network, on, "avx2", NULL, 2})) {
        text t = {0};
        plan_explain(b.p, "c", "", &t);
        cJSON *root = cJSON_Parse(t.s);
        CHECK(root && check_keys(doc, root) > 100);
        cJSON_Delete(root);
        text_free(&t);
    }
    free_plan(&b);
}

int main(void)
{
    char *schemas = read_doc("schema.md"), *plans = read_doc("plan.md");
    test_schemas(schemas);
    test_nests(schemas, "nest", two_cores, 5);
    test_nests(schemas, "nest gpu", "gpu:h100", 3);
    test_keys(plans, two_cores);
    test_keys(plans, "gpu:h100");
    free(schemas), free(plans);
    return check_done();
}
