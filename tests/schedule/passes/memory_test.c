/* Where values lie in the arena: at whole lines of the machine's cache, and whole vectors. */
/* ctest: fast */
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>

static void test_lines(const char *words, int64_t align)
{
    planned b;
    int values = 0;
    if (!make_plan(&b, &(setting){network, words, "avx2", NULL, 2}))
        return;
    for (int i = 0; i < b.p->g->n; i++) {
        const buffer *h = &b.p->buffer[i];
        if (h->where == IN_ARENA && (values++, !CHECK(h->offset % align == 0 && h->bytes % align == 0)))
            printf("  %s: %lld bytes at %lld\n", words, (long long)h->bytes, (long long)h->offset);
    }
    CHECK(values > 1 && b.p->on->align == align);
    free_plan(&b);
}

int main(void)
{
    test_lines("core:2 isa:avx2", 64);
    test_lines("core:2 isa:avx2 line:128", 128);
    test_lines("core:2 isa:avx2 line:16", 32);
    return check_done();
}
