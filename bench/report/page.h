/* page.h - what a report says, as data, and the texts of bench/report/page that say it. A view is a tree of JSON made
 * from a report: it borrows the report's names, which may be foreign, and is its caller's to delete. A text is filled
 * in from it by form.h, with these values:
 *   {path}  escaped; a number as its key's ending says (word_member), a missing one "–"
 *   {path:time}  a number as word_time and the others of word.h; {path:%.1f} as printf; {path:name}, {path:code}: as
 *           html_name and html_code; {path:.40}: at most so many characters
 *   {path!}  our own HTML     {path#}  how many there are     {path&}  a contestant     {path,}  some, by commas
 *   {, and }  between items of a list     {+file}  another text, {+plain file}: without marks
 *   {path~chart}  what C draws, of a table in page.c */
#pragma once
#include "bench/report/form.h"
#include "bench/report/parts.h"

typedef enum style { IN_HTML, IN_MARKDOWN, IN_CSV, PLAIN } style; /* IN_CSV: numbers with all their digits */
void page_put(text *t, const report *r, style s, const form_place *at, const char *name);
void page_form(text *t, const report *r, style s, const form_place *at, const char *form);

/* Members of a view. Texts are borrowed, lists get references to at most so many items of another list: of objects, or
 * of texts. */
void view_text(cJSON *o, const char *key, const char *s);
void view_who(cJSON *o, const char *key, const report *r, int c, const char *s); /* s: where c is -1; key NULL: item */
void view_some(cJSON *o, const char *key, const cJSON *list, int most, bool of_texts);
void view_ref(cJSON *o, const char *key, const cJSON *object); /* nothing, unless it is one that has members */
cJSON *view_make(const report *r);                             /* what all sections may say */
void view_pairing(cJSON *o, const report *r, const pairing *c);
