/* A step of training whose losses leave the reference's gets no time: here one with another learning rate, which the
 * first loss does not show.  ctest: O1 */
#include "bench/bench.h"
#include "graph/base/js.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "train/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A worker whose candidates are told another rate than the reference. */
static void write_worker(const char *path, const char *rate)
{
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    if (!f)
        return;
    fprintf(f, "#!/bin/sh\nsed -u '/\"reference\":true/!s/\"lr\":[^,]*/\"lr\":%s/' | exec \"$TESSERA\" \"$@\"\n", rate);
    fclose(f);
    CHECK(chmod(path, 0700) == 0);
}

static cJSON *race(const char *program, const char *precision, ts_error *e)
{
    train_options train;
    char *text = NULL;
    option_make(&train);
    train.batch = 2, train.length = 8;
    option_set_text(&train.precision, precision);
    const bench_options o = {.model = "bert-tiny",
                             .train = &train,
                             .threads = 1,
                             .launches = 1,
                             .min_time = 0.02,
                             .timeout = 300,
                             .program = program};
    bench_run(&o, &text, e);
    option_free(&train);
    cJSON *v = text ? js_parse(text, "results", e) : NULL;
    free(text);
    return v;
}

static void check(const char *program, const char *precision, const char *reason)
{
    ts_error e = {0};
    cJSON *v = race(program, precision, &e);
    CHECK_TEXT(e.text, "");
    const cJSON *c = cJSON_GetArrayItem(js_get(v, "candidates"), 0);
    const char *got = js_get_text(c, "reason"), *right = reason ? reason : "";
    if (reason)
        CHECK_TEXT(js_get_text(c, "status"), "INVALID");
    if (reason)
        CHECK(cJSON_IsNull(js_get(c, "stats")));
    if (strncmp(got, right, strlen(right)) != 0 || (!reason && strstr(got, "diverges")))
        CHECK_TEXT(got, right);
    cJSON_Delete(v);
}

int main(void)
{
    if (!getenv("TESSERA")) {
        puts("skipped: TESSERA does not say where the program is");
        return 77;
    }
    scratch s = scratch_make();
    setenv("TMPDIR", s.path, 1);
    const char *path = scratch_in(&s, "worker");
    write_worker(path, "5e-05"); /* the reference's own */
    check(path, "bf16", NULL);
    write_worker(path, "0.01");
    check(path, "bf16", "diverges at step 2: loss is ");
    scratch_free(&s);
    return check_done();
}
