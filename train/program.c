/* program.c - the emitted step of backends/emit, beside a main that feeds it, and everything that is data in a file
 * of its own. */
#include "train/program.h"

#include "graph/base/base.h"
#include "train/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 4096 }; /* bytes, PATH_MAX */

/* ---- numbers of inputs ---- */
static bool is_state(const step *s, int port)
{
    for (int i = 0; i < s->n_weight; i++)
        if (ts_plan_find(s->plan, ts_name(s->parameter[i].input)) == port ||
            (s->last && i < s->n_parameter && ts_plan_find(s->plan, ts_name(s->sum[i])) == port))
            return true;
    for (int i = 0; i < s->n_state; i++)
        if (ts_plan_find(s->plan, ts_name(s->state[i].input)) == port)
            return true;
    return false;
}

/* The program counts inputs without state. -1: it has none of that name. */
static int input_of(const step *s, const char *name)
{
    const int port = name && *name ? ts_plan_find(s->plan, name) : -1;
    int n = port < 0 ? -1 : 0;
    for (int i = 0; i < port; i++)
        n += !is_state(s, i);
    return n;
}

/* ---- what the step begins with ---- */
/* The places of n tensors in a safetensors file, counted from behind its description. */
static bool add_places(text *to, const char *path, int n, const ts_given *all, ts_error *e)
{
    ENDED_BY(bytes_free) bytes b = {0};
    uint64_t head;
    if (!bytes_read(path, &b, e))
        return false;
    memcpy(&head, b.at, sizeof head);
    b.at[8 + head] = 0;
    ENDED_BY(js_free) cJSON *o = js_parse(b.at + 8, path, e);
    for (int i = 0; o && i < n; i++) {
        const cJSON *at = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(o, all[i].name),
                                                           "data_offsets");
        text_add(to, "    %.0f,\n", cJSON_GetNumberValue(cJSON_GetArrayItem(at, 0)));
    }
    return o != NULL;
}

static bool write_state(const training_program *t, const char *folder, text *to, ts_error *e)
{
    char path[MOST_PATH], sum[65];
    const int n_weight = t->step->n_weight, n_other = t->step->n_state;
    ENDED_BY(heap_free) ts_given *all = step_state_make(t->step, e);
    if (!all)
        return false;
    snprintf(path, sizeof path, "%s/weights.safetensors", folder);
    bool ok = ts_tensors_write(path, n_weight, all, sum, e) && add_places(to, path, n_weight, all, e);
    snprintf(path, sizeof path, "%s/optimizer.safetensors", folder);
    ok = ok && ts_tensors_write(path, n_other, all + n_weight, sum, e) &&
         add_places(to, path, n_other, all + n_weight, e);
    return ok;
}

/* ---- train.h ---- */
static bool write_header(const training_program *t, const char *folder, ts_error *e)
{
    const step *s = t->step;
    const train_options *w = s->asked;
    ENDED_BY(text_free) text h = {0};
    text_add(&h, "/* train.h - what main.c is told of the run. Written by Tessera " TS_VERSION ". */\n"
                 "#ifndef TRAIN_H\n#define TRAIN_H\n\n");
    text_add(&h, "enum { UPDATES = %lld, PARTS = %lld, BATCH = %lld }; /* an update takes PARTS batches */\n",
             (long long)t->updates, (long long)w->accumulate, (long long)w->batch);
    text_add(
        &h, "enum { WEIGHTS = %d, OTHERS = %d }; /* states: weights, then the optimizer's, then sums of gradients */\n",
        s->n_weight, s->n_state);
    text_add(
        &h,
        "enum { INPUT_STEP = %d, INPUT_RANDOM = %d, INPUT_LAST = %d }; /* numbers of inputs; -1: there is none */\n",
        input_of(s, "train.step"), input_of(s, "train.random"), input_of(s, "train.last"));
    text_add(&h, "enum { SKIP = %d }; /* go on after a step that is not finite */\n", strcmp(w->on_nan, "skip") == 0);
    text_add(&h, "enum { OUTPUT_SCALE = %d }; /* number of the output with the loss scale; -1: there is none */\n",
             s->scale ? 3 + s->n_parameter : -1);
    text_add(&h, "#define SEED UINT64_C(%llu)\n\n", (unsigned long long)w->seed);
    text_add(&h, "/* Where each state begins in its safetensors file, behind the description. */\n"
                 "static const long long state_at[] = {\n");
    if (!write_state(t, folder, &h, e))
        return false;
    text_add(&h, "    0};\n#endif\n");
    return files_write(folder, "train.h", text_str(&h), h.length, e);
}

/* ---- the folder ---- */
static bool write_data(const training_program *t, const char *folder, ts_error *e)
{
    const net *n = t->net;
    const int count = net_n_arrays(n);
    char path[MOST_PATH];
    int input[MOST_FED];
    for (int i = 0; i < count; i++)
        input[i] = input_of(t->step, net_array_name(n, i));
    snprintf(path, sizeof path, "%s/data.bin", folder);
    return program_data(t, input, path, e);
}

static bool add_files(void *user, const char *folder, ts_error *e)
{
    const training_program *t = user;
    return files_write(folder, "main.c", program_main, strlen(program_main), e) && write_header(t, folder, e) &&
           write_data(t, folder, e);
}

bool program_write(const training_program *t, const char *folder, ts_error *e)
{
    training_program own = *t;
    const ts_emission how = {.program = "train", .bare = true, .add = add_files, .user = &own};
    return step_begin(t->step, e) && ts_plan_emit(t->step->plan, folder, &how, e);
}
