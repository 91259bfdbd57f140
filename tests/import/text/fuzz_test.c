/* Random and damaged bytes as text, and damaged tokenizer.json and vocab.txt: ids stay in range, decoding stays in
 * bounds, a file is read or refused by one message. With an argument, so many rounds; with a second one, that
 * tokenizer for the texts. */
#include "graph/base/base.h"
#include "tests/check.h"
#include "tests/import/text/encoded.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3000, MOST_TEXT = 300 };
static uint64_t turn;

static size_t pick(uint64_t seed, size_t below)
{
    return (size_t)(random_bits(seed, turn++) % below);
}

/* Pieces that stress a tokenizer, between random bytes. */
static size_t random_text(uint64_t seed, char *s, size_t most)
{
    static const char *const piece[] = {"[CLS]",
                                        "[MASK",
                                        " ",
                                        "\n",
                                        "##",
                                        "a",
                                        "\xE4\xB8\xAD",
                                        "\xCC\x81",
                                        "\xC4\xB0",
                                        "\xF0\x9F\x99\x82",
                                        "\xEF\xBB\xBF",
                                        "'ll",
                                        "12",
                                        "\xE2\x80\xA8",
                                        "\xED\xA0\x80",
                                        "<|end|>",
                                        "\xC0\x80",
                                        "\t"};
    size_t n = 0;
    const size_t want = pick(seed, most - 16);
    while (n < want) {
        const char *p = piece[pick(seed, COUNT(piece))];
        if (pick(seed, 3))
            s[n++] = (char)pick(seed, 256);
        else
            memcpy(s + n, p, strlen(p)), n += strlen(p);
    }
    return n;
}

static void try_texts(const ts_tokenizer *t, uint64_t seed, int rounds)
{
    char s[MOST_TEXT + 16];
    for (int i = 0; i < rounds; i++) {
        const size_t n = random_text(seed + (uint64_t)i, s, MOST_TEXT);
        CHECK(encoded_well(t, s, n, i % 2));
    }
}

static const char wordpiece[] =
    "{\"added_tokens\":[{\"id\":1,\"content\":\"[CLS]\",\"special\":true,\"lstrip\":true,\"rstrip\":true},"
    "{\"id\":9,\"content\":\"[MASK\",\"single_word\":true}],\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":"
    "[{\"type\":\"NFKC\"},{\"type\":\"BertNormalizer\",\"lowercase\":true,\"strip_accents\":null}]},"
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"BertPreTokenizer\"},{\"type\":\"Digits\","
    "\"individual_digits\":true}]},\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":"
    "{\"id\":\"[CLS]\"}},{\"Sequence\":{\"id\":\"A\"}}]},\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"[UNK]\":0,"
    "\"[CLS]\":1,\"a\":2,\"##a\":3,\"##b\":4,\"\xE4\xB8\xAD\":5,\"1\":6,\"##2\":7,\"i\":8}}}";
static const char bpe[] =
    "{\"added_tokens\":[{\"id\":8,\"content\":\"<|end|>\"}],\"pre_tokenizer\":{\"type\":\"ByteLevel\"},"
    "\"model\":{\"type\":\"BPE\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"\\u0120\":3,\"\\u0120a\":4,"
    "\"aa\":5,\"l\":6,\"ll\":7},\"merges\":[\"a b\",\"\\u0120 a\",\"a a\",\"l l\"]}}";
static const char lines[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\n##b\n\xE4\xB8\xAD\n";

static ts_tokenizer *opened(const scratch *folder, const char *s, size_t n, err *e)
{
    const char *path = scratch_in(folder, "file");
    CHECK(file_save(path, s, n, NULL));
    return ts_tokenizer_open(path, e);
}

static void damage(const scratch *folder, const char *whole, int rounds)
{
    int ok = 0, bad = 0;
    const size_t n = strlen(whole);
    char *s = malloc(n);
    MUST(s);
    for (int i = 0; i < rounds; i++) {
        size_t length = n;
        memcpy(s, whole, n);
        for (size_t k = i ? 1 + pick((uint64_t)i, 3) : 0; k > 0; k--) {
            const size_t at = pick((uint64_t)i, length), some = 1 + pick((uint64_t)i, length - at);
            switch (pick((uint64_t)i, 4)) {
            case 0: s[at] = (char)pick((uint64_t)i, 256); break;
            case 1: s[at] = (char)(s[at] ^ (1 << pick((uint64_t)i, 8))); break;
            case 2: memmove(s + at, s + at + some, length - at - some), length -= some < length ? some : 0; break;
            default: length = at + 1; break;
            }
        }
        err e = {0};
        ts_tokenizer *t = opened(folder, s, length, &e);
        CHECK(t ? !err_is(&e) : e.code != TS_OK && e.code != TS_BUG && *e.text);
        t ? ok++ : bad++;
        if (t)
            try_texts(t, (uint64_t)i, 3);
        ts_tokenizer_free(t);
    }
    free(s);
    CHECK(ok > 0 && bad > 0);
    printf("%d files read, %d refused\n", ok, bad);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : ROUNDS;
    scratch folder = scratch_make();
    const char *const whole[] = {wordpiece, bpe, lines};
    for (int i = 0; i < COUNT(whole); i++) {
        err e = {0};
        ts_tokenizer *t = opened(&folder, whole[i], strlen(whole[i]), &e);
        if (!CHECK(t))
            printf("%s\n", e.text);
        else
            try_texts(t, 1, rounds);
        ts_tokenizer_free(t);
        damage(&folder, whole[i], rounds);
    }
    ts_tokenizer *t = argc > 2 ? ts_tokenizer_open(argv[2], NULL) : ts_tokenizer_open("bytes", NULL);
    if (CHECK(t))
        try_texts(t, 2, rounds);
    ts_tokenizer_free(t);
    scratch_free(&folder);
    return check_done();
}
