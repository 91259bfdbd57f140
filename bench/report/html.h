/* html.h - the only door through which foreign text enters a page. Names come from model and schema files and are
 * hostile until escaped: text_add takes our own text and numbers only, everything else goes through html_text,
 * html_clip or html_code, or html_embed (JSON inside a script element). All of them add to the caller's text and keep
 * nothing. */
#ifndef TS_REPORT_HTML_H
#define TS_REPORT_HTML_H
#include "graph/base/base.h"

/* HTML, good for elements and quoted attributes. Bytes that are not UTF-8, control characters and marks that turn or
 * hide text are shown as \x1b or \u{202e}. s may be NULL. */
void html_text(text *t, const char *s);
void html_name(text *t, const char *s); /* a name in running text: at most 120 columns, may break after . / _ : */
void html_clip(text *t, const char *s, int columns);  /* at most so many characters, the last one "…" if cut */
const char *html_skip(const char *s, int characters); /* the place so many characters on, or the end */
void html_code(text *t, const char *s);               /* keeps line breaks and tabs */
void html_plain(text *t, const char *s);              /* the same without HTML's entities: for text that is no HTML */
/* A JSON text as the content of a script element: same values, no white space, no '<', nothing invisible. */
void html_embed(text *t, const char *json);
#endif
