/* Arena: zeroed, aligned, apart from each other, all sizes, freed at once (leaks show under the sanitizers). */
#include "graph/base/base.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static bool is_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

static void taken(void) /* what one arena has becomes another's */
{
    arena mem = {0}, b = {0}, none = {0};
    arena_get(&mem, 100);
    for (int i = 0; i < 1000; i++)
        arena_get(&b, 16);
    const char *label = arena_string(&b, "kept");
    const size_t before = arena_bytes(&mem) + arena_bytes(&b);
    arena_take(&mem, &none), arena_take(&mem, &b);
    CHECK(arena_bytes(&mem) == before && arena_bytes(&b) == 0);
    memset(arena_get(&mem, 5000), 1, 5000);
    CHECK_TEXT(label, "kept");
    arena_take(&none, &mem);
    CHECK(arena_bytes(&mem) == 0 && arena_bytes(&none) >= before + 5000);
    arena_free(&none);
}

static void grown(void) /* what is appended stays, what is new is zero, in an arena and on the heap */
{
    enum { MANY = 1000 };
    arena mem = {0};
    int *a = NULL, *h = NULL, cap_a = 0, cap_h = 0;
    bool zero = true, kept = true;
    for (int i = 0; i < MANY; i++) {
        a = arena_grown(&mem, a, i, &cap_a, sizeof *a);
        h = heap_grown(h, i, &cap_h, sizeof *h);
        zero = zero && cap_a > i && cap_h > i && !a[i] && !h[i] && !a[cap_a - 1] && !h[cap_h - 1];
        a[i] = h[i] = i + 1;
    }
    for (int i = 0; i < MANY; i++)
        kept = kept && a[i] == i + 1 && h[i] == i + 1;
    CHECK(zero);
    CHECK(kept);
    CHECK(cap_a < 3 * MANY && arena_bytes(&mem) < 8 * MANY * sizeof *a); /* it doubles */
    arena_free(&mem);
    free(h);
}

int main(void)
{
    arena mem = {0};
    CHECK(arena_bytes(&mem) == 0);
    static const size_t sizes[] = {0, 1, 15, 16, 17, 4096, 100000, 3 << 20, 8};
    unsigned char *at[COUNT(sizes) * 40];
    int n = 0;
    bool zero = true, aligned = true, kept = true;
    for (int round = 0; round < 40; round++)
        for (int i = 0; i < COUNT(sizes); i++) {
            unsigned char *p = at[n] = arena_get(&mem, sizes[i]);
            aligned = aligned && (uintptr_t)p % 16 == 0;
            zero = zero && is_zero(p, sizes[i]);
            memset(p, n++ % 255 + 1, sizes[i]);
        }
    for (int k = 0; k < n; k++)
        for (size_t i = 0, size = sizes[k % COUNT(sizes)]; i < size; i++)
            kept = kept && at[k][i] == k % 255 + 1;
    CHECK(zero);
    CHECK(aligned);
    CHECK(kept); /* nobody wrote into a neighbour */
    size_t before = arena_bytes(&mem);
    CHECK(before >= 40 * (3 << 20));

    CHECK_TEXT(arena_string(&mem, "label"), "label");
    CHECK_TEXT(arena_format(&mem, "%s %d", "x", 7), "x 7");
    char *large = arena_format(&mem, "%*s", 70000, "end");
    CHECK(strlen(large) == 70000);
    int64_t *v = arena_array(&mem, 100, sizeof *v);
    v[99] = 1;
    CHECK(arena_bytes(&mem) >= before + 70000 + 800);
    arena_free(&mem);
    CHECK(arena_bytes(&mem) == 0);
    CHECK(arena_get(&mem, 8) != NULL); /* usable again */
    arena_free(&mem);
    taken();
    grown();
    return check_done();
}
