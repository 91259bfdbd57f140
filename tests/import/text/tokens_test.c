/* What a tokenizer.json may not do: patterns that take for ever, texts that grow without end; and settings are refused
 * by their place. With a file as argument: for each text on standard input, its bytes behind their count and whether it
 * is to be whole, the ids and the text of the ids in hexadecimal digits, a line each (compare.py). */
/* ctest: fast */
#include "graph/base/base.h"
#include "graph/base/clock.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ts_tokenizer *opened(const scratch *folder, const char *source, err *e)
{
    const char *path = scratch_in(folder, "t.json");
    CHECK(file_save(path, source, strlen(source), NULL));
    return ts_tokenizer_open(path, e);
}

/* ---- refusals ---- */
#define MODEL "\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}"

static void refused(const scratch *folder, const char *source, const char *want)
{
    err e = {0};
    ts_tokenizer *t = opened(folder, source, &e);
    const char *at = strstr(e.text, "t.json");
    if (CHECK(!t))
        CHECK_TEXT(at ? at : e.text, want);
    ts_tokenizer_free(t);
}

static void check_refusals(const scratch *folder)
{
    refused(folder,
            "{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a(\"},\"content\":\"b\"}," MODEL "}",
            "t.json:1:52 (/normalizer/pattern/Regex): the regular expression \"a(\": missing closing parenthesis"
            "\n  hint: Oniguruma's syntax for Ruby is read, but for negated and intersected classes inside a class");
    refused(
        folder,
        "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[a&&b]\"},\"behavior\":\"Removed\"}," MODEL
        "}",
        "t.json:1:53 (/pre_tokenizer/pattern/Regex): the regular expression \"[a&&b]\": \"&&\" in a class [...] is "
        "not supported\n  hint: Oniguruma's syntax for Ruby is read, but for negated and intersected classes inside "
        "a class");
    refused(
        folder, "{\"pre_tokenizer\":{\"type\":\"Punctuation\",\"behavior\":\"removed\"}," MODEL "}",
        "t.json:1:51 (/pre_tokenizer/behavior): Isolated, Removed, Contiguous, MergedWithPrevious or MergedWithNext "
        "expected, not \"removed\"");
    refused(folder, "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"ab\"}," MODEL "}",
            "t.json:1:52 (/pre_tokenizer/replacement): a text of one character expected, not \"ab\"");
    refused(folder, "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"last\"}," MODEL "}",
            "t.json:1:55 (/pre_tokenizer/prepend_scheme): \"always\", \"first\" or \"never\" expected, not \"last\"");
    refused(
        folder, "{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAA\"}," MODEL "}",
        "t.json:1:60 (/normalizer/precompiled_charsmap): no table of characters in base64: the bytes of a trie, the "
        "trie, texts");
    refused(folder, "{\"normalizer\":{\"type\":\"Sequence\"}," MODEL "}",
            "t.json:1:15 (/normalizer): a Sequence without the list \"normalizers\"");
    refused(folder, "{\"decoder\":{\"type\":\"Braille\"}," MODEL "}",
            "t.json:1:20 (/decoder/type): decoder \"Braille\" is not supported\n  hint: supported are ByteLevel, "
            "Metaspace, WordPiece, BPEDecoder, CTC, ByteFallback, Fuse, Strip, Replace and Sequence");
    refused(
        folder, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],\"dropout\":0.1}}",
        "t.json:1:62 (/model/dropout): dropout is not supported: a text always gives the same tokens\n  hint: set it "
        "to null, as for everything but training");
    refused(folder, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}",
            "t.json:1:50 (/model/merges/0): a merge of tokens that the vocabulary lacks");
    refused(folder, "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",0]],\"unk_id\":1}}",
            "t.json:1:55 (/model/unk_id): unk_id is a place of the vocabulary, which has 1 tokens");
}

/* ---- limits ---- */
/* Ten steps that make eight bytes of one would make a gigabyte of one. */
static void check_growth(const scratch *folder)
{
    text file = {0};
    text_add(&file, "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    for (int i = 0; i < 10; i++)
        text_add(&file, "%s{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aaaaaaaa\"}",
                 i ? "," : "");
    text_add(&file, "]}," MODEL "}");
    err e = {0};
    CHECK(!opened(folder, text_str(&file), &e));
    if (!CHECK(strstr(e.text,
                      "(/normalizer/normalizers/3/pattern/String): with this step a text may grow to 9 times its "
                      "size or more, at most 4096")))
        printf("%s\n", e.text);
    text_free(&file);
}

/* What backtracks without end is given up, in time that follows the text. */
static void check_patience(const scratch *folder)
{
    static const char *const evil[] = {"(a+)+$", "(a|a?)+b", "(?:(a*)*)*c", "(.*)*\\\\1d"};
    for (int i = 0; i < COUNT(evil); i++) {
        text file = {0}, in = {0};
        err e = {0};
        text_add(
            &file,
            "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%s\"},\"behavior\":\"Isolated\"}," MODEL
            "}",
            evil[i]);
        for (int k = 0; k < 20000; k++)
            text_bytes(&in, "a", 1);
        text_bytes(&in, "!", 1);
        ts_tokenizer *t = opened(folder, text_str(&file), &e);
        const double begin = seconds_now();
        int64_t n;
        if (CHECK(t))
            ts_free(ts_tokenizer_encode(t, in.s, in.length, true, &n));
        else
            printf("%s\n", e.text);
        if (!CHECK(seconds_now() - begin < 30))
            printf("  %s: %.1f s\n", evil[i], seconds_now() - begin);
        ts_tokenizer_free(t);
        text_free(&file), text_free(&in);
    }
}

/* Of many added tokens each place of a text is held against few. */
static void check_many(const scratch *folder)
{
    text file = {0};
    err e = {0};
    text_add(&file, "{\"added_tokens\":[");
    for (int i = 1; i <= 100000; i++)
        text_add(&file, "%s{\"id\":%d,\"content\":\"<%d>\"}", i > 1 ? "," : "", i, i);
    text_add(&file, "]," MODEL "}");
    const double begin = seconds_now();
    ts_tokenizer *t = opened(folder, text_str(&file), &e);
    if (CHECK(t)) {
        int64_t n, *id = ts_tokenizer_encode(t, "<99999><7><7", 12, true, &n);
        CHECK(n == 3 && id[0] == 99999 && id[1] == 7 && id[2] == 0);
        ts_free(id);
    } else
        printf("%s\n", e.text);
    CHECK(seconds_now() - begin < 20);
    ts_tokenizer_free(t);
    text_free(&file);
}

static int serve(const char *path)
{
    err e = {0};
    ts_tokenizer *t = ts_tokenizer_open(path, &e);
    if (!t)
        return printf("refused: %s\n", e.text), 1;
    uint32_t head[2]; /* bytes, whole */
    while (fread(head, sizeof head, 1, stdin) == 1) {
        char *s = heap_array(head[0] + 1, 1);
        MUST(fread(s, 1, head[0], stdin) == head[0]);
        int64_t n;
        size_t bytes;
        int64_t *id = ts_tokenizer_encode(t, s, head[0], head[1], &n);
        char *back = ts_tokenizer_decode(t, id, n, &bytes);
        for (int64_t i = 0; i < n; i++)
            printf("%s%lld", i ? " " : "", (long long)id[i]);
        printf("\n");
        for (size_t i = 0; i < bytes; i++)
            printf("%02x", (unsigned char)back[i]);
        printf("\n");
        free(s), ts_free(id), ts_free(back);
    }
    ts_tokenizer_free(t);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return serve(argv[1]);
    scratch folder = scratch_make();
    check_refusals(&folder);
    check_growth(&folder);
    check_patience(&folder);
    check_many(&folder);
    scratch_free(&folder);
    return check_done();
}
