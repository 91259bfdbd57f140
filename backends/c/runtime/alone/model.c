/* model.c - memory of the model, and its runs. */
#include "backends/c/runtime/model.h"
#include "backends/c/runtime/tables.h"
#include "backends/c/runtime/team.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model {
    void **space;
    void **block; /* those that this file allocated */
    team *team;
    int fault;
};

static int allocate(model *m)
{
    m->space = calloc((size_t)model_spaces + 1, sizeof *m->space);
    m->block = calloc((size_t)model_spaces + 1, sizeof *m->block);
    for (int i = 0; i < model_spaces; i++) {
        const model_space *s = &model_table[i];
        if (!m->space || !m->block)
            return 0;
        if (s->kind == KIND_INPUT || s->kind == KIND_OUTPUT)
            continue;
        m->space[i] = m->block[i] = aligned_alloc(64, (s->bytes / 64 + 1) * 64);
        if (!m->space[i])
            return 0;
        if (s->kind == KIND_STATE)
            memset(m->space[i], 0, s->bytes);
    }
    return 1;
}

static int read_weights(model *m, FILE *f)
{
    for (int i = 0; i < model_spaces; i++)
        if (model_table[i].at >= 0 && (fseek(f, model_table[i].at, SEEK_SET) != 0 ||
                                       fread(m->space[i], 1, model_table[i].bytes, f) != model_table[i].bytes))
            return 0;
    return 1;
}

/* On the processors that it was planned for, where this process may have them. */
static team *find_threads(void)
{
    team_reason why;
    team *t = model_cpu ? team_open(MODEL_THREADS, model_cpu, &why) : NULL;
    return t ? t : team_open(MODEL_THREADS, NULL, &why);
}

static long *sizes(const model *m)
{
    return m->space[model_size_space];
}

int model_resize(model *m, int i, long n)
{
    if (i < 0 || i >= MODEL_SIZES || n < model_size[i].low || n > model_size[i].high || n % model_size[i].step)
        return 0;
    sizes(m)[i] = n / model_size[i].step;
    return 1;
}

static long extent(const model *m, const model_axis *x)
{
    long sum = x->plus;
    for (int i = 0; i < MODEL_SIZES; i++)
        sum += x->times[i] * sizes(m)[i];
    sum /= x->per;
    return sum < x->most ? sum : x->most;
}

model_port model_now(const model *m, const model_port *p, char npy[MODEL_TEXT])
{
    model_port now = *p;
    int at = 0;
    if (!p->axis)
        return now;
    const model_axis *x = p->axis;
    for (const char *s = p->npy; *s && at < MODEL_TEXT - 24; s++)
        if (*s == '#') {
            const long n = extent(m, x);
            at += snprintf(npy + at, 24, "%ld", n);
            now.bytes = now.bytes / (size_t)x->most * (size_t)n;
            x++;
        } else
            npy[at++] = *s;
    npy[at] = 0;
    return now.npy = npy, now.axis = NULL, now;
}

static FILE *open_weights(const char *file)
{
#ifdef MODEL_BYTES /* a program of one file has them in it */
    (void)file;
    return fmemopen((void *)(uintptr_t)model_bytes, MODEL_BYTES + 1, "rb");
#else
    return fopen(file, "rb");
#endif
}

model *model_open(const char *weights)
{
    model *m = calloc(1, sizeof *m);
    FILE *f = open_weights(weights);
    int ok = m && f && allocate(m) && read_weights(m, f) && (m->team = find_threads()) != NULL;
    if (f)
        fclose(f);
    for (int i = 0; ok && i < MODEL_SIZES; i++)
        ok = model_resize(m, i, model_size[i].high);
    if (ok)
        return m;
    model_close(m);
    return NULL;
}

static void run_part(void *p, int part, int parts)
{
    model *m = p;
    model_entry(m->space, &m->fault, part, parts, team_wait, m->team);
}

int model_run(model *m, const void *const *input, void *const *output)
{
    for (int i = 0, in = 0, out = 0; i < model_spaces; i++)
        if (model_table[i].kind == KIND_INPUT)
            m->space[i] = (void *)(uintptr_t)input[in++]; /* only read */
        else if (model_table[i].kind == KIND_OUTPUT)
            m->space[i] = output[out++];
    m->fault = 0;
    return team_do(m->team, run_part, m) == TEAM_READY && !m->fault;
}

int model_said(const model *m)
{
    return m->fault > 1; /* an index that leads outside leaves 1 */
}

void *model_state_of(model *m, int i)
{
    return m->space[model_state_space[i]];
}

void model_close(model *m)
{
    if (!m)
        return;
    team_close(m->team);
    for (int i = 0; m->block && i < model_spaces; i++)
        free(m->block[i]);
    free(m->space);
    free(m->block);
    free(m);
}
