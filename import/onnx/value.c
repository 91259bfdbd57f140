/* value.c - values in files of their own, as ONNX keeps the data of its tests: a tensor, a sequence, an optional. What
 * a file holds is not written in it; the model's port says so. */
#include "import/onnx/scan.h"
#include "import/onnx/tensor.h"

#include <stdlib.h>
#include <string.h>

typedef struct source {
    onnx_source tensors;
    const char *path;
} source;

static bool read_tensor(source *s, const Onnx__Tensor *t, ts_value *out, err *e)
{
    ts_array a;
    *out = (ts_value){.kind = TS_TENSOR};
    if (t->data_location == 1)
        return err_set(e, TS_UNSUPPORTED, "a value in a file of its own has external data, data in that file expected");
    if (!onnx_tensor(&s->tensors, t, &a, e) || !ts_array_make(&out->array, a.dtype, a.rank, a.dim, e))
        return false;
    const size_t bytes = (size_t)ts_array_count(&a) * (size_t)ts_dtype_bytes(a.dtype);
    if (bytes > 0)
        memcpy(out->array.data, a.data, bytes);
    return true;
}

static bool make_items(ts_value *out, ts_kind kind, size_t n)
{
    *out = (ts_value){.kind = kind, .n = (int)n, .item = heap_array(n + 1, sizeof *out->item)};
    return true;
}

static bool read_optional(source *s, const Onnx__Optional *o, ts_value *out, err *e);

static bool read_sequence(source *s, const Onnx__Sequence *q, ts_value *out, err *e)
{
    if (q->n_sparse_tensor_values || q->n_map_values)
        return err_set(e, TS_UNSUPPORTED,
                       "a sequence of sparse tensors or maps, one of tensors, sequences or optionals expected");
    bool ok = make_items(out, TS_SEQUENCE, q->n_tensor_values + q->n_sequence_values + q->n_optional_values);
    int n = 0;
    for (size_t i = 0; ok && i < q->n_tensor_values; i++)
        ok = read_tensor(s, q->tensor_values[i], &out->item[n++], e);
    for (size_t i = 0; ok && i < q->n_sequence_values; i++)
        ok = read_sequence(s, q->sequence_values[i], &out->item[n++], e);
    for (size_t i = 0; ok && i < q->n_optional_values; i++)
        ok = read_optional(s, q->optional_values[i], &out->item[n++], e);
    return ok;
}

static bool read_optional(source *s, const Onnx__Optional *o, ts_value *out, err *e)
{
    if (o->sparse_tensor_value || o->map_value)
        return err_set(e, TS_UNSUPPORTED, "an optional sparse tensor or map, a tensor, sequence or optional expected");
    make_items(out, TS_OPTIONAL, o->tensor_value || o->sequence_value || o->optional_value);
    if (o->tensor_value)
        return read_tensor(s, o->tensor_value, out->item, e);
    if (o->sequence_value)
        return read_sequence(s, o->sequence_value, out->item, e);
    return !o->optional_value || read_optional(s, o->optional_value, out->item, e);
}

static bool read_message(source *s, char form, ts_value *out, err *e)
{
    const ProtobufCMessageDescriptor *kind = form == 's'   ? &onnx__sequence__descriptor
                                             : form == 'o' ? &onnx__optional__descriptor
                                                           : &onnx__tensor__descriptor;
    model_file *f = s->tensors.file;
    ProtobufCAllocator a = onnx_allocator(&f->mem);
    ENDED_BY(text_free) text lean = {0};
    const bool empty = f->map.size == 0; /* of an optional that holds nothing and has no name */
    const void *m = NULL;
    if (empty || onnx_scan(f->map.at, f->map.size, kind, limits_make().description, &lean, e))
        m = protobuf_c_message_unpack(kind, &a, lean.length, (const uint8_t *)lean.s);
    if (!m)
        return err_set(e, TS_BAD_INPUT, "M003 bad wire data, a %sProto of ONNX expected",
                       form == 's'   ? "Sequence"
                       : form == 'o' ? "Optional"
                                     : "Tensor");
    return form == 's'   ? read_sequence(s, m, out, e)
           : form == 'o' ? read_optional(s, m, out, e)
                         : read_tensor(s, m, out, e);
}

bool ts_value_read(const char *path, const char *form, ts_value *out, ts_error *e)
{
    model_file f = {0};
    source s = {.tensors = {.file = &f}, .path = path};
    *out = (ts_value){0};
    const bool ok = file_map(path, &f.map, e) && (read_message(&s, form ? *form : 0, out, e) || err_in(e, "%s", path));
    model_file_free(&f);
    if (!ok)
        ts_value_free(out);
    return ok;
}

void ts_value_free(ts_value *v)
{
    if (!v)
        return;
    for (int i = 0; i < v->n; i++)
        ts_value_free(&v->item[i]);
    free(v->item);
    if (v->array.data)
        ts_array_free(&v->array);
    *v = (ts_value){0};
}
