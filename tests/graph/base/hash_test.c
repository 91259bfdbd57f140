/* Hashes: SHA-256 against the standard's examples, fields that cannot run together, and the quick hash's spread. */
/* ctest: fast */
#include "graph/base/base.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static void sha(const char *s, size_t times, const char *want)
{
    hasher *h = hash_open();
    for (size_t i = 0; i < times; i++)
        hash_bytes(h, s, strlen(s));
    digest d = hash_close(h);
    char hex[65];
    digest_hex(&d, hex);
    CHECK_TEXT(hex, want);
}

/* FIPS 180-2, appendix B, and the empty message. */
static void test_sha(void)
{
    sha("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    sha("aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static digest of_texts(const char *a, const char *b)
{
    hasher *h = hash_open();
    hash_text(h, a);
    hash_text(h, b);
    return hash_close(h);
}

static void test_fields(void)
{
    digest x = of_texts("ab", "c"), y = of_texts("a", "bc"), z = of_texts("ab", "c"), w = of_texts("abc", "");
    CHECK(memcmp(&x, &y, sizeof x) != 0);
    CHECK(memcmp(&x, &w, sizeof x) != 0);
    CHECK(memcmp(&x, &z, sizeof x) == 0);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Each input bit must flip each output bit about half of the time, for lengths around the word size. */
static void test_avalanche(void)
{
    enum { TRIES = 400 };
    static const size_t lengths[] = {3, 7, 8, 9, 16, 21};
    for (int l = 0; l < COUNT(lengths); l++) {
        double worst = 0;
        for (size_t bit = 0; bit < 8 * lengths[l]; bit++) {
            int flips[64] = {0};
            for (int t = 0; t < TRIES; t++) {
                unsigned char in[32];
                for (size_t i = 0; i < sizeof in; i++)
                    in[i] = (unsigned char)random_bits((uint64_t)t, i);
                uint64_t a = quick_hash(in, lengths[l], 1);
                in[bit / 8] ^= (unsigned char)(1 << bit % 8);
                uint64_t diff = a ^ quick_hash(in, lengths[l], 1);
                for (int b = 0; b < 64; b++)
                    flips[b] += (int)(diff >> b & 1);
            }
            for (int b = 0; b < 64; b++) {
                double off = (double)abs(2 * flips[b] - TRIES) / TRIES;
                worst = off > worst ? off : worst;
            }
        }
        CHECK(worst < 0.3); /* six standard deviations of a fair coin */
    }
}

static void test_quick(void)
{
    enum { N = 200000 };
    static uint64_t h[N];
    for (int i = 0; i < N; i++) { /* keys that differ little: small pairs of numbers */
        uint32_t key[2] = {(uint32_t)(i % 500), (uint32_t)(i / 500)};
        h[i] = quick_hash(key, sizeof key, 0);
    }
    qsort(h, N, sizeof h[0], by_value);
    int same = 0, low[64] = {0};
    for (int i = 0; i < N; i++) {
        same += i > 0 && h[i] == h[i - 1];
        low[h[i] & 63]++;
    }
    CHECK(same == 0);
    bool even = true;
    for (int i = 0; i < 64; i++)
        even = even && low[i] > N / 64 * 9 / 10 && low[i] < N / 64 * 11 / 10;
    CHECK(even); /* tables take the low bits */
    CHECK(quick_hash("a", 1, 0) != quick_hash("a", 1, 1));
    CHECK(quick_hash("a\0", 2, 0) != quick_hash("a", 1, 0));
    CHECK(quick_hash("", 0, 0) == quick_hash("x", 0, 0));
}

int main(void)
{
    test_sha();
    test_fields();
    test_avalanche();
    test_quick();
    return check_done();
}
