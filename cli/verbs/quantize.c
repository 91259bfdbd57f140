/* quantize.c - tessera quantize: an ONNX file with the weights of its products in 8 or 4 bits, or with these and the
 * values that they take in 8. */
#include "graph/base/base.h"
#include "cli/calibration.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"

#include <string.h>

static void told(const args *a, const char *file, const ts_quantized *what, int samples)
{
    cJSON *o = js_put(reply_make("quantize/1"), "file:%s,products:%d,kept:%d,bytes_before:%lld,bytes_after:%lld", file,
                      what->products, what->kept, (long long)what->before, (long long)what->after);
    js_put(o, "error:%g,worst:%s", what->error, what->worst);
    if (samples)
        js_put(o, "values:%d,samples:%d", what->values, samples);
    reply_note(a, o,
               "wrote {file}: {products} products quantized, {kept} kept; {bytes_before:bytes} became "
               "{bytes_after:bytes}\n"
               "[samples?{values} values are rounded to 8 bits, by their ranges over {samples} samples\n]"
               "largest relative error of a weight: {error:%.3g} ({worst})");
}

/* Only files are rewritten: what else is a model becomes one first. */
static bool is_there(const char *from, ts_error *e)
{
    if (file_exists(from) && !file_is_folder(from))
        return true;
    err_set(e, TS_FILES, "there is no file '%s'", from);
    return err_hint(e, "of a folder or a built-in model, tessera export %s -o FILE.onnx writes one", from);
}

/* Bits of weights; 0 with e set. values: those that products take are to be rounded, too. */
static int bits_of(const args *a, bool values, ts_error *e)
{
    static const char *const blocks[] = {"block", NULL}, *const weights[] = {"weights", NULL},
                             *const runs[] = {"calibrate", "dim",        "target", "threads",   "isa",   "machine",
                                              "cache-dir", "as-written", "bits",   "mem-limit", "limit", NULL};
    const char *bits = args_text(a, "weights");
    if (values && !args_count(a, "calibrate"))
        return args_needed(a, "calibrate", "--int8 rounds values by their ranges over samples: --calibrate DATA", e), 0;
    if (values ? !args_refuse(a, weights, "--int8 stores weights in 8 bits, too", e)
               : !args_refuse(a, runs, "--int8 alone runs the model; --weights looks at weights only", e))
        return 0;
    if (!values && !bits)
        return args_needed(a, "weights", "--weights int8, --weights int4, or --int8 --calibrate DATA", e), 0;
    const int n = values || !strcmp(bits, "int8") ? 8 : 4;
    return n == 4 || args_refuse(a, blocks, "8-bit weights have a scale for each column", e) ? n : 0;
}

static int run(const args *a, ts_error *e)
{
    const char *from = args_noun(a, 0);
    ts_quantized what;
    const bool values = args_flag(a, "int8");
    calibration seen = {.args = a, .model = from};
    const char *to = args_needed(a, "out", "-o FILE.onnx says where the model goes", e);
    const int bits = to ? bits_of(a, values, e) : 0;
    if (!bits || !outfile_check(to, e) || !is_there(from, e))
        return e->code;
    ts_quantization how = {.bits = bits,
                           .block = (int)args_integer(a, "block"),
                           .observe = values ? calibration_observe : NULL,
                           .user = &seen};
    ENDED_BY(heap_free) const char **keep = args_list(a, "keep", &how.n_keep);
    how.keep = keep;
    const bool ok = ts_quantize(from, &how, to, &what, e);
    if (ok)
        told(a, to, &what, seen.samples);
    return e->code;
}

static const option options[] = {
    {"out", 'o', A_FILE, "FILE", "the ONNX file to write", ONCE},
    {"weights", 0, CHOICE, "int8|int4", "weights alone, and how they are stored", ONCE},
    {"int8", 0, FLAG, NULL, "weights and the values that meet them, by ranges over samples", ONCE},
    {"calibrate", 0, A_FILE, "DATA", "int8: a sample of inputs, or a folder of samples; repeats", REPEATS},
    {"block", 0, INTEGER, "N", "int4: elements that share a scale, a power of two", "32", false, 16, 256},
    {"keep", 0, WORD, "GLOB", "leave products whose node or weight has such a name; repeats", REPEATS},
    {0},
};
static const option_group *const groups[] = {&session_dim_options, &session_limit_options, &session_plan_options, NULL};

const verb verb_quantize = {
    .name = "quantize",
    .brief = "Write an ONNX file for integers of 8 or 4 bits",
    .usage = "FILE.onnx",
    .own = {"Options", options, NULL},
    .groups = groups,
    .examples = "tessera quantize bert.onnx -o bert-int8.onnx --weights int8\n"
                "tessera quantize gpt2.onnx -o q4.onnx --weights int4 --keep '*lm_head*'\n"
                "tessera quantize resnet.onnx -o static.onnx --int8 --calibrate samples",
    .details =
        "--weights: constant f32 matrices on the right of MatMul and Gemm; activations stay f32. int8: symmetric, "
        "one scale per output column, through DequantizeLinear. int4: one scale per block of a column, as "
        "com.microsoft.MatMulNBits.\n\n"
        "--int8: these weights as int8, those of Conv too, and what such products take as u8, through pairs of "
        "QuantizeLinear and DequantizeLinear; what Conv gives is rounded as well, behind its Relu or Clip. Scales come "
        "from the least and the largest element over all samples: the model runs once with each. A sample is a folder "
        "with NAME.npy, or input_0.pb, of each input, or a .safetensors file; DATA may be a folder of samples.\n\n"
        "Everything else is copied unchanged. ONNX Runtime loads all of them. Numbers beyond one GiB lie in FILE.data "
        "beside it.",
    .run = run,
};
