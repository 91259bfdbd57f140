/* Conformance cases: finding them in folders and archives, running each in a process of its own, and what is said of
 * those that fail. */
/* ctest: fast */
#include "cli/cases/cases.h"
#include "graph/base/base.h"
#include "tests/check.h"
#include "tests/import/wire.h"
#include "tests/scratch.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *root;

static void save(const char *name, text *t)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    CHECK(file_save(path, text_str(t), t->length, NULL));
    text_free(t);
}

/* type: of the format, 1 is f32 */
static void save_values(const char *name, int type, const void *v, size_t bytes)
{
    text t = {0};
    wire_int(&t, TENSOR_DIMS, 3);
    wire_int(&t, TENSOR_TYPE, (uint64_t)type);
    wire_bytes(&t, TENSOR_RAW, v, bytes);
    save(name, &t);
}

/* root/tier/name: y = OP(x, x) for x = 1 2 3, with y stored as given. */
static void make_case(const char *name, const char *node, int type, const void *y)
{
    char path[512];
    wire_model m;
    text file = {0};
    snprintf(path, sizeof path, "%s/%s/test_data_set_0", root, name);
    CHECK(file_make_folder(path, NULL));
    wire_begin(&m);
    wire_input(&m, "x f32 3");
    wire_output(&m, "y f32 3");
    wire_node(&m, "n", node);
    wire_end(&m, &file);
    snprintf(path, sizeof path, "%s/model.onnx", name);
    save(path, &file);
    snprintf(path, sizeof path, "%s/test_data_set_0/input_0.pb", name);
    save_values(path, 1, (const float[]){1, 2, 3}, 12);
    snprintf(path, sizeof path, "%s/test_data_set_0/output_0.pb", name);
    save_values(path, type, y, 12);
}

static void make_cases(void)
{
    make_case("P0/test_good", "Add x,x y", 1, (const float[]){2, 4, 6.000001F});
    make_case("P0/test_wrong", "Add x,x y", 1, (const float[]){2, 5, 6});
    make_case("P1/test_dtype", "Add x,x y", 6, (const int32_t[]){2, 4, 6});
    make_case("P1/test_unknown", "Foo x,x y", 1, (const float[]){2, 4, 6});
}

static int steps;
static void count(void *user, int n, const char *name)
{
    (void)user, (void)n, (void)name;
    steps++;
}

static void run(const case_filter *f, double seconds, cases *c, outcome *out)
{
    ts_error e = {0};
    const case_options w = {.options = {.target = "interp", .threads = 1}, .seconds = seconds, .jobs = 2};
    *c = (cases){0};
    memset(out, 0, 8 * sizeof *out);
    if (!CHECK(cases_find(c, root, f, &e) && c->n <= 8 && cases_run(c, &w, out, count, NULL, &e)))
        fprintf(stderr, "  %s\n", e.text);
}

static void said(const outcome *o, const char *part)
{
    if (!CHECK(!o->passed && strstr(o->reason, part)))
        fprintf(stderr, "  said: %s\n  want: %s\n", o->reason, part);
}

static void test_runs(void)
{
    cases c;
    outcome out[8];
    run(&(case_filter){0}, 60, &c, out);
    CHECK(c.n == 4 && c.skipped == 0 && steps > 0);
    CHECK(c.n == 4 && !strcmp(c.all[0].tier, "P0") && !strcmp(c.all[3].name, "test_unknown"));
    CHECK(out[0].passed && !*out[0].reason);
    said(&out[1], "output 0, \"y\", differs in 1 of 3 elements, first in element 1: 4, expected 5");
    said(&out[2], "output 0, \"y\", is f32[3], expected i32[3]");
    said(&out[3], "model.onnx: M016 not supported:  Foo (opset 17, f32); in node[0] \"n\"");
    CHECK(out[3].code == TS_UNSUPPORTED);
    cases_free(&c);
}

static void test_time(void)
{
    cases c;
    outcome out[8];
    run(&(case_filter){.name = "test_good"}, 1e-9, &c, out);
    CHECK(c.n == 1 && c.skipped == 3);
    said(&out[0], "not finished after 1e-09 s");
    CHECK(out[0].code == TS_TIMEOUT);
    cases_free(&c);
}

static void test_filters(void)
{
    cases c;
    outcome out[8];
    run(&(case_filter){.tiers = "P9,P1"}, 60, &c, out);
    CHECK(c.n == 2 && c.skipped == 2);
    cases_free(&c);
    text index = {0};
    text_add(&index, "tier\tcase\toperator\nP0\ttest_good\tAdd-14\nP0\ttest_wrong\tAdd-14\nP1\ttest_gone\tSub-1\n");
    save("index.tsv", &index);
    run(&(case_filter){.name = "test_g*"}, 60, &c, out);
    CHECK(c.n == 2 && c.skipped == 1 && !strcmp(c.all[0].op, "Add-14") && out[0].passed);
    said(&out[1], "no test_data_set_0");
    cases_free(&c);
    run(&(case_filter){.op = "Add"}, 60, &c, out);
    CHECK(c.n == 2 && c.skipped == 1);
    cases_free(&c);
    text bad = {0};
    text_add(&bad, "tier\tcase\n..\tetc\n");
    save("index.tsv", &bad);
    ts_error e = {0};
    CHECK(!cases_find(&c, root, &(case_filter){0}, &e) && strstr(e.text, "\"../etc\" is no name of a case"));
    cases_free(&c);
}

/* ---- archives ---- */
static void pack(const char *path, const char *const *name, int n)
{
    struct archive *a = archive_write_new();
    archive_write_add_filter_gzip(a);
    archive_write_set_format_ustar(a);
    CHECK(archive_write_open_filename(a, path) == ARCHIVE_OK);
    for (int i = 0; i < n; i++) {
        mapping m = {0};
        char from[512];
        snprintf(from, sizeof from, "%s/%s", root, name[i]);
        if (access(from, R_OK) == 0)
            CHECK(file_map(from, &m, NULL));
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, name[i]);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0600);
        archive_entry_set_size(entry, (la_int64_t)m.size);
        CHECK(archive_write_header(a, entry) == ARCHIVE_OK);
        if (m.size)
            CHECK(archive_write_data(a, m.at, m.size) == (la_ssize_t)m.size);
        archive_entry_free(entry);
        file_unmap(&m);
    }
    archive_write_free(a);
}

static void test_archive(void)
{
    static const char *const ok[] = {"./P0/test_good/model.onnx", "P0/test_good/test_data_set_0/input_0.pb",
                                     "P0/test_good/test_data_set_0/output_0.pb", "P1/test_dtype/model.onnx"};
    static const char *const bad[] = {"P0/../../escaped"};
    char path[512];
    cases c = {0};
    ts_error e = {0};
    outcome out[1] = {{0}};
    const case_options w = {.options = {.target = "interp", .threads = 1}, .seconds = 60, .jobs = 1};
    snprintf(path, sizeof path, "%s/cases.tar.gz", root);
    pack(path, ok, 4);
    if (!CHECK(cases_find(&c, path, &(case_filter){.tiers = "P0"}, &e)))
        fprintf(stderr, "  %s\n", e.text);
    CHECK(c.n == 1 && c.n_unpacked == 1 && !strcmp(c.all[0].tier, "P0"));
    CHECK(cases_run(&c, &w, out, count, NULL, &e) && out[0].passed);
    char folder[512];
    snprintf(folder, sizeof folder, "%s", c.n_unpacked ? c.unpacked[0] : "");
    cases_free(&c);
    for (int i = 0; i < 500 && access(folder, F_OK) == 0; i++)
        usleep(10000);
    CHECK(access(folder, F_OK) != 0); /* gone with the descriptor */
    pack(path, bad, 1);
    CHECK(!cases_find(&c, path, &(case_filter){0}, &e) && e.code == TS_BAD_INPUT);
    if (!CHECK(strstr(e.text, "the entry \"P0/../../escaped\" would leave its folder")))
        fprintf(stderr, "  %s\n", e.text);
    cases_free(&c);
}

int main(void)
{
    scratch folder = scratch_make();
    root = folder.path;
    make_cases();
    test_runs();
    test_time();
    test_archive();
    test_filters();
    scratch_free(&folder);
    return check_done();
}
