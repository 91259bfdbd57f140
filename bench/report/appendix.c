/* Section 9: how was this made, and what do the words mean? */
#include "bench/report/parts.h"

#include <string.h>

static const struct {
    const char *word, *meaning;
} glossary[] = {
    {"median", "half of all passes took less time than this"},
    {"90 % within", "nine of ten passes took at most this time"},
    {"pass", "one evaluation of the whole model, from inputs to outputs"},
    {"launch",
     "one start of the process; several are made because addresses, and with them luck, differ from start to start"},
    {"canary", "a fixed piece of work timed beside each sample; when it slows down, the machine was disturbed"},
    {"flagged", "a sample whose canary was slow, or during which the processor was taken away; shown with a cross"},
    {"ratio",
     "the time of the second one of a comparison divided by that of the first one; above 1 the first one is faster"},
    {"interval", "the true ratio lies in it in 99 of 100 such experiments; from drawing launches and samples again, "
                 "and from how much "
                 "launches differ"},
    {"counts as equal", "differences below this do not matter, whether they are certain or not"},
    {"FASTER, SLOWER", "the whole interval lies on one side of 1, and the difference is large enough to matter"},
    {"SAME", "the whole interval lies within what counts as equal"},
    {"UNDECIDED", "neither of these: more launches are needed"},
    {"INVALID", "wrong results, too few samples or a disturbed machine; an invalid time is not compared"},
    {"kernel", "one generated function, running over all its data with all threads"},
    {"calls", "how often a kernel runs in one pass"},
    {"rule", "the part of a tiling schema that decided a kernel's loops"},
    {"same loops",
     "kernels that both schemas run with the same loops and layouts: time that differs is noise, or where "
     "things came to lie in memory"},
    {"sums at once",
     "running sums that are held in registers; a multiply-add on one of them waits for the one before it, "
     "so several are needed to keep a core busy"},
    {"flop", "one multiplication or one addition; a fused multiply-add counts as two"},
    {"bytes", "what a kernel must move at least: each input read and each output written once"},
    {"of roof", "the time that the kernel would take at the measured ceiling that binds it (multiply-adds or bytes), "
                "divided by its time"},
    {"working set", "all bytes that one trip of a loop touches"},
    {"outside kernels",
     "the time of a pass minus its kernels timed one by one: barriers, starts, and errors of timing"},
    {"peak of the process", "the largest resident memory, weights included"},
    {"arena", "the memory that all values made during a pass share"},
    {"lower bound", "the largest sum of values alive at the same moment: no plan of memory needs less"},
    {"off by",
     "the largest difference from plain loops in double precision, divided by the largest value of the output"},
};

static void block(text *t, const char *title, const cJSON *object)
{
    if (!cJSON_IsObject(object) || !object->child)
        return;
    html_add(t, "<h3>%s</h3>\n", title);
    facts_list(t, object);
}

static void candidates(text *t, const report *r)
{
    static const char *const keys[] = {"schema", "schema_hash", "flops", "warm_passes", "passes_per_sample",
                                       "build",  "settings"};
    for (int i = 0; i < r->n; i++) {
        cJSON *some = cJSON_CreateObject();
        for (size_t k = 0; some && k < sizeof keys / sizeof *keys; k++) {
            const cJSON *v = cJSON_GetObjectItemCaseSensitive(r->of[i].json, keys[k]);
            if (v)
                cJSON_AddItemToObject(some, keys[k], cJSON_Duplicate(v, true));
        }
        if (some && some->child) {
            html_add(t, "<h3>%-s</h3>\n", r->of[i].mark);
            facts_list(t, some);
        }
        cJSON_Delete(some);
    }
}

const char *part_appendix(text *t, const report *r)
{
    const char *repro = js_get_text(r->root, "repro");
    if (*repro) {
        html_add(t, "<h3>To measure again</h3><pre>");
        html_code(t, repro);
        html_add(t, "</pre>\n");
    }
    block(t, "Model", cJSON_GetObjectItemCaseSensitive(r->root, "model"));
    block(t, "Settings", r->config);
    block(t, js_get_flag(r->ceilings, "stated") ? "Ceilings, as the device states" : "Ceilings, measured in this run",
          r->ceilings);
    candidates(t, r);
    html_add(t, "<h3>What the words mean</h3>\n");
    sheet_open(t, "", "");
    for (size_t i = 0; i < sizeof glossary / sizeof *glossary; i++)
        html_row(t, "<b>%s</b>|%s", glossary[i].word, glossary[i].meaning);
    sheet_close(t);
    return NULL;
}
