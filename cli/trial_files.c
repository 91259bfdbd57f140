/* trial_files.c - files of values and derivatives as ADBench writes and reads them. */
#include "cli/trial_parts.h"

#include "graph/base/err.h"
#include "cli/outfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_values(const trial *t, FILE *f)
{
    for (int i = 0; i < t->p.n_value; i++)
        for (int64_t j = 0; j < ts_array_count(&t->got[i]); j++)
            fprintf(f, "%.17g\n", ts_array_at(&t->got[i], j));
}

/* Numbers of slope k in the row of the derivative that belongs to element j of its value */
static int64_t width_of(const trial *t, int k)
{
    const slope *s = &t->p.slope[k];
    const ts_array *x = &t->p.given[s->given].value;
    return ts_array_count(x) / (s->by_rows ? x->dim[0] : 1);
}

/* The column of each given array's first element, and their number behind the last; those without slopes have none. */
static void columns(const trial *t, int64_t *first)
{
    first[0] = 0;
    for (int i = 0; i < t->p.n_given; i++) {
        bool moves = false;
        for (int k = 0; k < t->p.n_slope; k++)
            moves = moves || t->p.slope[k].given == i;
        first[i + 1] = first[i] + (moves ? ts_array_count(&t->p.given[i].value) : 0);
    }
}

typedef enum part { STARTS, COLUMNS, NUMBERS } part;

typedef struct place { /* in the derivative: an element of a value, which row of that it lies in, its first column */
    int64_t element, row, first;
} place;

/* What slope k has there */
static void print_part(const trial *t, int k, part what, place at, FILE *f)
{
    const slope *s = &t->p.slope[k];
    const int64_t width = width_of(t, k), *which = s->row < 0 ? NULL : t->p.given[s->row].value.data;
    if (s->by_rows)
        at.first += (which ? which[at.row] : at.row) * width;
    for (int64_t i = 0; what == COLUMNS && i < width; i++)
        fprintf(f, "%lld\n", (long long)(at.first + i));
    for (int64_t i = 0; what == NUMBERS && i < width; i++)
        fprintf(f, "%.17g\n", ts_array_at(&t->got[t->p.n_value + k], at.element * width + i));
}

/* One part of all rows; where rows end, after each. The numbers of a row are those of all slopes of its value. */
static void print_rows(const trial *t, part what, FILE *f)
{
    int64_t at = 0, first[OBJECTIVE_MOST + 1];
    columns(t, first);
    for (int v = 0; v < t->p.n_value; v++) {
        const ts_array *a = &t->got[v];
        const int64_t count = ts_array_count(a), inner = a->rank && count ? count / a->dim[0] : 1;
        for (int64_t j = 0; j < count; j++) {
            for (int k = 0; k < t->p.n_slope; k++) {
                if (t->p.slope[k].value != v)
                    continue;
                at += width_of(t, k);
                print_part(t, k, what, (place){j, j / inner, first[t->p.slope[k].given]}, f);
            }
            if (what == STARTS)
                fprintf(f, "%lld\n", (long long)at);
        }
    }
}

/* Dense: row by row. Sparse: the extents, then lists behind their lengths: where rows begin, columns; then numbers. */
static void print_slopes(const trial *t, FILE *f)
{
    int64_t rows = 0, all = 0, first[OBJECTIVE_MOST + 1];
    if (t->p.of->sparse) {
        columns(t, first);
        for (int v = 0; v < t->p.n_value; v++)
            rows += ts_array_count(&t->got[v]);
        for (int k = 0; k < t->p.n_slope; k++)
            all += ts_array_count(&t->got[t->p.n_value + k]);
        fprintf(f, "%lld %lld\n%lld\n0\n", (long long)rows, (long long)first[t->p.n_given], (long long)rows + 1);
        print_rows(t, STARTS, f);
        fprintf(f, "%lld\n", (long long)all);
        print_rows(t, COLUMNS, f);
    }
    print_rows(t, NUMBERS, f);
}

typedef struct words { /* what was printed; owned */
    char *text;
    size_t size;
} words;

static bool print(const trial *t, void (*way)(const trial *, FILE *), words *out, ts_error *e)
{
    FILE *f = open_memstream(&out->text, &out->size);
    if (f)
        way(t, f);
    return (f && !fclose(f)) || err_memory(e, out->size, "the numbers of %s", t->p.file);
}

bool trial_compare(trial *t, const char *file, ts_error *e)
{
    words ours = {0};
    char *text = outfile_text(file, TRIAL_FILE, e), *at = text;
    bool ok = text && print(t, print_slopes, &ours, e);
    t->reference = 0;
    for (char *own = ours.text, *end, *own_end; ok; at = end, own = own_end) {
        const double want = strtod(at, &end), got = strtod(own, &own_end);
        if (own_end == own && !at[strspn(at, " \t\r\n")])
            break;
        if (end == at || own_end == own) {
            err_set(e, TS_BAD_INPUT, "--reference %s: %s", file,
                    end == at ? "it has fewer numbers than the derivative" : "it has more numbers than the derivative");
            ok = err_hint(e, "-o FOLDER writes what is expected, in ADBench's form");
        } else {
            const double d = trial_apart(want, got);
            t->reference = fmax(t->reference, d);
        }
    }
    return free(text), free(ours.text), ok;
}

static void print_times(const trial *t, FILE *f)
{
    fprintf(f, "%.17g %.17g\n", t->time[0], t->time[1]);
}

bool trial_write(trial *t, const char *folder, ts_error *e)
{
    static const struct {
        const char *name;
        void (*way)(const trial *, FILE *);
    } file[] = {{"F", print_values}, {"J", print_slopes}, {"times", print_times}};
    const char *slash = strrchr(t->p.file, '/'), *base = slash ? slash + 1 : t->p.file;
    bool ok = outfile_folder(folder, e);
    for (int i = 0; i < 3 && ok; i++) {
        char path[4096];
        words w = {0};
        snprintf(path, sizeof path, "%s/%.*s_%s_Tessera.txt", folder, (int)strcspn(base, "."), base, file[i].name);
        ok = print(t, file[i].way, &w, e) && ts_file_write(path, w.text, w.size, e);
        free(w.text);
    }
    return ok;
}
