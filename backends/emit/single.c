/* single.c - a stand-alone program as one file of C: the texts of the folder, each behind what it includes. It asks for
 * instructions by a pragma, so that no option of the compiler is needed. */
#include "backends/cache/folder.h"
#include "backends/emit/emit_folder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_INSIDE = 128 << 20, WIDTH = 100 }; /* bytes of weights that a compiler takes as text; of a line of it */

typedef struct single {
    const emit_parts *p;
    text out;
} single;

static void add_text(single *s, const carried_file *f) /* without the lines that include others */
{
    text_line(&s->out, "");
    text_bytes(&s->out, f->text, f->from);
    text_add(&s->out, "%s", f->text + f->to);
}

/* Flags as what a text can say: -mavx2 for gcc, which clang is asked for by its macro, __AVX2__, as it takes none. */
static void add_start(single *s)
{
    ENDED_BY(text_free) text all = {0}, sets = {0}, macros = {0};
    for (const char *const *f = s->p->flags; f && *f; f++) {
        text_add(&all, " %s", *f);
        if (strncmp(*f, "-m", 2) || !strncmp(*f, "-mno-", 5))
            continue;
        text_add(&sets, "%s%s", sets.length ? "," : "", *f + 2);
        if (strchr(*f, '='))
            continue;
        text_add(&macros, "%s!defined __", macros.length ? " || " : "");
        for (const char *c = *f + 2; *c; c++)
            text_add(&macros, "%c", toupper((unsigned char)*c));
        text_add(&macros, "__");
    }
    text_line(&s->out,
              "/* Written by Tessera " TS_VERSION ". cc -std=c11 FILE -lm builds it; faster:\n * cc%s FILE -lm */",
              text_str(&all));
    text_line(&s->out, "#define _GNU_SOURCE");
    if (sets.length)
        text_line(&s->out,
                  "#ifdef __clang__\n#if %s\n#error \"clang needs the flags at the top of this file\"\n#endif\n"
                  "#pragma STDC FP_CONTRACT OFF\n#else\n#pragma GCC target(\"%s\")\n"
                  "#pragma GCC optimize(\"fp-contract=off\")\n#endif",
                  macros.s, sets.s);
}

/* ---- weights ---- */

static void add_bytes(text *t, const unsigned char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i % WIDTH == 0)
            text_add(t, i ? "\"\n    \"" : "    \"");
        if (b[i] >= ' ' && b[i] < 127 && !strchr("\"\\?", b[i]))
            text_bytes(t, (const char *)&b[i], 1);
        else if (i + 1 < n && (i + 1) % WIDTH && isdigit(b[i + 1]))
            text_add(t, "\\%03o", b[i]);
        else
            text_add(t, "\\%o", b[i]);
    }
    text_add(t, "\"");
}

static bool put_inside(void *arg, const void *bytes, size_t n)
{
    single *s = arg;
    add_bytes(&s->out, bytes, n);
    text_line(&s->out, "");
    return true;
}

/* code, or NULL: the weights */
static bool replace(const char *path, const single *s, const text *code, err *e)
{
    ENDED_BY(text_free) text t = {0};
    text_add(&t, "%s.new", path);
    const mode_t mask = umask(0);
    umask(mask);
    const bool made = code ? folder_write(AT_FDCWD, t.s, code->s, code->length, true)
                           : emit_weight_file(AT_FDCWD, t.s, s->p),
               ok = made && chmod(t.s, 0666 & ~mask) == 0 && rename(t.s, path) == 0;
    if (!ok)
        file_failed(e, "write", made ? path : t.s, errno);
    if (!ok && (made || errno != EEXIST))
        unlink(t.s);
    return ok;
}

/* model.bin of model.c */
static char *beside_path(const char *file)
{
    const char *end = strrchr(file, '.');
    text t = {0};
    text_bytes(&t, file, end && !strchr(end, '/') ? (size_t)(end - file) : strlen(file));
    text_add(&t, ".bin");
    return text_take(&t);
}

static bool add_weights(single *s, const char *file, ts_single how, err *e)
{
    const size_t bytes = emit_weight_bytes(s->p);
    if (how == TS_SINGLE_BESIDE) {
        char *path = beside_path(file);
        const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        text_add(&s->out, "#define MODEL_WEIGHTS \\\n");
        add_bytes(&s->out, (const unsigned char *)name, strnlen(name, WIDTH));
        text_line(&s->out, "");
        const bool ok = replace(path, s, NULL, e);
        return free(path), ok;
    }
    if (bytes > MOST_INSIDE) {
        err_set(e, TS_UNSUPPORTED, "%zu bytes of weights inside one file of C, at most %d expected", bytes,
                MOST_INSIDE);
        return err_hint(e, "put them beside it: --weights beside");
    }
    text_line(&s->out, "#define MODEL_BYTES %zu\nstatic const char model_bytes[] =", bytes);
    const bool ok = emit_weights(s->p, put_inside, s) || file_failed(e, "write", file, errno);
    text_line(&s->out, "    \"\";");
    return ok;
}

/* ---- the file ---- */

static bool check(const emit_parts *p, err *e)
{
    const char *other = p->add ? "a program with files of its own" : NULL;
    for (int i = 0; p->extra && i < p->extra->n_file && !other; i++) {
        const char *name = p->extra->file[i].name, *end = strrchr(name, '.');
        other = end && !strcmp(end, ".h") ? NULL : name;
    }
    if (!other)
        return true;
    err_set(e, TS_UNSUPPORTED, "%s does not go into one file of C", other);
    return err_hint(e, "emit a folder, -o FOLDER, or a program whose kernels are C: --target c");
}

static void add_runtime(single *s, const char *const *name, int n)
{
    for (int i = 0; i < n; i++) {
        const carried_file f = runtime_found(name[i]);
        add_text(s, &f);
    }
}

static void add_program(single *s)
{
    static const char *const headers[] = {"model.h", "tables.h", "team.h"}, *const sources[] = {"team.c", "model.c"},
                             *const last[] = {"main.c"};
    const emit_parts *p = s->p;
    int n = 0;
    for (; n < p->n_unit && !p->unit[n].to; n++)
        add_text(s, &p->unit[n]);
    emit_counts(p, &s->out);
    add_runtime(s, headers, COUNT(headers));
    for (int i = 0; p->extra && i < p->extra->n_file; i++)
        add_text(s, &p->extra->file[i]);
    emit_tables(p, &s->out);
    add_runtime(s, sources, COUNT(sources));
    for (; n < p->n_unit; n++)
        add_text(s, &p->unit[n]);
    add_runtime(s, last, COUNT(last));
}

bool emit_one_file(const char *file, ts_single how, const emit_parts *p, err *e)
{
    single s = {.p = p};
    if (!check(p, e))
        return false;
    add_start(&s);
    bool ok = add_weights(&s, file, how, e);
    if (ok)
        add_program(&s), ok = replace(file, &s, &s.out, e);
    text_free(&s.out);
    return ok;
}
