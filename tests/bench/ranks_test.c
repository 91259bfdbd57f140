/* What the cost model predicts of loops drawn at random, against the times that they took on one machine: logs in
 * tests/bench/ranks, which draw.sh there wrote, called MODEL,DIM=N,...,ISA.log. Prints both, kernel by kernel. No
 * number of the model was fitted to them.
 * ctest: large */
#include "bench/tune/tune.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIMS = 8, PATH = 1024 };

typedef struct total { /* of the logs of one instruction set */
    int nests, lost, kernels;
    double rank; /* of the kernels that have one, together */
} total;

static ts_model *open_model(const char *log, ts_error *e)
{
    char name[2 * PATH], *rest;
    const char *dims[MOST_DIMS], *slash = strrchr(log, '/');
    int n = 0;
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : log);
    ts_model *m = ts_model_open(strtok_r(name, ",", &rest), e);
    for (char *word; n < MOST_DIMS && (word = strtok_r(NULL, ",", &rest)) && strchr(word, '=');)
        dims[n++] = word;
    if (m && ts_model_bind(m, n, dims, NULL, e))
        return m;
    ts_model_free(m);
    return NULL;
}

static void add(total *t, const cJSON *row)
{
    const double rank = js_get_number(row, "rank", NAN);
    const int n = (int)js_get_number(row, "nests", 0);
    printf("%-60.60s %5d %5.2f  %5.2f %5.2f %5.2f\n", js_get_text(row, "kernel"), n, rank,
           js_get_number(row, "low", NAN), js_get_number(row, "median", NAN), js_get_number(row, "high", NAN));
    if (!strcmp(js_get_text(row, "kernel"), "all")) {
        CHECK(rank >= 0.8);
        return;
    }
    t->nests += n, t->lost += (int)js_get_number(row, "lost", 0);
    t->rank += isnan(rank) ? 0 : rank, t->kernels += !isnan(rank);
}

static void take(total *t, const char *log)
{
    scratch folder = scratch_make();
    const cJSON *row;
    ts_error e = {0};
    ts_model *m = open_model(log, &e);
    cJSON *rows = m ? tune_ranks(m, log, folder.path, &e) : NULL;
    if (!CHECK(rows != NULL))
        printf("  %s: %s\n", log, e.text);
    printf("\n%s\n%-60s nests  rank  predicted / measured: 10 %%, median, 90 %%\n", log, "kernel");
    cJSON_ArrayForEach(row, rows) add(t, row);
    cJSON_Delete(rows), ts_model_free(m), scratch_free(&folder);
}

/* All logs of a folder that end so */
static void hold(const char *folder, const char *end)
{
    total t = {0};
    char path[2 * PATH];
    DIR *d = opendir(folder);
    for (const struct dirent *f; CHECK(d != NULL) && (f = readdir(d));) {
        const size_t n = strlen(f->d_name), k = strlen(end);
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        if (n > k && !strcmp(f->d_name + n - k, end))
            take(&t, path);
    }
    closedir(d);
    printf("\n%s: %d nests of %d kernels, mean rank %.2f\n", end, t.nests, t.kernels, t.rank / t.kernels);
    CHECK(t.nests >= 500 && t.lost * 10 <= t.nests && t.rank / t.kernels >= 0.6);
}

static void refuses(const char *log, const char *says)
{
    scratch folder = scratch_make();
    char want[2 * PATH];
    ts_error e = {0};
    ts_model *m = ts_model_open("bert-tiny", &e);
    CHECK(m && ts_model_bind(m, 0, NULL, NULL, &e));
    CHECK(tune_ranks(m, log, folder.path, &e) == NULL);
    snprintf(want, sizeof want, "%s: %s", log, says);
    CHECK_TEXT(e.text, want);
    ts_model_free(m), scratch_free(&folder);
}

/* A file that is no log; a log of another model's kernels */
static void refuses_others(const char *folder)
{
    scratch own = scratch_make();
    char log[2 * PATH];
    snprintf(log, sizeof log, "%s/log", own.path);
    CHECK(ts_file_write(log, "{}\n{}\n", 6, NULL));
    refuses(log, "its first line is not that of a log of tune: \"{}\"\n  hint: tessera tune writes one beside what it "
                 "finds: best.json.log");
    snprintf(log, sizeof log, "%s/resnet-18,avx2.log", folder);
    refuses(log, "none of its loops are of kernels of this model, bound as it is\n  hint: give the model and the --dim "
                 "of the search");
    scratch_free(&own);
}

int main(void)
{
    const char *source = getenv("SOURCE");
    char folder[PATH];
    snprintf(folder, sizeof folder, "%s/tests/bench/ranks", source ? source : ".");
    refuses_others(folder);
    hold(folder, ",avx2.log"), hold(folder, ",avx512.log");
    return check_done();
}
