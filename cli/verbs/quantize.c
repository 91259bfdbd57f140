/* quantize.c - tessera quantize: an ONNX file with the weights of its products in 8 or 4 bits. */
#include "graph/base/base.h"
#include "cli/args.h"
#include "cli/outfile.h"
#include "cli/reply.h"

#include <stdlib.h>
#include <string.h>

static void told(const args *a, const char *file, const ts_quantized *what)
{
    text before = {0}, after = {0}, worst = {0};
    if (a->console.json) {
        reply_end(js_put(reply_make("quantize/1"),
                         "file:%s,products:%d,kept:%d,bytes_before:%lld,bytes_after:%lld,error:%g,worst:%s", file,
                         what->products, what->kept, (long long)what->before, (long long)what->after, what->error,
                         what->worst));
        return;
    }
    text_size(&before, (double)what->before), text_size(&after, (double)what->after), text_safe(&worst, what->worst);
    console_note(&a->console, "wrote %s: %d products quantized, %d kept; %s became %s", file, what->products,
                 what->kept, text_str(&before), text_str(&after));
    console_note(&a->console, "largest relative error of a weight: %.3g (%s)", what->error, text_str(&worst));
    text_free(&before), text_free(&after), text_free(&worst);
}

/* Only files are rewritten: what else is a model becomes one first. */
static bool is_there(const char *from, ts_error *e)
{
    if (file_exists(from) && !file_is_folder(from))
        return true;
    err_set(e, TS_FILES, "there is no file '%s'", from);
    return err_hint(e, "of a folder or a built-in model, tessera export %s -o FILE.onnx writes one", from);
}

static bool work(const args *a, const char *from, ts_error *e)
{
    static const char *const blocks[] = {"block", NULL};
    ts_quantized what;
    const char *to = args_needed(a, "out", "-o FILE.onnx says where the model goes", e);
    const char *bits = to ? args_needed(a, "weights", "--weights int8 or --weights int4", e) : NULL;
    if (!bits || !outfile_check(to, e) || !is_there(from, e))
        return false;
    ts_quantization how = {.bits = strcmp(bits, "int8") ? 4 : 8, .block = (int)args_integer(a, "block")};
    if (how.bits == 8 && !args_refuse(a, blocks, "8-bit weights have a scale for each column", e))
        return false;
    const char **keep = args_list(a, "keep", &how.n_keep);
    how.keep = keep;
    const bool good = ts_quantize(from, &how, to, &what, e);
    free(keep);
    if (good)
        told(a, to, &what);
    return good;
}

static int run(const args *a, ts_error *e)
{
    work(a, args_noun(a, 0), e);
    return TS_OK;
}

static const option options[] = {
    {"out", 'o', A_FILE, "FILE", "the ONNX file to write", ONCE},
    {"weights", 0, CHOICE, "int8|int4", "how the weights are stored", ONCE},
    {"block", 0, INTEGER, "N", "int4: elements that share a scale, a power of two", "32", false, 16, 256},
    {"keep", 0, WORD, "GLOB", "leave products whose node or weight has such a name; repeats", REPEATS},
    {0},
};
static const char *const examples[] = {
    "tessera quantize bert.onnx -o bert-int8.onnx --weights int8",
    "tessera quantize gpt2.onnx -o q4.onnx --weights int4 --keep '*lm_head*'",
    NULL,
};

const verb verb_quantize = {
    .name = "quantize",
    .brief = "Store the weights of an ONNX file in 8 or 4 bits",
    .usage = "FILE.onnx",
    .own = {"Options", options, NULL},
    .examples = examples,
    .details =
        "Quantized are constant f32 matrices on the right of MatMul and Gemm; activations stay f32. int8: symmetric, "
        "one scale per output column, through DequantizeLinear. int4: one scale per block of a column, as "
        "com.microsoft.MatMulNBits. Everything else is copied unchanged. ONNX Runtime loads both. Numbers beyond one "
        "GiB lie in FILE.data beside it.",
    .run = run,
};
