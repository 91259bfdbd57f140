/* word.h - numbers in the words of a person, three significant digits; "–" for a missing one (NAN).
 * A word is a small value that holds its text: nothing to free. */
#pragma once

typedef struct word {
    char s[48];
} word;
word word_time(double ns);                  /* 71.3 ms */
word word_tick(double v, const char *unit); /* for scales: 20 ms, 0 */
word word_gain(double ns);                  /* −3.10 ms, +0.20 ms */
word word_bytes(double bytes);              /* 2.13 MiB */
word word_part(double share);               /* of a whole that losses make smaller: "all" from 100 % on */
word word_share(double share);              /* 89 %, 0.9 % */
word word_ratio(double ratio);              /* 5.65×, 1.012× */
word word_count(double n);                  /* 1 234 567 */
word word_percent(double share);            /* 96.9 %: tenths matter */
word word_real(double v);                   /* four significant digits: 0.6741 */
word word_number(double v);                 /* 3 significant digits, 1.2e-07 for the very small */
