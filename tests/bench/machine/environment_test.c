/* The environment block: every value is there or null with its reason; nothing that names the user or the host. */
#include "bench/machine/environment.h"
#include "graph/base/js.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_reasons(const cJSON *object)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, object)
    {
        if (cJSON_IsObject(v))
            check_reasons(v);
        else if (cJSON_IsNull(v) && !CHECK(*js_get_text(js_get(object, "why"), v->string) != 0))
            printf("%s is null without a reason\n", v->string);
    }
}

static void test_block(void)
{
    ts_error e = {0};
    char *text = environment_json(NULL, 2, 7, &e), host[256] = "";
    cJSON *v = js_parse(text, "environment", &e);
    CHECK_TEXT(e.text, "");
    static const char *const keys[] = {"cpu",     "cores",    "threads",      "isa",           "isa_available",
                                       "caches",  "governor", "huge_pages",   "load",          "hypervisor",
                                       "os",      "libc",     "tool/version", "tool/revision", "tool/build",
                                       "machine", "seed",     "memory_bytes"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!CHECK(js_get(v, keys[i]) != NULL))
            printf("missing: %s\n", keys[i]);
    CHECK(js_get_number(v, "threads", 0) == 2 && js_get_number(v, "seed", 0) == 7 && js_get_number(v, "cores", 0) >= 1);
    CHECK(cJSON_IsNumber(js_get(v, "canary_ns")));
    check_reasons(v);
    gethostname(host, sizeof host - 1);
    CHECK(strlen(host) < 4 || strstr(text, host) == NULL);
    cJSON_Delete(v);
    free(text);
}

static void test_noise(void)
{
    ts_error e = {0};
    char *text = noise_json(&e);
    cJSON *v = js_parse(text, "noise", &e);
    CHECK(js_get_number(v, "n", 0) >= 1 && js_get_number(v, "median_ns", 0) > 1e4);
    double disturbed = js_get_number(v, "disturbed_share", -1);
    CHECK(disturbed >= 0 && disturbed <= 1);
    CHECK(js_get_number(v, "p90_ns", 0) >= js_get_number(v, "median_ns", 1e18));
    cJSON_Delete(v);
    free(text);
}

static void test_ticks(void)
{
    cpu_ticks a = {100, 4}, b = {200, 9};
    CHECK(stolen_share(a, b) == 0.05 && isnan(stolen_share(a, a)));
    cpu_ticks now = cpu_ticks_now();
    CHECK(now.all > 0 && (isnan(now.stolen) || now.stolen >= 0));
}

int main(void)
{
    test_block();
    test_noise();
    test_ticks();
    return check_done();
}
