#include "tests/models/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ts_model *rig_model(const char *name, const char *dims, ts_error *e)
{
    const char *list[8];
    char copy[128], *rest = copy;
    int n = 0;
    snprintf(copy, sizeof copy, "%s", dims);
    for (char *word; n < COUNT(list) && (word = strsep(&rest, " "));)
        if (*word)
            list[n++] = word;
    ts_model *m = ts_model_open(name, e);
    if (m && ts_model_bind(m, n, list, NULL, e))
        return m;
    ts_model_free(m);
    return NULL;
}

int rig_results(const ts_model *m, ts_tensor out[RIG_RESULTS])
{
    const int n = ts_model_outputs(m);
    MUST(n <= RIG_RESULTS);
    for (int i = 0; i < n; i++)
        out[i] = ts_model_tensor(m, i);
    return n;
}

const node **rig_nodes(const ts_model *m, int *n)
{
    ts_tensor root[RIG_RESULTS];
    const int roots = rig_results(m, root);
    const node **all = calloc((size_t)g_reach(roots, root, NULL) + 1, sizeof *all);
    MUST(all);
    *n = g_reach(roots, root, all);
    return all;
}
