/* run_test.c - docs/bench.md, "How it measures" and "Statistics", has the numbers that a race takes where it is told
 * none. */
/* ctest: fast */
#include "bench/bench.h"
#include "graph/base/base.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the page has behind `mark` is `number`. */
static void says(const char *page, const char *mark, double number)
{
    const char *at = strstr(page, mark);
    double said = 0;
    if (!CHECK(at && sscanf(at + strlen(mark), "%lg", &said) == 1 && said == number))
        printf("docs/bench.md: \"%s%g\" expected, got %g\n", mark, number, said);
}

int main(void)
{
    const char *source = getenv("SOURCE");
    char where[500];
    text page = {0};
    snprintf(where, sizeof where, "%s/docs/bench.md", source ? source : ".");
    CHECK(file_read(where, 1 << 20, &page, &(err){0}));
    const char *s = text_str(&page);
    says(s, "(`--launches`, ", bench_usual.launches);
    says(s, "`--min-time` (", bench_usual.min_time);
    says(s, "s over all launches, and at least ", BENCH_SAMPLES);
    says(s, "Contestants so slow that ", BENCH_SAMPLES);
    says(s, "(`--threshold`, ", 100 * bench_usual.threshold);
    says(s, "r is at least the threshold (", 100 * bench_usual.threshold);
    text_free(&page);
    return check_done();
}
