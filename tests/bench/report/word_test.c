/* Numbers as people read them: three digits, a unit, no line break between them. */
/* ctest: fast */
#include "bench/report/word.h"
#include "tests/check.h"

#include <math.h>

int main(void)
{
    CHECK_TEXT(word_time(71.34e6).s, "71.3\u00a0ms");
    CHECK_TEXT(word_time(999.6e3).s, "1.00\u00a0ms");
    CHECK_TEXT(word_time(403.4).s, "403\u00a0ns");
    CHECK_TEXT(word_time((double)NAN).s, "–");
    CHECK_TEXT(word_gain(-3.1e6).s, "−3.10\u00a0ms");
    CHECK_TEXT(word_bytes(2.125 * 1048576).s, "2.12\u00a0MiB");
    CHECK_TEXT(word_bytes(1023.9 * 1024).s, "1.00\u00a0MiB");
    CHECK_TEXT(word_share(0.01).s, "1\u00a0%");
    CHECK_TEXT(word_share(-0.00001).s, "0.00\u00a0%");
    CHECK_TEXT(word_share(0.894).s, "89\u00a0%");
    CHECK_TEXT(word_ratio(1.0124).s, "1.012×");
    CHECK_TEXT(word_ratio(5.649).s, "5.65×");
    CHECK_TEXT(word_count(1234567).s, "1\u00a0234\u00a0567");
    CHECK_TEXT(word_number(8.7e-7).s, "8.7e-07");
    return check_done();
}
