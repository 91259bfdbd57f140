/* worker_facts.c - what a contestant of ours says about itself once it can run. */
#include "bench/worker.h"
#include "graph/base/js.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_port(cJSON *list, const ts_port *port, const char *path)
{
    cJSON *row = js_row(list, "name:%s,dtype:%s", port->name, ts_dtype_name(port->dtype));
    cJSON *shape = js_array(row, "shape");
    for (int d = 0; d < port->rank; d++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)port->dim[d]));
    if (path)
        js_text(row, "path", path);
}

static bool add_plan(cJSON *facts, worker *w, ts_error *e)
{
    ENDED_BY(heap_free) char *text = ts_plan_json(w->plan, e);
    cJSON *plan = text ? js_parse(text, "the plan", e) : NULL;
    if (plan)
        cJSON_AddItemToObject(facts, "plan", plan);
    return plan != NULL;
}

static void add_hash(cJSON *facts, const worker *w)
{
    ENDED_BY(heap_free) ts_tensor *out = calloc((size_t)w->n_outputs + 1, sizeof *out);
    char hex[65] = "";
    for (int i = 0; out && i < w->n_outputs; i++)
        out[i] = w->step ? w->step->step.loss : ts_model_tensor(w->model, i);
    if (out)
        ts_hash(w->n_outputs, out, hex);
    js_text(facts, "hash", hex);
}

static void add_step_ports(cJSON *inputs, cJSON *outputs, const worker *w)
{
    const char *folder = js_get_text(w->task, "input_folder");
    char path[PATH_SIZE];
    for (int i = 0; i < net_n_arrays(&w->step->net); i++) {
        const ts_array *a = &w->step->batch[i];
        ts_port port = {.name = net_array_name(&w->step->net, i), .dtype = a->dtype, .rank = a->rank};
        memcpy(port.dim, a->dim, sizeof port.dim);
        snprintf(path, sizeof path, "%s/%d.npy", folder, i);
        if (a->data)
            add_port(inputs, &port, *folder != 0 ? path : "");
    }
    for (int i = 0; i < TIMED_OUTPUTS; i++)
        add_port(outputs,
                 &(ts_port){.name = timed_output[i],
                            .dtype = TS_F32,
                            .rank = 1,
                            .dim = {(int64_t)js_get_number(w->task, "trajectory", 1)}},
                 NULL);
}

/* The model itself rounds to integers: the text of its graph names the operation. */
static bool rounds(const worker *w)
{
    bool found = false;
    for (int i = 0; !w->step && !found && i < w->n_outputs; i++) {
        const ts_tensor y = ts_model_tensor(w->model, i);
        ENDED_BY(heap_free) char *text = ts_print(1, &y);
        found = strstr(text, " = quantize(") != NULL;
    }
    return found;
}

cJSON *worker_facts(worker *w, ts_error *e)
{
    cJSON *facts = cJSON_CreateObject();
    js_text(facts, "version", TS_VERSION);
    static const char *const phase[] = {"read_s", "bind_s", "plan_s", "build_s"};
    for (int i = 0; i < 4; i++)
        js_number(facts, phase[i], w->seconds[i]);
    cJSON *inputs = js_array(facts, "inputs"), *outputs = js_array(facts, "outputs");
    ts_port port;
    for (int i = 0; !w->step && i < w->n_inputs; i++)
        if (ts_model_input(w->model, i, &port))
            add_port(inputs, &port, w->paths[i]);
    for (int i = 0; !w->step && i < w->n_outputs; i++)
        if (ts_model_output(w->model, i, &port))
            add_port(outputs, &port, NULL);
    if (w->step)
        add_step_ports(inputs, outputs, w);
    if (w->step && w->step->net.text)
        js_number(facts, "length", (double)w->step->net.length);
    add_hash(facts, w);
    js_flag(facts, "rounds", rounds(w));
    if (add_plan(facts, w, e))
        return facts;
    cJSON_Delete(facts);
    return NULL;
}
