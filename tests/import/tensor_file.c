#include "tests/import/tensor_file.h"

#include "import/onnx/scan.h"
#include "import/onnx/tensor.h"

#include <string.h>

bool tensor_file_read(const char *path, ts_array *out, ts_error *e)
{
    model_file f = {0};
    text lean = {0};
    ts_array in;
    bool ok = false;
    Onnx__Tensor *t = NULL;
    if (file_map(path, &f.map, e) && onnx_scan(f.map.at, f.map.size, &onnx__tensor__descriptor, 1 << 27, &lean, e))
        t = onnx__tensor__unpack(NULL, lean.length, (const uint8_t *)lean.s);
    if (t && onnx_tensor(&(onnx_source){.file = &f}, t, &in, e) && ts_array_make(out, in.dtype, in.rank, in.dim, e)) {
        memcpy(out->data, in.data, (size_t)ts_array_count(&in) * (size_t)ts_dtype_bytes(in.dtype));
        ok = true;
    }
    onnx__tensor__free_unpacked(t, NULL);
    text_free(&lean);
    model_file_free(&f);
    return ok;
}
