/* Tokenizers: the reference ids of a real vocabulary, from both of its files; byte-level BPE against ids that the
 * library most people use gave for the same file; refusals; bytes that are no text. */
/* ctest: fast */
#include "graph/base/base.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "101 7592 102" */
static char *encoded(const ts_tokenizer *t, const char *s, size_t n, bool whole)
{
    int64_t count, *id = ts_tokenizer_encode(t, s, n, whole, &count);
    text out = {0};
    for (int64_t i = 0; i < count; i++)
        text_add(&out, "%s%lld", i ? " " : "", (long long)id[i]);
    ts_free(id);
    return text_take(&out);
}

static void check_ids(const ts_tokenizer *t, const char *s, const char *want)
{
    char *got = encoded(t, s, strlen(s), true);
    if (!CHECK_TEXT(got, want))
        printf("  of \"%s\"\n", s);
    free(got);
}

/* \\ \t \n \r and \xHH */
static size_t unescape(char *s)
{
    char *to = s;
    for (const char *from = s; *from; from++) {
        const char *known = "\\\\t\tn\nr\r", *at = *from == '\\' ? strchr(known, from[1]) : NULL;
        if (*from == '\\' && from[1] == 'x') {
            const char hex[3] = {from[2], from[3], 0};
            *to++ = (char)strtol(hex, NULL, 16), from += 3;
        } else if (at && from[1])
            *to++ = at[1], from++;
        else
            *to++ = *from;
    }
    return (size_t)(to - s);
}

static int reference(const char *shared, const char *file)
{
    char path[512];
    text lines = {0};
    err e = {0};
    int n = 0;
    snprintf(path, sizeof path, "%s/models/minilm/%s", shared, file);
    ts_tokenizer *t = ts_tokenizer_open(path, &e);
    snprintf(path, sizeof path, "%s/models/minilm/tokens.tsv", shared);
    if (!CHECK(t && file_read(path, 1 << 24, &lines, &e))) {
        printf("%s\n", e.text);
        return 0;
    }
    for (char *line = lines.s, *next; line < lines.s + lines.length; line = next, n++) {
        next = line + strcspn(line, "\n");
        *next = 0, next++;
        char *tab = strrchr(line, '\t');
        *tab = 0;
        const size_t length = unescape(line);
        char *got = encoded(t, line, length, true);
        if (!CHECK_TEXT(got, tab + 1))
            printf("  line %d of tokens.tsv with %s\n", n + 1, file);
        free(got);
    }
    text_free(&lines);
    ts_tokenizer_free(t);
    return n;
}

static const char bpe_file[] =
    "{\"added_tokens\":[{\"id\":300,\"content\":\"<|end|>\",\"special\":true}],"
    "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true},"
    "\"model\":{\"type\":\"BPE\",\"vocab\":{%s\"lo\":256,\"low\":257,\"\\u0120low\":258,\"er\":259,\"lower\":260,"
    "\"\\u0120\\u0120\":261,\"\\u00c3\\u00a9\":262,\"'s\":263,\"aa\":264,\"aaaa\":265},"
    "\"merges\":[\"l o\",\"lo w\",\"\\u0120 low\",\"e r\",\"low er\",\"\\u0120 \\u0120\",[\"\\u00c3\",\"\\u00a9\"],\"' "
    "s\","
    "\"a a\",\"aa aa\"]}}";

/* Every byte as a token, in the spelling of byte-level vocabularies. */
static void byte_tokens(text *out)
{
    int next = 256;
    for (int b = 0; b < 256; b++) {
        const bool plain = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
        text_add(out, "\"\\u%04x\":%d,", plain ? b : next, b);
        next += !plain;
    }
}

static ts_tokenizer *opened(const scratch *folder, const char *name, const char *source, size_t n, err *e)
{
    const char *path = scratch_in(folder, name);
    CHECK(file_save(path, source, n, NULL));
    return ts_tokenizer_open(path, e);
}

static void check_bpe(const scratch *folder)
{
    text bytes = {0}, file = {0};
    err e = {0};
    byte_tokens(&bytes);
    text_add(&file, bpe_file, text_str(&bytes));
    ts_tokenizer *t = opened(folder, "tokenizer.json", text_str(&file), file.length, &e);
    if (!CHECK(t))
        printf("%s\n", e.text);
    else {
        check_ids(t, "low lower  lowest", "257 258 259 32 258 101 115 116");
        check_ids(t, "caf\xC3\xA9's 42nd", "99 97 102 262 263 32 52 50 110 100");
        check_ids(t, "a<|end|>b", "97 300 98");
        check_ids(t, "aaaaaaa", "265 264 97");
        check_ids(t, "  \n x", "261 10 32 120");
        check_ids(t, "", "");
        size_t n;
        const int64_t id[] = {258, 259, 300, 262, 99999, -1};
        char *back = ts_tokenizer_decode(t, id, COUNT(id), &n);
        CHECK_TEXT(back, " lower\xC3\xA9");
        free(back);
    }
    ts_tokenizer_free(t);
    text_free(&bytes), text_free(&file);
}

static void check_refused(const scratch *folder, const char *name, const char *source, const char *want)
{
    err e = {0};
    ts_tokenizer *t = opened(folder, name, source, strlen(source), &e);
    const char *at = strstr(e.text, name);
    if (CHECK(!t))
        CHECK_TEXT(at ? at : e.text, want);
    ts_tokenizer_free(t);
}

static void check_refusals(const scratch *folder)
{
    check_refused(folder, "v.txt", "[UNK]\na\nb\na\n", "v.txt:4: the token \"a\" twice");
    check_refused(folder, "v.txt", "a\nb\n", "v.txt: the vocabulary lacks the token for unknown words, \"[UNK]\"");
    check_refused(folder, "t.json", "{}", "t.json:1:1: no object \"model\"");
    check_refused(folder, "t.json", "{\"model\":{\"type\":\"Morse\"}}",
                  "t.json:1:18 (/model/type): tokens of the kind \"Morse\" are not supported"
                  "\n  hint: supported are BPE, Unigram, WordLevel, WordPiece");
    check_refused(folder, "t.json", "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":-1}}}",
                  "t.json:1:43 (/model/vocab/a): a token's number is whole, at least 0 and below 16777216");
    check_refused(folder, "t.json",
                  "{\"added_tokens\":[{\"id\":9,\"content\":\"a\"}],\"model\":{\"type\":\"WordPiece\","
                  "\"vocab\":{\"[UNK]\":0,\"a\":1}}}",
                  "t.json:1:18 (/added_tokens/0): the added token \"a\" is number 9 here, but it or its number is "
                  "another in the vocabulary");
    check_refused(
        folder, "t.json", "{\"normalizer\":{\"type\":\"Rot13\"}}",
        "t.json:1:23 (/normalizer/type): normalizer \"Rot13\" is not supported"
        "\n  hint: supported are NFD, NFC, NFKD, NFKC, Lowercase, StripAccents, BertNormalizer, Strip, Prepend, "
        "Replace, Nmt, Precompiled, ByteLevel and Sequence");
    check_refused(
        folder, "t.json", "{\"pre_tokenizer\":{\"type\":\"Halve\"}}",
        "t.json:1:26 (/pre_tokenizer/type): pre_tokenizer \"Halve\" is not supported"
        "\n  hint: supported are BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation, Digits, ByteLevel, "
        "Metaspace, Split, CharDelimiterSplit, UnicodeScripts, FixedLength and Sequence");
    err e = {0};
    CHECK(!ts_tokenizer_open("/nowhere/vocab.txt", &e) && e.code == TS_FILES);
}

static void check_bytes(void)
{
    ts_tokenizer *t = ts_tokenizer_open("bytes", NULL);
    if (!CHECK(t && ts_tokenizer_size(t) == 256))
        return;
    char *got = encoded(t, "a\0\xFF", 3, true);
    CHECK_TEXT(got, "97 0 255");
    free(got);
    ts_tokenizer_free(t);
}

int main(void)
{
    scratch folder = scratch_make();
    const char *shared = getenv("SHARED");
    if (shared) {
        CHECK(reference(shared, "vocab.txt") == 300);
        CHECK(reference(shared, "tokenizer.json") == 300);
    } else
        printf("no SHARED: the reference vocabulary is left out\n");
    check_bpe(&folder);
    check_refusals(&folder);
    check_bytes();
    scratch_free(&folder);
    return check_done();
}
