/* Devices by their names, in commands and in rules: which are the same, which there are none of, and what plans over
 * several cannot do. */
/* ctest: fast */
#include "backends/driver.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

typedef struct subject {
    ts_graph *g;
    ts_tensor y;
    scratch folder;
    char schema[160];
} subject;

static subject make(void)
{
    subject s = {.g = ts_graph_make(), .folder = scratch_make()};
    const int64_t square[] = {8, 8};
    const ts_tensor x = ts_weight(s.g, "x", TS_F32, 2, square, 0, 1, 1), i = ts_input(s.g, "i", TS_F32, 2, square);
    s.y = ts_call1(s.g, "softmax axis=-1", ts_call2(s.g, "matmul", i, x));
    snprintf(s.schema, sizeof s.schema, "%s/s.json", s.folder.path);
    return s;
}

static void write_rules(const subject *s, const char *rules)
{
    char all[400];
    err e = {0};
    snprintf(all, sizeof all, "{\"format\":\"tiling/1\",\"rules\":[%s]}", rules);
    CHECK(file_save(s->schema, all, strlen(all), &e));
}

static ts_plan *plan_of(const subject *s, const char *by, bool ruled, err *e)
{
    return ts_plan_of(s->g, 1, &s->y, 0, NULL,
                      &(ts_options){.target = by, .schema = ruled ? s->schema : NULL, .cache_folder = "none"}, e);
}

/* want: how the message begins, without the schema's folder */
static void refused(const subject *s, const char *by, const char *rules, ts_code code, const char *want)
{
    err e = {0};
    if (rules)
        write_rules(s, rules);
    ts_plan *p = plan_of(s, by, rules != NULL, &e);
    if (p)
        CHECK(!ts_plan_build(p, &e));
    char *at = strstr(e.text, s->folder.path);
    const size_t n = strlen(s->folder.path);
    if (at)
        memmove(at, at + n + 1, strlen(at + n + 1) + 1);
    CHECK(e.code == code);
    e.text[strlen(want) < sizeof e.text ? strlen(want) : 0] = 0;
    CHECK_TEXT(e.text, want);
    ts_plan_free(p);
}

static void test_refusals(const subject *s)
{
    refused(s, "c,moon", NULL, TS_USAGE, "no target \"moon\"");
    refused(s, "c,c", NULL, TS_USAGE, "device c is named twice");
    refused(s, "c,interp:1", NULL, TS_BAD_INPUT, "no device \"interp:1\"\n  hint: devices of plans over several are: ");
    refused(s, "opencl:x", NULL, TS_BAD_INPUT,
            "device \"opencl:x\": \"x\" is no number of a device\n  hint: the first one is opencl:0");
    refused(s, "c,opencl:", NULL, TS_BAD_INPUT, "device \"opencl:\": \"\" is no number of a device");
    refused(s, "opencl:1x", NULL, TS_BAD_INPUT, "device \"opencl:1x\": \"1x\" is no number of a device");
    refused(s, "c,", NULL, TS_USAGE, "no target \"\"");
    refused(s, "c:cores9999", NULL, TS_BAD_INPUT,
            "there is no \"cores9999\" on this machine\n  hint: its parts are numa0");
    refused(s, "c,c:moon", NULL, TS_BAD_INPUT, "there is no \"moon\" on this machine\n  hint: its parts are numa0");
    refused(s, "c:cores0,c:cores0", NULL, TS_USAGE, "device c:cores0 is named twice");
    refused(s, "c", "{\"place\":\"moon:0\"}", TS_BAD_INPUT,
            "s.json:1:40 (/rules/0/place): no device \"moon:0\"\n  hint: devices of plans over several are: ");
    refused(s, "c", "{\"match\":{\"op\":\"softmax\"},\"place\":\"null\"}", TS_UNSUPPORTED,
            "s.json:1:65 (/rules/0/place): target null cannot be one of several in a plan\n  hint: name another place "
            "there, or leave it out");
}

static void check_sites(const subject *s, const char *by, const char *rules, const char *want)
{
    err e = {0};
    text t = {0};
    if (rules)
        write_rules(s, rules);
    ts_plan *p = plan_of(s, by, rules != NULL, &e);
    if (!CHECK(p != NULL))
        printf("  %s\n", e.text);
    for (int i = 0; p && i < p->plan->n_site; i++)
        text_add(&t, "%s%s", i ? " " : "", p->plan->site[i].name);
    CHECK_TEXT(text_str(&t), want);
    ts_plan_free(p), text_free(&t);
}

static void test_names(const subject *s)
{
    check_sites(s, "c", NULL, "");
    check_sites(s, "c", "{\"place\":\"c\"}", ""); /* the command's own: there is one device */
    check_sites(s, "interp", "{\"place\":\"interp\"}", "");
    check_sites(s, "c", "{\"match\":{\"op\":\"softmax\"},\"place\":\"interp\"}", "c interp");
    check_sites(s, "interp", "{\"match\":{\"op\":\"softmax\"},\"place\":\"cpu\"}", "interp c");
    check_sites(s, "c", "{\"match\":{\"op\":\"softmax\"},\"place\":\"auto\"}", "");
    check_sites(s, "c:cores0", NULL, ""); /* a part is a device as any other */
    check_sites(s, "c:cores0", "{\"match\":{\"op\":\"softmax\"},\"place\":\"c:numa0\"}", "c:cores0 c:numa0");
    check_sites(s, "c:numa0,c:cores0", "{\"match\":{\"op\":\"softmax\"},\"place\":\"cpu:cores0\"}", "c:numa0 c:cores0");
}

static void test_whole(const subject *s) /* what only a plan for one device can */
{
    err e = {0};
    write_rules(s, "{\"match\":{\"op\":\"softmax\"},\"place\":\"interp\"}");
    ts_plan *p = plan_of(s, "c", true, &e);
    CHECK(p && !ts_plan_emit(p, "/nonexistent/folder", NULL, &e) && e.code == TS_UNSUPPORTED);
    CHECK_TEXT(e.text, "a plan over several devices is not written as one program\n  hint: name one target that can do "
                       "all of it, and leave \"place\" out of the schema");
    ts_plan_free(p);
}

int main(void)
{
    subject s = make();
    test_refusals(&s);
    test_names(&s);
    test_whole(&s);
    ts_graph_free(s.g);
    scratch_free(&s.folder);
    return check_done();
}
