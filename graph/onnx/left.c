/* left.c - operators that tools write and that are left out, with the reason and what to bring in their place. */
#include "graph/ir/op.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *domain, *types, *reason; /* types: between blanks; "": every one of the domain */
} all[] = {
    {"com.microsoft.nchwc", "",
     "weights lie in blocks of as many channels as the processor that wrote them likes, which the file does not say; "
     "optimize at ORT_ENABLE_EXTENDED or below"},
    {"com.microsoft", "BeamSearch GreedySearch Sampling WhisperBeamSearch",
     "a whole generation in one node; bring the decoder, and generate around it"},
    {"com.microsoft",
     "DequantizeWithOrder QOrderedAttention QOrderedGelu QOrderedLayerNormalization QOrderedLongformerAttention "
     "QOrderedMatMul QuantizeWithOrder",
     "layouts of one kind of graphics processor; quantize as QDQ"},
    {"com.microsoft", "DequantizeBFP GemmFloat8 MatMulBnb4 MatMulFpQ4 MatMulPacked QuantizeBFP",
     "weights in a format of one provider; quantize as MatMulNBits or QDQ"},
    {"com.microsoft", "MoE MoEPacked QMoE", "experts that are chosen at run time; export them as MatMul and Gather"},
    {"com.microsoft",
     "DecoderAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention LongformerAttention PackedAttention "
     "PackedMultiHeadAttention PagedAttention RemovePadding RestorePadding SparseAttention",
     "keys and values kept or packed as a graphics processor wants them; optimize for the processor"},
    {"com.microsoft", "EPContext Snpe", "a program compiled for one provider; bring the file that it was made of"},
    {"com.microsoft", "Tokenizer WordConvEmbedding", "texts; bring the model behind them, and tokens"},
    {"com.microsoft", "Inverse", "no operation inverts matrices; invert constants before, or solve outside"},
};

static bool listed(const char *types, const char *kind)
{
    const size_t n = strlen(kind);
    for (const char *at = types; n && (at = strstr(at, kind)); at += n)
        if ((at == types || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return !*types;
}

const char *onnx_left(const char *domain, const char *kind)
{
    for (int i = 0; i < COUNT(all); i++)
        if (!strcmp(all[i].domain, domain) && listed(all[i].types, kind))
            return all[i].reason;
    return "";
}

void onnx_left_json(text *t)
{
    for (int i = 0; i < COUNT(all); i++)
        json_add(t, "\n{domain:%s,operators:%s,reason:%s}", all[i].domain, *all[i].types ? all[i].types : "*",
                 all[i].reason);
}
