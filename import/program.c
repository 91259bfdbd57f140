/* program.c - a graph as the text that ts_print and `show --stage folded` say, as a model. Extents are numbers; results
 * are y, or y0, y1, ...; values that the text does not hold come back as inputs of their names. */
#include "import/model.h"

#include <string.h>

enum { MOST_RESULTS = 256 };

static bool is(const char *path, const unsigned char *head, size_t n)
{
    static const char *const begins[] = {"n0 = ", "function "};
    (void)path;
    for (int i = 0; i < COUNT(begins); i++)
        if (n >= strlen(begins[i]) && !memcmp(head, begins[i], strlen(begins[i])))
            return true;
    return false;
}

static bool build(ts_model *m, ts_graph *g, ts_error *e)
{
    ENDED_BY(text_free) text words = {0};
    ts_tensor root[MOST_RESULTS];
    int n = 0;
    const bool ok = file_read(m->path, (size_t)m->file.limits.description, &words, e) &&
                    ts_parse(g, text_str(&words), MOST_RESULTS, root, &n, e);
    if (ok && !n)
        return err_set(e, TS_BAD_INPUT, "return, the last line, names no node");
    for (int i = 0; ok && i < n; i++)
        ts_result(m, n > 1 ? arena_format(&m->mem, "y%d", i) : "y", root[i]);
    return ok;
}

const reader reader_program = {.name = "txt", .is = is, .build = build};
