/* docs/plan.md explains every key of a plan. */
/* ctest: fast */
#include "schedule/explain/explain.h"
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
    char *plans = read_doc("plan.md");
    test_keys(plans, two_cores);
    test_keys(plans, "gpu:h100");
    free(plans);
    return check_done();
}
