/* trace_diff.c - tessera trace-diff: the first value that differs between two runs. */
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/values.h"
#include "graph/base/err.h"

#include <string.h>

/* The whole document; for cJSON_Delete */
static cJSON *read_values(const char *path, ts_error *e)
{
    ENDED_BY(heap_free) char *words = outfile_text(path, RESULTS_MOST, e);
    cJSON *root = words ? js_parse(words, path, e) : NULL;
    if (!root || strcmp(js_get_text(root, "format"), FORMAT_VALUES) == 0)
        return root;
    err_set(e, TS_BAD_INPUT, "%s: \"format\" is not \"" FORMAT_VALUES "\"", path);
    err_hint(e, "run MODEL --trace-values FILE writes such a file");
    cJSON_Delete(root);
    return NULL;
}

static const char form[] =
    "[first?first that differs, by its {first/what}: {first/name}\n"
    "[rows!of|dtype|shape|>min|>max|>mean|>nan|>infinite|checksum\n{of}\t{dtype}\t{shape}\t{min:%.9g}\t{max:%.9g}\t"
    "{mean:%.9g}\t{nan}\t{infinite}\t{checksum}]"
    "\n{differ:%.0f} of {values:%.0f} values differ|none of {values:%.0f} values differs]"
    "[only_a>0?; {only_a:%.0f} only in {a}][only_b>0?; {only_b:%.0f} only in {b}]\n";

static void add_rows(cJSON *root)
{
    static const char *const of[] = {"a", "b"};
    cJSON *rows = js_array(root, "rows");
    for (int i = 0; i < 2; i++) {
        const cJSON *x = js_get(js_get(root, "first"), of[i]);
        cJSON *row = x ? cJSON_Duplicate(x, true) : cJSON_CreateObject();
        js_text(row, "of", js_get_text(root, of[i]));
        cJSON_AddItemToArray(rows, row);
    }
}

static int run(const args *a, ts_error *e)
{
    cJSON *one = read_values(args_noun(a, 0), e), *two = one ? read_values(args_noun(a, 1), e) : NULL;
    cJSON *root = js_put(reply_make("trace-diff/1"), "a:%s,b:%s", args_noun(a, 0), args_noun(a, 1));
    const bool ok = two &&
                    values_diff(js_get(one, "values"), js_get(two, "values"), args_number(a, "tolerance"), root, e);
    const bool differs = js_get(root, "first") != NULL;
    if (ok && !a->console.json)
        add_rows(root);
    reply_done(a, ok, root, form);
    cJSON_Delete(one), cJSON_Delete(two);
    return ok && differs ? TS_FAILED : TS_OK;
}

static const option options[] = {
    {"tolerance", 0, NUMBER, "X", "largest |x - y| / max(1, |x| + |y|) of min, max and mean; 0: bit for bit", "0",
     false, 0, 1},
    {0},
};

const verb verb_trace_diff = {
    .name = "trace-diff",
    .brief = "Name the first value that two runs differ in",
    .usage = "A B",
    .own = {"Options", options, NULL},
    .examples = "tessera trace-diff here.json there.json # of run --trace-values; exit 1 then\n"
                "tessera trace-diff here.json there.json --tolerance 1e-4",
    .details = "Values are looked for by name, and told in the order in which they are computed. By checksums alone "
               "two runs differ where rounding does: with a tolerance their min, max and mean are held against each "
               "other.",
    .run = run,
};
