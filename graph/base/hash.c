/* hash.c - SHA-256 where a collision would be a wrong answer (content keys), a quick hash where it costs a comparison.
 */
#include "graph/base/base.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct hasher {
    EVP_MD_CTX *evp;
};

hasher *hash_open(void)
{
    hasher *h = malloc(sizeof *h);
    MUST(h != NULL);
    h->evp = EVP_MD_CTX_new();
    MUST(h->evp != NULL && EVP_DigestInit_ex(h->evp, EVP_sha256(), NULL) == 1);
    return h;
}

void hash_bytes(hasher *h, const void *p, size_t n)
{
    MUST(n == 0 || EVP_DigestUpdate(h->evp, p, n) == 1);
}

void hash_text(hasher *h, const char *s)
{
    size_t n = strlen(s);
    unsigned char length[8]; /* low byte first, so that keys do not depend on the machine */
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)n >> 8 * i);
    hash_bytes(h, length, sizeof length);
    hash_bytes(h, s, n);
}

digest hash_close(hasher *h)
{
    digest d;
    unsigned n = 0;
    MUST(EVP_DigestFinal_ex(h->evp, d.b, &n) == 1 && n == sizeof d.b);
    EVP_MD_CTX_free(h->evp);
    free(h);
    return d;
}

void digest_hex(const digest *d, char out[65])
{
    static const char hex[] = "0123456789abcdef";
    for (int i = 0; i < 32; i++) {
        out[2 * i] = hex[d->b[i] >> 4];
        out[2 * i + 1] = hex[d->b[i] & 15];
    }
    out[64] = 0;
}

/* Each step is invertible, so two inputs of one length collide only through the multiplications' loss of order, never
 * by a word being swallowed. The multiplier carries low bits up, the shift brings high bits back down. */
static uint64_t stir(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    return h ^ (h >> 32);
}

uint64_t quick_hash(const void *p, size_t n, uint64_t seed)
{
    const unsigned char *at = p;
    uint64_t h = stir(seed, (uint64_t)n), word;
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = stir(h, word);
    }
    word = 0;
    if (n > 0)
        memcpy(&word, at, n);
    return stir(stir(h, word), 0);
}
