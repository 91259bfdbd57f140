/* single.c - a stand-alone program as one file of C: the texts of the folder, each header once, each text behind what
 * it includes. A name that a text has for itself alone, as tile0 in many kernels, gets another one by a macro around
 * the text. Instructions are asked for by a pragma, so that no option of the compiler is needed. */
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
    text out, done; /* done: the headers in it, as " a.h b.h " */
    const char *counts;
    int n_text;
} single;

/* ---- names of a text's own ---- */

/* Behind a comment, a quoted text, a line of the preprocessor, or attributes; s itself where none of them begins. */
static const char *skip(const char *s, bool line)
{
    const char *end = s;
    if (s[0] == '/' && s[1] == '*')
        end = strstr(s + 2, "*/"), end = end ? end + 2 : s + strlen(s);
    else if (s[0] == '/' && s[1] == '/')
        end += strcspn(s, "\n");
    else if (*s == '"' || *s == '\'')
        for (end++; *end && *end++ != *s;)
            end += end[-1] == '\\' && *end;
    else if (line && *s == '#')
        while (*end && *end != '\n')
            end += *end == '\\' && end[1] ? 2 : 1;
    else if (!strncmp(s, "__attribute__", 13)) {
        int open = 0;
        for (end = strchr(s, '('); end && *end && (open += (*end == '(') - (*end == ')'));)
            end++;
        end = end && *end ? end + 1 : s + 13;
    }
    return end;
}

static bool is_one_of(const char *list, const char *s, size_t n)
{
    for (const char *at = list; (at = strchr(at, ' ')); at++)
        if (!strncmp(at + 1, s, n) && at[1 + n] == ' ')
            return true;
    return false;
}

typedef struct scan {
    int depth, enum_depth; /* of brackets; the depth at which names are enumerators, or -1 */
    bool begun, own, value, function;
    const char *last; /* the word that may be the name */
    size_t n;
} scan;

static void scan_word(scan *x, const char *s, size_t n)
{
    if (!x->depth && !x->begun)
        x->begun = true, x->own = is_one_of(" static typedef enum FUNCTION LANES ", s, n),
        x->value = x->function = false;
    if (!x->depth && n == 4 && !strncmp(s, "enum", n))
        x->enum_depth = 1;
    const bool named = !x->depth || x->depth == x->enum_depth;
    x->last = named && x->own && !x->value && !isdigit((unsigned char)*s) ? s : NULL;
    x->n = n;
}

static void add_name(text *names, const char *s, size_t n)
{
    if (!is_one_of(text_str(names), s, n) && !is_one_of(" int char long float double void enum struct union ", s, n))
        text_add(names, "%.*s ", (int)n, s);
}

static void scan_mark(scan *x, char c, text *names)
{
    const bool at_enum = x->depth == x->enum_depth;
    if (strchr("(=[;{,}", c) && x->last && (!x->depth || at_enum))
        add_name(names, x->last, x->n);
    x->last = strchr("*", c) ? x->last : NULL;
    x->function |= !x->depth && c == '(' && !x->value;
    if (!x->depth || at_enum)
        x->value = c == '=' || (x->value && c != ',' && c != ';' && c != '}');
    x->depth += (strchr("({[", c) != NULL) - (strchr(")}]", c) != NULL);
    if (!x->depth && (c == ';' || (c == '}' && (x->function || !x->begun))))
        *x = (scan){.enum_depth = -1};
}

/* Where a text gives a name of its own another one already, "#define tile0 k_0f3a_0", that one. */
static void find_given(const char *s, const char *own, text *names)
{
    text_add(names, " ");
    for (const char *at = own + 1; *at; at += strcspn(at, " ") + 1) {
        char *find = NULL;
        const int n = (int)strcspn(at, " ");
        ENDED_BY(text_free) text line = {0};
        text_add(&line, "#define %.*s k_", n, at);
        for (const char *k = s; (k = strstr(k, line.s)); k += strcspn(k, "\n")) {
            find = strstr(k + 9 + n, "k_");
            add_name(names, find, strcspn(find, " \n"));
        }
        if (!find)
            add_name(names, at, (size_t)n);
    }
}

/* " tile0 f32x16 ": what s defines at the scope of the file and nobody else sees */
static void find_own(const char *s, text *names)
{
    scan x = {.enum_depth = -1};
    text_add(names, " ");
    for (bool line = true; *s;) {
        const char *end = skip(s, line);
        if (end > s) {
            s = end;
            continue;
        }
        line = *s == '\n' || (line && isspace((unsigned char)*s));
        size_t n = 0;
        while (in_word(s[n]))
            n++;
        if (n)
            scan_word(&x, s, n);
        else if (!isspace((unsigned char)*s))
            scan_mark(&x, *s, names);
        s += n ? n : 1;
    }
}

/* ---- texts ---- */

static const char *header_text(const single *s, const char *name)
{
    if (!strcmp(name, "counts.h"))
        return s->counts;
    for (int i = 0; s->p->extra && i < s->p->extra->n_file; i++)
        if (!strcmp(s->p->extra->file[i].name, name))
            return s->p->extra->file[i].text;
    return runtime_file(name);
}

/* Without lines that include, and without the text of headers that stand there already, which kernels carry */
static char *body_text(const single *s, const char *from)
{
    char *body = strdup(from);
    MUST(body);
    for (const carried_file *f = runtime_files; f->name; f++) {
        char *at = is_one_of(text_str(&s->done), f->name, strlen(f->name)) ? strstr(body, f->text) : NULL;
        if (at)
            memmove(at, at + strlen(f->text), strlen(at + strlen(f->text)) + 1);
    }
    for (char *at = body; (at = strstr(at, "#include \""));)
        memmove(at, at + strcspn(at, "\n"), strlen(at + strcspn(at, "\n")) + 1);
    return body;
}

static void add_headers(single *s, const char *from)
{
    for (const char *at = from; (at = strstr(at, "#include \"")); at++) {
        char name[64];
        const int n = snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 10, "\""), at + 10);
        if (is_one_of(text_str(&s->done), name, (size_t)n))
            continue;
        const char *header = header_text(s, name);
        add_headers(s, header);
        ENDED_BY(heap_free) char *body = body_text(s, header);
        text_add(&s->out, "\n%s", body);
        text_add(&s->done, "%s ", name);
    }
}

static void add_text(single *s, const char *from)
{
    ENDED_BY(text_free) text found = {0}, own = {0};
    add_headers(s, from);
    ENDED_BY(heap_free) char *body = body_text(s, from);
    find_own(body, &found), find_given(body, found.s, &own);
    s->n_text++;
    text_line(&s->out, "");
    for (const char *at = own.s + 1; *at; at += strcspn(at, " ") + 1)
        text_line(&s->out, "#define %.*s %.*s_%d", (int)strcspn(at, " "), at, (int)strcspn(at, " "), at, s->n_text);
    text_add(&s->out, "%s", body);
    for (const char *at = own.s + 1; *at; at += strcspn(at, " ") + 1)
        text_line(&s->out, "#undef %.*s", (int)strcspn(at, " "), at);
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

bool emit_one_file(const char *file, ts_single how, const emit_parts *p, err *e)
{
    single s = {.p = p};
    text counts = {0}, tables = {0};
    ENDED_BY(arena_free) arena mem = {0};
    if (!check(p, e))
        return false;
    emit_counts(p, &counts), emit_tables(p, &tables);
    s.counts = counts.s;
    text_add(&s.done, " ");
    add_start(&s);
    bool ok = add_weights(&s, file, how, e);
    if (ok) {
        for (int i = 0; p->extra && i < p->extra->n_file; i++) { /* kernels carry the text of some */
            char *line = arena_format(&mem, "#include \"%s\"", p->extra->file[i].name);
            add_headers(&s, line);
        }
        add_text(&s, tables.s);
        add_text(&s, runtime_file("team.c")), add_text(&s, runtime_file("model.c"));
        for (int i = 0; i < p->n_unit; i++)
            add_text(&s, p->unit[i].text);
        add_text(&s, runtime_file("main.c"));
        ok = replace(file, &s, &s.out, e);
    }
    text_free(&s.out), text_free(&s.done), text_free(&counts), text_free(&tables);
    return ok;
}
