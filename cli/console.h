/* console.h - everything a person reads in a terminal. Data goes to standard output, messages and progress to standard
 * error. Colours only where the stream is a terminal (NO_COLOR, TERM=dumb and --color decide first). Whatever may hold
 * names from files is printed escaped: control, bidirectional and invalid bytes appear as \xNN. A console is a plain
 * value, which a progress borrows; nothing else is kept. */
#pragma once
#include "tessera.h"

#include <stdio.h>

typedef enum tone { PLAIN, BOLD, FAINT, GOOD, BAD, CAUTION, EVEN } tone;

typedef struct console {
    bool quiet; /* no notes, no progress */
    bool json;  /* standard output carries one JSON object and nothing else */
    bool color_out, color_err;
    bool live; /* standard error is a terminal: progress may rewrite its line */
} console;

/* color: "auto", "always", "never", or NULL for auto. */
console console_make(const char *color, bool quiet, bool json);
const char *console_on(bool color, tone t); /* escape sequence, or "" without colour */
const char *console_off(bool color);

int console_width(void); /* columns of the terminal on standard output; 0 where it is none */

typedef struct paper { /* what is printed on; a plain value */
    FILE *f;
    bool color;
    int width;                             /* columns; 0: any */
    void (*quote)(FILE *f, const char *s); /* how values are escaped; NULL: put_safe */
} paper;
paper console_paper(const console *c);            /* standard output */
void put_word(const paper *on, const char *word); /* in the colour that it has: VALID, FASTER */

void put_plain(FILE *f, const char *s); /* as it is */
void put_safe(FILE *f, const char *s);  /* without line breaks: they are escaped too */
int safe_width(const char *s);          /* columns that put_safe uses: wide characters two, combining ones none */
/* Where s, escaped, is to be cut so that it takes so many columns, in bytes. */
size_t safe_fitting(const char *s, int width);

void console_note(const console *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void console_warn(const console *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "error: ..." with its hints on standard error, and with json the same as an object on standard output. */
void console_error(const console *c, const ts_error *e);

typedef struct progress {
    const console *console;
    double begun, shown; /* monotonic seconds; shown: of the last line, 0 before any */
    bool open;           /* a live line stands unfinished */
} progress;
progress progress_open(const console *c);
/* Fits ts_options.progress with a progress as user. total <= 0: unknown. */
void progress_step(void *user, const char *what, int done, int total);
void progress_close(progress *p); /* removes the live line */
