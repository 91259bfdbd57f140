/* cell.h - text for columns on a terminal: names from files made harmless, widths as seen, quantities in
 * three digits. Texts made are the caller's to free, quantities are plain values, and nothing is kept. */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H
#include <stddef.h>
#include <stdio.h>

/* Control, bidirectional and invalid bytes as \xNN; at most `width` columns (0: any), cut with an ellipsis.
 * free() it. */
char *cell_text(const char *s, int width);
int cell_width(const char *s); /* columns that valid text takes: wide characters two, combining ones none */
/* s and blanks up to `width` columns; right: blanks first. */
void cell_put(FILE *f, const char *s, int width, int right);

typedef struct quantity {
    char s[32];
} quantity;
quantity cell_time(double ns);     /* "71.3 ms"; "-" when not finite */
quantity cell_bytes(double bytes); /* "486 MiB" */
quantity cell_number(double v);    /* three significant digits, never in exponents between 0.001 and 1e6 */
quantity cell_share(double v);     /* "89 %" */
#endif
