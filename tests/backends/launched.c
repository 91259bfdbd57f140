#include "tests/backends/launched.h"
#include "backends/driver.h"
#include "tests/check.h"
#include "train/timed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2 };

typedef struct trained {
    double out[STEPS][TIMED_OUTPUTS];
    int kernels, launches;
    digest state; /* of all that the step changes */
} trained;

static void part(plan *p) /* each kernel is launched by itself */
{
    for (int k = 0; k < p->n_kernel; k++) {
        p->kernel[k].joins = 0;
        if (p->kernel[k].scan)
            part(p->kernel[k].scan->plan);
    }
}

static int launches(const plan *p)
{
    int n = 0;
    for (int k = 0; k < p->n_kernel; k++)
        n += !p->kernel[k].joins;
    return n;
}

static bool train(const ts_options *on, bool together, trained *out, err *e)
{
    timed_step t = {0};
    cJSON *options = cJSON_Parse("{\"batch\":1,\"length\":8,\"optimizer\":\"adamw\",\"clip\":1}");
    bool ok = options && timed_open(&t, options, "gpt2-tiny", e) && timed_draw(&t, 1, e) && timed_plan(&t, on, e);
    if (ok && !together)
        part(t.step.plan->plan);
    if (ok)
        out->kernels = t.step.plan->plan->n_kernel, out->launches = launches(t.step.plan->plan);
    ok = ok && timed_begin(&t, e);
    for (int i = 0; i < STEPS && ok; i++)
        ok = timed_run(&t, out->out[i], e);
    ts_given *state = ok ? step_state_make(&t.step, e) : NULL;
    hasher *h = hash_open();
    for (int i = 0; state && i < t.step.n_weight + t.step.n_state; i++)
        hash_bytes(h, state[i].value.data,
                   (size_t)(ts_array_count(&state[i].value) * ts_dtype_bytes(state[i].value.dtype)));
    out->state = hash_close(h);
    free(state);
    timed_close(&t), cJSON_Delete(options);
    return ok;
}

void launched_check(const ts_options *on, int most)
{
    trained one = {0}, all = {0};
    err e = {0};
    if (!CHECK(train(on, false, &one, &e) && train(on, true, &all, &e)))
        printf("  %s\n", e.text);
    printf("%s: %d kernels in %d launches\n", on->target, all.kernels, all.launches);
    CHECK(one.kernels == one.launches && all.kernels == one.kernels && all.launches <= most);
    CHECK(!memcmp(one.out, all.out, sizeof one.out) && !memcmp(&one.state, &all.state, sizeof one.state));
}
