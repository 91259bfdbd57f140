/* The checklist "Can I trust it?": what is asked of the results and what of the machine stay apart. */
#include "bench/report/report.h"
#include "tests/bench/report/fixture.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char right[] = "Are the results right?", quiet[] = "Was the machine quiet?",
                  taken[] = "Processor not taken away?";
static const char yes[] = "ok\">✓ yes", no[] = "bad\">✗ no", partly[] = "warn\">! partly";

/* Whether the report has the question, answered like that; answer NULL: whether it has it not. */
static bool answers(const cJSON *root, const char *question, const char *answer)
{
    char row[256], *json = cJSON_Print(root), *html = NULL;
    snprintf(row, sizeof row, "<tr><td><span class=\"sign %s</span></td><td>%s</td>", answer ? answer : "", question);
    const bool written = report_write(json, &html, NULL);
    const bool found = written && strstr(html, answer ? row : question);
    free(json), free(html);
    return written && found == (answer != NULL);
}

static void set(cJSON *of, const char *name, cJSON *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(of, name);
    if (value)
        cJSON_AddItemToObject(of, name, value);
}

/* Times that a busy machine spoilt say nothing against the results, and all of them are shown. They are no "no" beside
 * a verdict that is called sure: its interval is wider for them. */
static void test_busy(void)
{
    char *json = fixture_make("bert");
    cJSON *root = cJSON_Parse(json), *state = cJSON_CreateObject(), *c;
    cJSON *candidates = cJSON_GetObjectItem(root, "candidates"), *peers = cJSON_GetObjectItem(root, "peers");
    CHECK(answers(root, right, yes));
    set(state, "state", cJSON_CreateString("overloaded"));
    set(state, "why", cJSON_CreateString("other programs left 0 of 150 rounds alone"));
    set(cJSON_GetObjectItem(root, "environment"), "steal_share", cJSON_CreateNumber(0.1));
    set(root, "machine_state", state);
    CHECK(answers(root, taken, partly));
    CHECK(answers(root, quiet, partly) && answers(root, right, yes));
    cJSON_ArrayForEach(c, candidates) set(c, "numerics", NULL); /* a step of training states none */
    cJSON_ArrayForEach(c, peers) set(c, "numerics", NULL);
    CHECK(answers(root, quiet, partly) && answers(root, right, NULL));
    c = cJSON_GetArrayItem(candidates, 1); /* it died before it had any samples */
    set(c, "samples", NULL), set(c, "stats", NULL), set(c, "status", cJSON_CreateString("INVALID"));
    CHECK(answers(root, right, no));
    cJSON_Delete(root), free(json);
}

/* Beyond what is allowed, whoever it is, with or without times. */
static void test_wrong(void)
{
    static const char *const list[] = {"candidates", "peers"};
    for (int i = 0; i < 2; i++) {
        char *json = fixture_make("bert");
        cJSON *root = cJSON_Parse(json), *c = cJSON_GetArrayItem(cJSON_GetObjectItem(root, list[i]), 0);
        cJSON *numerics = cJSON_CreateObject();
        set(numerics, "max_rel", cJSON_CreateNumber(0.5)), set(numerics, "tolerance", cJSON_CreateNumber(1e-4));
        set(c, "numerics", numerics);
        CHECK(answers(root, right, no));
        set(c, "samples", NULL);
        CHECK(answers(root, right, no));
        cJSON_Delete(root), free(json);
    }
}

int main(void)
{
    test_busy();
    test_wrong();
    return check_done();
}
