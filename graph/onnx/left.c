/* left.c - operators that tools write and that are left out, with the reason and what to bring in their place. */
#include "graph/ir/op.h"

#include <limits.h>
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
    {"com.microsoft",
     "DequantizeBFP GemmFloat8 MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight MatMulFpQ4 "
     "MatMulPacked QuantizeBFP",
     "weights in a format of one provider; quantize as MatMulNBits or QDQ"},
    {"com.microsoft", "MoE MoEPacked QMoE", "experts that are chosen at run time; export them as MatMul and Gather"},
    {"com.microsoft",
     "DecoderAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention LongformerAttention PackedAttention "
     "PackedMultiHeadAttention PagedAttention RemovePadding RestorePadding SparseAttention",
     "keys and values kept or packed as a graphics processor wants them; optimize for the processor"},
    {"com.microsoft", "EPContext Snpe", "a program compiled for one provider; bring the file that it was made of"},
    {"com.microsoft", "Tokenizer WordConvEmbedding", "texts; bring the model behind them, and tokens"},
    {"com.microsoft",
     "BranchwiseRMSNorm GatedAdd GatedRMSNorm GatedRelativePositionBias GemmFastGelu GemmaRotaryEmbedding "
     "MRotaryEmbedding MatMulNBitsMlp MatMulNBitsQLoRA MatMulNBitsQkv RMSNormRotary RelativePositionBias "
     "ScaledSiLU SwiGLU",
     "made of several operators for one provider; export or optimize without that fusion"},
    {"com.microsoft",
     "CausalConvWithState ConvStateReplay DynamicSparseAttention EngramGate GatedDeltaNet "
     "GatedDeltaNetStateReplay HyperConnectionLowRankMix HyperConnectionPostMix HyperConnectionPreMix "
     "LinearAttention LinearAttentionGate Mamba2Verify MoEGroupRouter NGramHashMapping "
     "PackedSparseAttentionIndexer PackedSparseAttentionIndexerMerge RouterGateUpProj SparseAttentionIndexer "
     "SparsePagedAttention VarlenCausalConvWithState VarlenNGramHashMapping",
     "states and lists that one provider keeps between runs; export without that fusion"},
    {"com.microsoft", "BiasDropout BitmaskBiasDropout BitmaskDropout IsAllFinite",
     "made for training; export for inference"},
    {"com.microsoft", "BifurcationDetector NGramRepeatBlock SpeculativePrefixCommit",
     "a rule of decoding; bring the decoder, and generate around it"},
    {"com.microsoft", "ComplexMul ComplexMulConj Irfft Rfft",
     "older than DFT of the standard; export with opset 17 or later"},
    {"com.microsoft", "CropAndResize MaxpoolWithMask",
     "windows that only values decide; export as RoiAlign or GridSample, MaxPool"},
    {"com.microsoft",
     "DynamicTimeWarping GatherPacked MurmurHash3 SampleOp SparseToDenseMatMul TorchEmbedding UnfoldTensor AttnLSTM",
     "for one program, and no exporter writes it; use operators of the standard"},
    {"com.ms.internal.nhwc", "", "made of a model while a provider loads it; bring the file that it was made of"},
    {"", "ImageDecoder RegexFullMatch StringConcat StringNormalizer StringSplit",
     "texts or files of images; bring the model behind them, and numbers"},
    {"", "MaxRoiPool", "windows that only values decide; export as RoiAlign"},
    {"ai.onnx.ml", "CastMap CategoryMapper DictVectorizer", "texts or maps; bring the model behind them, and numbers"},
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

/* Those that no operation has come to serve since */
static void types_left(text *t, const char *domain, const char *types)
{
    const onnx_rule *rule;
    char kind[64];
    for (int n = 0; sscanf(types, " %63s%n", kind, &n) == 1; types += n)
        if (!op_for_onnx(domain, kind, INT_MAX, &rule) && !op_for_form(domain, kind, INT_MAX, &rule))
            text_add(t, "%s%s", t->length ? " " : "", kind);
}

void onnx_left_json(text *t)
{
    for (int i = 0; i < COUNT(all); i++) {
        ENDED_BY(text_free) text types = {0};
        types_left(&types, all[i].domain, all[i].types);
        if (types.length || !*all[i].types)
            json_add(t, "\n{domain:%s,operators:%s,reason:%s}", *all[i].domain ? all[i].domain : "ai.onnx",
                     types.length ? types.s : "*", all[i].reason);
    }
}
