/* html.h - the one place that writes tags, and the only door through which foreign text enters a page. Names come from
 * model and schema files and are hostile until escaped: html_add escapes what it is given unless it is said to be HTML,
 * text_add takes our own text and numbers only, and html_embed JSON inside a script element. All of them add to the
 * caller's text and keep nothing. */
#pragma once
#include "graph/base/base.h"

/* HTML, good for elements and quoted attributes. Bytes that are not UTF-8, control characters and marks that turn or
 * hide text are shown as \x1b or \u{202e}. s may be NULL. */
void html_text(text *t, const char *s);
/* By a form: tags with classes behind dots, values of attributes without their quotes, or in single ones, tables, and
 * printf's conversions, "<p.soft.small title='%s'>%d of %s</p>". Of texts, %s is escaped as by html_text, %.40s cut by
 * html_clip, %1s a name as by html_name, %-s HTML already. A table is "<sheet.class>heads</sheet>", rows and "<end/>";
 * a row has its cells between bars, of numbers behind #: "<row>%s|#%d|#%s ms</row>"; heads, if any, are like it. A line
 * that begins with four spaces goes on with the one before it, with two, or six, as another word. */
void html_add(text *t, const char *form, ...) __attribute__((format(printf, 2, 3)));
void html_expand(text *t, const char *form); /* its tags alone: what is to be filled in by form.h */
void html_name(text *t, const char *s);      /* a name in running text: at most 120 columns, may break after . / _ : */
void html_clip(text *t, const char *s, int columns);  /* at most so many characters, the last one "…" if cut */
const char *html_skip(const char *s, int characters); /* the place so many characters on, or the end */
void html_code(text *t, const char *s);               /* keeps line breaks and tabs */
void html_plain(text *t, const char *s);              /* the same without HTML's entities: for text that is no HTML */
/* A JSON text as the content of a script element: same values, no white space, no '<', nothing invisible. */
void html_embed(text *t, const char *json);
