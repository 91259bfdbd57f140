/* reader.c - an ONNX file as values and steps. Only what belongs to the format is known here: its messages, its ways to
 * leave things out, its versions. What operators mean is the business of graph/ops. */
#include "import/onnx/body.h"
#include "import/onnx/scan.h"

#include <string.h>

enum { NEWEST_IR = 14, FIRST_IR_WITH_OPSETS = 3 }; /* onnx.proto, Version */

/* ---- versions ---- */
static bool read_opsets(model_file *f, size_t n, Onnx__OperatorSetId *const *from, function *out, err *e)
{
    out->opset = arena_array(&f->mem, n, sizeof *out->opset);
    for (size_t i = 0; i < n; i++)
        if (!opset_add(out->opset, &out->n_opset, onnx_domain(from[i]->domain), from[i]->version, e))
            return false;
    return true;
}

static bool read_versions(model_file *f, const Onnx__Model *m, err *e)
{
    function own = {0};
    if (!read_opsets(f, m->n_opset_import, m->opset_import, &own, e))
        return false;
    f->opset = own.opset, f->n_opset = own.n_opset;
    if (m->ir_version > NEWEST_IR)
        return err_set(e, TS_UNSUPPORTED, "M010 IR version %lld is newer than %d", (long long)m->ir_version, NEWEST_IR);
    if (f->n_opset > 0 || m->ir_version < FIRST_IR_WITH_OPSETS) /* those are for opset 1 */
        return true;
    err_set(e, TS_BAD_INPUT, "M010 the model names no opset");
    return err_hint(e, "opset_import says which versions of the operators are meant");
}

/* ---- functions ---- */

/* Inputs and outputs of a function have names and nothing else. */
static ts_port *named_ports(model_file *f, size_t n, char *const *name)
{
    ts_port *p = arena_array(&f->mem, n, sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = (ts_port){.name = onnx_text(name[i]), .dtype = TS_N_DTYPE, .rank = -1};
    return p;
}

static bool read_function(onnx_source *s, const Onnx__Function *from, function *out, err *e)
{
    step defaults = {0};
    out->domain = onnx_domain(from->domain), out->name = onnx_overload(&s->file->mem, from->name, from->overload);
    if (from->n_input > ONNX_PORTS || from->n_output > ONNX_PORTS)
        return err_set(e, TS_BAD_INPUT, "M005 %s: %zu inputs and %zu outputs, at most %d of each expected", out->name,
                       from->n_input, from->n_output, ONNX_PORTS);
    out->body.n_input = (int)from->n_input, out->body.n_output = (int)from->n_output;
    out->body.input = named_ports(s->file, from->n_input, from->input);
    out->body.output = named_ports(s->file, from->n_output, from->output);
    if (!read_opsets(s->file, from->n_opset_import, from->opset_import, out, e) ||
        !onnx_attributes(s, from->n_attribute_proto, from->attribute_proto, &defaults, e))
        return false;
    out->n_attr = defaults.n_attr, out->attr = defaults.attr, out->tensor = defaults.tensor;
    s->in_function = true;
    const bool ok = onnx_steps(s, from->n_node, from->node, &out->body, e);
    s->in_function = false;
    return ok;
}

static bool read_functions(onnx_source *s, const Onnx__Model *m, err *e)
{
    model_file *f = s->file;
    f->function = arena_array(&f->mem, m->n_functions, sizeof *f->function);
    for (size_t i = 0; i < m->n_functions; i++) {
        function *out = &f->function[f->n_function++];
        if (!read_function(s, m->functions[i], out, e))
            return err_in(e, "function %s.%s", out->domain, out->name);
        for (int k = 0; k + 1 < f->n_function; k++)
            if (!strcmp(f->function[k].name, out->name) && !strcmp(f->function[k].domain, out->domain))
                return err_set(e, TS_UNSUPPORTED, "M030 the function %s.%s is defined more than once", out->domain,
                               out->name);
    }
    return true;
}

/* ---- the file ---- */
const Onnx__Model *onnx_unpack(model_file *f, err *e)
{
    ProtobufCAllocator a = onnx_allocator(&f->mem);
    ENDED_BY(text_free) text lean = {0};
    const Onnx__Model *m = NULL;
    if (onnx_scan(f->map.at, f->map.size, &onnx__model__descriptor, f->limits.description, &lean, e)) {
        m = onnx__model__unpack(&a, lean.length, (const uint8_t *)lean.s);
        if (!m)
            err_set(e, TS_BAD_INPUT, "M003 its description cannot be unpacked, a model as protobuf writes it expected");
    }
    return m;
}

static bool read_model(model_file *f, const Onnx__Model *m, err *e)
{
    ENDED_BY(arena_free) arena scratch = {0};
    name_table given = {.mem = &scratch};
    onnx_source s = {.file = f, .ir = m->ir_version};
    const Onnx__Graph *g = m->graph;
    f->name = onnx_text(g ? g->name : "");
    bool ok = g ? read_versions(f, m, e) && onnx_tensors(&s, g, &f->main, &given, e) &&
                      onnx_ports(&s, g, &given, &f->main, e)
                : err_set(e, TS_BAD_INPUT, "M011 model has no graph");
    if (ok && f->main.n_output == 0)
        ok = err_set(e, TS_BAD_INPUT, "M011 the model's graph has no outputs");
    return ok && onnx_steps(&s, g->n_node, g->node, &f->main, e) && read_functions(&s, m, e);
}

static bool is_onnx(const char *path, const unsigned char *head, size_t n)
{
    const size_t length = strlen(path);
    if (length > 5 && !strcmp(path + length - 5, ".onnx"))
        return true;
    return n > 1 && head[0] == 0x08 && head[1] <= NEWEST_IR; /* field 1, the IR version: how writers begin */
}

static bool read_onnx(const char *path, model_file *out, err *e)
{
    if (!file_map(path, &out->map, e) || !external_open(&out->external, &out->mem, path, e))
        return false;
    const Onnx__Model *m = onnx_unpack(out, e);
    const bool ok = m && read_model(out, m, e);
    external_close(&out->external);
    return ok || err_in(e, "%s", path);
}

const reader reader_onnx = {.name = "onnx", .in_folder = "model.onnx", .is = is_onnx, .read = read_onnx};
