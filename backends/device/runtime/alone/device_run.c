/* device_run.c - opens the device at the first run, with memory for all, kernels from what make built, or wrote, beside
 * the program, and the weights; then each run sends inputs and takes results. */
#include "backends/device/runtime/device_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *file_of(const char *name) /* its bytes, with a zero behind them; NULL, and standard error says why */
{
    long n = 0;
    FILE *f = fopen(name, "rb");
    char *all = f && !fseek(f, 0, SEEK_END) && (n = ftell(f)) >= 0 ? calloc((size_t)n + 1, 1) : NULL;
    if (all) {
        rewind(f);
        if (fread(all, 1, (size_t)n, f) != (size_t)n)
            free(all), all = NULL;
    }
    if (f)
        fclose(f);
    return all;
}

static int load(device *d, int k)
{
    const device_kernel *q = &d->program->kernel[k];
    int like = 0;
    if (q->loop || q->copies || q->joins)
        return 1;
    while (like < k && strcmp(d->program->kernel[like].file, q->file))
        like++;
    char *code = like < k ? NULL : file_of(q->file);
    const int ok = like == k && !code ? device_wrong(d, DEVICE_FAILED,
                                                     "%s: cannot be read; run the program in the folder where make "
                                                     "built it",
                                                     q->file)
                                      : d->by->load(d, k, like < k ? like : -1, code);
    free(code);
    return ok;
}

static long most_of(const device_port *p, int n, long most)
{
    for (int i = 0; i < n; i++)
        most = p[i].bytes > most ? p[i].bytes : most;
    return most;
}

static int begin(device *d, const device_program *p, const ts_run *r)
{
    const long most = most_of(p->leaf, p->leaves, most_of(p->input, p->inputs, most_of(p->value, p->values, 0)));
    int ok = d->by->open(d, &(device_where){.number = p->device, .units = p->units}) && device_room(d, p, most);
    for (int i = 0; i < p->leaves && ok; i++)
        ok = device_give(d, (device_at){device_leaf(i), 0}, r->leaf[i], p->leaf[i].bytes, "a copy of a weight");
    for (int k = 0; k < p->all && ok; k++)
        ok = load(d, k);
    return ok && d->by->ready(d);
}

static int run(device *d, const device_program *p, const ts_run *r)
{
    int ok = device_send(d, r->input, NULL) && device_start(d) && device_end(d);
    for (int i = 0; i < p->values && ok && !d->fault; i++)
        ok = device_take(d, r->arena + p->value[i].at, (device_at){0, p->value[i].at}, p->value[i].bytes,
                         "a copy of a result");
    *r->fault = d->fault != 0;
    return ok && device_receive(d, r->input, 1);
}

void device_run(const device_program *p, const device_driver *by, const ts_run *r)
{
    static device *d;
    const int first = !d;
    if (first && !(d = device_make(by)))
        fprintf(stderr, "no memory for a device\n");
    if (d && (d->said.what || (first && !begin(d, p, r)) || !run(d, p, r)))
        fprintf(stderr, d->said.hint[0] ? "%s\nhint: %s\n" : "%s\n", d->said.text, d->said.hint);
    if (!d || d->said.what)
        *r->fault = RUN_SAID;
}
