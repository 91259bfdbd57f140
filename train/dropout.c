/* dropout.c - dropout, as the options have it: in the model's own places, in layers that --dropout-on names, and
 * before the head. Where nothing is trained (rate 0) the model's own does nothing. */
#include "graph/base/base.h"
#include "train/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ts_tensor random_seed(net *n) /* another for every step; which part of its examples these are */
{
    return ts_input(n->g, "train.random", TS_I64, 1, (int64_t[]){2});
}

/* The globs but the word head, which is the head's input and no layer of the model. */
static char *without_head(const char *globs, bool *head, int *count)
{
    const size_t size = strlen(globs) + 2; /* the last line gets an end too */
    size_t used = 0;
    char *list = heap_array(size, 1), line[OPTION_LINE];
    *head = false, *count = 0;
    for (const char *at = globs; option_line(&at, line);)
        if (strcmp(line, "head") == 0)
            *head = true;
        else
            used += (size_t)snprintf(list + used, size - used, "%s\n", line), ++*count;
    return list;
}

static bool no_such_place(net *n, const char *globs, ts_error *e)
{
    ts_error why = {0};
    char line[OPTION_LINE];
    ts_graph_ok(n->g, &why);
    int count, weights = 0;
    ENDED_BY(heap_free) ts_tensor *all = leaves_make(1, &n->output, &count);
    char near[NEAREST_TEXT] = "";
    for (int i = 0; i < count; i++)
        if (strcmp(ts_op_name(all[i]), "weight") == 0)
            all[weights++] = all[i];
    for (const char *at = globs; option_line(&at, line) && !*near;)
        if (strstr(why.text, line))
            names_nearest(line, weights, all, near);
    err_set(e, TS_USAGE, "--dropout-on: %s", why.text);
    err_hint(e, "tessera show MODEL lists layers; of the weights %s", *near ? near : "none is near");
    return false;
}

static bool option_is_whole(const train_options *w, ts_error *e)
{
    if (w->dropout_on && w->dropout <= 0) {
        err_set(e, TS_USAGE, "--dropout-on goes with --dropout, which is not given");
        return err_hint(e, "--dropout 0.1 is the share that is left out");
    }
    if (w->dropout >= 1) {
        err_set(e, TS_USAGE, "--dropout 1 leaves nothing to learn from");
        return err_hint(e, "it is the share that is left out, as in --dropout 0.1");
    }
    return true;
}

bool net_dropout(net *n, ts_error *e)
{
    const train_options *w = n->asked;
    if (!option_is_whole(w, e))
        return false;
    bool head;
    int count = 0;
    ENDED_BY(heap_free) char *list = w->dropout_on ? without_head(w->dropout_on, &head, &count) : NULL;
    const ts_dropout_options how = {list, w->dropout, w->dropout == 0 ? NULL : random_seed(n)};
    ts_tensor out = n->output; /* as the output */
    const int places = list && !count ? 0 : ts_dropout(n->g, 1, &n->output, &how, &out);
    const bool ok = places >= 0 || no_such_place(n, list ? list : "", e);
    n->output = out, n->thinned = places;
    return ok;
}

ts_tensor net_dropout_head(net *n, ts_tensor x)
{
    const train_options *w = n->asked;
    char line[OPTION_LINE], call[64];
    bool wanted = !w->dropout_on;
    for (const char *at = w->dropout_on; option_line(&at, line);)
        wanted = wanted || strcmp(line, "head") == 0;
    if (!wanted || w->dropout <= 0)
        return x;
    snprintf(call, sizeof call, "random_dropout rate=%.17g", w->dropout);
    return ts_call2(n->g, call, x, random_seed(n));
}

bool net_dropout_fits(const net *n, bool has_head, ts_error *e)
{
    const train_options *w = n->asked;
    char line[OPTION_LINE];
    bool head = !w->dropout_on && !n->thinned;
    for (const char *at = w->dropout_on; option_line(&at, line);)
        head = head || strcmp(line, "head") == 0;
    if (w->dropout <= 0 || has_head || !head)
        return true;
    err_set(e, TS_USAGE, "--dropout %g: there is no head whose input it could drop, and no dropout in the model",
            w->dropout);
    return err_hint(e, "--dropout-on GLOB names layers, as in --dropout-on '*attention.output.dense'");
}
