/* Schema files and loops, damaged and invented: each gives a schema or nest that holds, or a message with its place;
 * nothing else. */
#include "schedule/nest/nest.h"
#include "schedule/schema/schema.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMAS = 6000, NESTS = 20000 };
typedef struct dice {
    uint64_t seed, at;
} dice;

static int roll(dice *d, int n) /* 0 ... n - 1 */
{
    return (int)(random_bits(d->seed, d->at++) % (uint64_t)n);
}

/* ---- files ---- */
static const char full[] =
    "{\"format\":\"tiling/1\",\"name\":\"x\",\"//\":[1,-2.5e3,null,true,{}],\"extends\":\"panels\",\"target\":\"c\",\n"
    "\"override\":{\"/rules/0/loops\":[\"m n "
    "k\"],\"/rules/1/match/dims/m\":\"128\"},\"rules\":[{\"name\":\"r\\u00e9\\n\",\n"
    "\"match\":{\"op\":[\"matmul\",\"conv2d\"],\"name\":\"*\",\"dims\":{\"n\":\">=7\",\"k\":\"1..2\",\"m\":\"%48==0\","
    "\"b\":3},\"dtype\":\"f32\"},\n"
    "\"loops\":[\"n/48@core m/8 k\",\"guess\"],\"layout\":{\"b\":\"n/48 k "
    "n\"},\"fuse\":\"auto\",\"compute\":\"f32\",\"place\":\"cpu\","
    "\"optional\":true}]}";

static void damage(dice *d, text *t)
{
    static const char bytes[] = "{}[]\",:\\/~0129-.eu \n\t\x01\xff\xc3nmk@+*%=<>";
    for (int i = 1 + roll(d, 4); i > 0 && t->length; i--) {
        const size_t from = (size_t)roll(d, (int)t->length), n = (size_t)roll(d, 12), most = t->length - from,
                     cut = n < most ? n : most;
        switch (roll(d, 4)) {
        case 0: t->s[from] = bytes[roll(d, sizeof bytes - 1)]; break;
        case 1: memmove(t->s + from, t->s + from + cut, most - cut + 1), t->length -= cut; break;
        case 2: t->length = from, t->s[from] = 0; break;
        default: { /* a piece of it once more */
            char piece[12];
            memcpy(piece, t->s + from, cut);
            text_bytes(t, piece, cut);
        }
        }
    }
}

static void test_files(void)
{
    scratch folder = scratch_make();
    int read = 0, refused = 0;
    const char *path = scratch_in(&folder, "x.json");
    for (int i = 0; i < SCHEMAS; i++) {
        dice d = {1, (uint64_t)i << 16};
        arena mem = {0};
        text t = {0};
        schema out;
        err e = {0};
        text_add(&t, "%s", full);
        if (i)
            damage(&d, &t);
        remove(path); /* neither replaced nor synced as file_save does: too slow for thousands */
        FILE *f = fopen(path, "w");
        MUST(f && fwrite(t.s, 1, t.length, f) == t.length && !fclose(f));
        const bool ok = schema_load(&mem, path, &(schema_use){.by = "c", .kind = "cpu"}, &out, &e);
        read += ok, refused += !ok;
        if (!ok && !CHECK(strstr(e.text, "x.json:") || strstr(e.text, "(built in):")))
            printf("  no place: %s\n", e.text);
        CHECK(ok == !err_is(&e) && (!i || e.code != TS_BUG));
        text_free(&t);
        arena_free(&mem);
    }
    CHECK(read > 20 && refused > SCHEMAS / 2);
    scratch_free(&folder);
}

/* ---- loops ---- */
static void invent(dice *d, text *t)
{
    static const char *const axis[] = {"m", "n", "k", "m", "n", "k", "q", "mn", "", "b"};
    static const char *const how[] = {"", "", "", "", "@core", "@unroll", "@vector", "@", "@x", "@serial"};
    static const char *const more[] = {"",        "",   "",  "",   "",  "",  "+a", "+b@l2",
                                       "+b@l1*3", "+c", "+", "*2", ";", "/", "  "};
    static const int step[] = {1, 2, 3, 7, 8, 16, 24, 48, 100, 1000000000};
    for (int i = roll(d, 6); i > 0; i--) { /* mostly what may be legal */
        text_add(t, "%s", axis[roll(d, 30) ? roll(d, 6) : roll(d, COUNT(axis))]);
        if (roll(d, 20))
            text_add(t, "/%d", step[roll(d, COUNT(step))]);
        text_add(t, "%s%s ", how[roll(d, 30) ? roll(d, 5) : roll(d, COUNT(how))],
                 more[roll(d, 8) ? 0 : roll(d, COUNT(more))]);
    }
    if (roll(d, 10))
        text_add(t, "%s", roll(d, 2) ? "k m@unroll n@vector" : "m n k");
}

static void test_loops(void)
{
    planned b;
    int read = 0, refused = 0;
    if (!make_plan(&b, &(setting){small_product, two_cores, "avx512", NULL, 2}))
        return;
    kernel *k = b.p->kernel;
    for (int i = 0; i < NESTS; i++) {
        dice d = {2, (uint64_t)i << 16};
        text t = {0}, once = {0}, twice = {0};
        err e = {0};
        invent(&d, &t);
        const bool ok = nest_parse(b.p->on, k, text_str(&t), &e);
        read += ok, refused += !ok;
        CHECK(ok == !err_is(&e));
        if (ok) {
            nest_print(&once, k, true);
            if (!CHECK(nest_parse(b.p->on, k, text_str(&once), &e)))
                printf("  %s, printed as %s: %s\n", text_str(&t), text_str(&once), e.text);
            nest_print(&twice, k, true);
            CHECK_TEXT(text_str(&twice), text_str(&once));
            for (int a = 0; a < 3; a++)
                CHECK(nest_left(k, k->stage, a, k->stage->nest.n - 1) == 1);
        }
        text_free(&t), text_free(&once), text_free(&twice);
    }
    CHECK(read > NESTS / 10 && refused > NESTS / 4);
    printf("%d nests of %d are legal\n", read, NESTS);
    free_plan(&b);
}

int main(void)
{
    test_files();
    test_loops();
    return check_done();
}
