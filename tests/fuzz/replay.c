/* replay.c - the main of fuzz targets in the suite: every file of the target's corpus, and copies of it with a few
 * bytes flipped, cut, doubled or replaced, or changed by the target's own mutator, the same ones each time. With
 * arguments, these files as they are. */
#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 100, DAMAGE = 4, MOST = 1 << 24, ROOM = 1 << 12 };
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed);

static size_t pick(uint64_t seed, uint64_t *turn, size_t below)
{
    return below ? (size_t)(random_bits(seed, (*turn)++) % below) : 0;
}

static void damage(uint64_t seed, text *t)
{
    uint64_t turn = 0;
    for (size_t n = 1 + pick(seed, &turn, DAMAGE); n > 0 && t->length > 0; n--) {
        const size_t at = pick(seed, &turn, t->length), rest = t->length - at;
        switch (pick(seed, &turn, 4)) {
        case 0: t->s[at] ^= (char)(1 << pick(seed, &turn, 8)); break;
        case 1: t->s[at] = (char)pick(seed, &turn, 256); break;
        case 2: t->length = at; break;
        default: {
            text copy = {0}; /* a piece of the file once more, at its end */
            text_bytes(&copy, t->s + at, pick(seed, &turn, rest < 64 ? rest : 64));
            text_bytes(t, text_str(&copy), copy.length);
            text_free(&copy);
        }
        }
    }
}

/* A copy with a few changes, by the target's mutator or byte by byte. */
static void run_copy(const text *whole, unsigned seed)
{
    text copy = {0};
    text_bytes(&copy, text_str(whole), whole->length);
    if (seed % 2 && LLVMFuzzerCustomMutator && whole->length) {
        static const char room[ROOM];
        text_bytes(&copy, room, sizeof room);
        copy.length = whole->length;
        for (unsigned i = 0; i <= seed % DAMAGE; i++)
            copy.length = LLVMFuzzerCustomMutator((uint8_t *)copy.s, copy.length, whole->length + ROOM,
                                                  seed * DAMAGE + i);
    } else
        damage(seed, &copy);
    LLVMFuzzerTestOneInput((const uint8_t *)text_str(&copy), copy.length);
    text_free(&copy);
}

static void run(const char *path, int copies)
{
    text whole = {0};
    err e = {0};
    if (!CHECK(file_read(path, MOST, &whole, &e))) {
        fprintf(stderr, "  %s\n", e.text);
        return;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)text_str(&whole), whole.length);
    for (int i = 0; i < copies; i++)
        run_copy(&whole, (unsigned)i);
    text_free(&whole);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(argv[i], 0);
    if (argc > 1)
        return check_done();
    char name[128], folder[512], path[1024]; /* of fuzz-NAME-test */
    const char *source = getenv("SOURCE");
    snprintf(name, sizeof name, "%s", basename(argv[0]));
    char *end = strrchr(name, '-');
    MUST(source && end && !strncmp(name, "fuzz-", 5));
    *end = 0;
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", source, name + 5);
    DIR *d = opendir(folder);
    CHECK(d != NULL);
    for (const struct dirent *f; d && (f = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        if (f->d_name[0] != '.')
            run(path, COPIES);
    }
    if (d)
        closedir(d);
    return check_done();
}
