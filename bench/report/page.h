/* page.h - the growing text of a report, and the only door through which foreign text enters it. Names come
 * from model and schema files and are hostile until escaped: page_add takes our own text and numbers only,
 * everything else goes through page_text, page_clip or page_code (HTML) or page_embed (JSON inside a script
 * element). The text belongs to whoever made the page; page_free or page_take ends it. Running out of memory aborts. */
#ifndef TS_REPORT_PAGE_H
#define TS_REPORT_PAGE_H
#include <stddef.h>

typedef struct page {
    char *s; /* terminated once anything was added */
    size_t len, cap;
} page;
void page_add(page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void page_bytes(page *p, const char *s, size_t n);
const char *page_str(const page *p); /* "" when empty */
char *page_take(page *p);            /* malloc'ed, never NULL; p is empty afterwards */
void page_free(page *p);

/* HTML, good for elements and quoted attributes. Bytes that are not UTF-8, control characters and marks that turn or
 * hide text are shown as \x1b or \u{202e}. s may be NULL. */
void page_text(page *p, const char *s);
void page_name(page *p, const char *s); /* a name in running text: at most 120 columns, may break after . / _ : */
void page_clip(page *p, const char *s, int columns); /* at most so many characters, the last one "…" if cut */
void page_code(page *p, const char *s);              /* keeps line breaks and tabs */
void page_plain(page *p, const char *s);             /* the same without HTML's entities: for text that is no HTML */
/* A JSON text as the content of a script element: same values, no white space, no '<', nothing invisible. */
void page_embed(page *p, const char *json);

/* Numbers in the words of a person, three significant digits; "–" for a missing one (NAN). */
typedef struct word {
    char s[48];
} word;
word word_time(double ns);                  /* 71.3 ms */
word word_tick(double v, const char *unit); /* for scales: 20 ms, 0 */
word word_gain(double ns);                  /* −3.10 ms, +0.20 ms */
word word_bytes(double bytes);              /* 2.13 MiB */
word word_share(double share);              /* 89 %, 0.9 % */
word word_ratio(double ratio);              /* 5.65×, 1.012× */
word word_count(double n);                  /* 1 234 567 */
word word_percent(double share);            /* 96.9 %: tenths matter */
word word_real(double v);                   /* four significant digits: 0.6741 */
word word_number(double v);                 /* 3 significant digits, 1.2e-07 for the very small */
#endif
