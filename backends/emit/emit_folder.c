/* emit_folder.c - the folder of a stand-alone program, written under another name and renamed when it is complete. */
#include "backends/cache/folder.h"
#include "backends/emit/emit_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGN = 64 };

static size_t padded(size_t bytes)
{
    size_t sum;
    MUST(size_add(bytes, ALIGN - 1, &sum));
    return sum / ALIGN * ALIGN;
}

static bool stored(const emit_space *s)
{
    return s->kind == EMIT_WEIGHT || (s->kind == EMIT_STATE && !s->is_zero);
}

static int count(const emit_parts *p, emit_kind kind)
{
    int n = 0;
    for (int i = 0; i < p->n_space; i++)
        n += p->space[i].kind == kind;
    return n;
}

static void note_origin(text *t, const char *file, const char *what)
{
    text_line(t, "/* %s - written by Tessera " TS_VERSION ". %s */", file, what);
}

/* ---- tables.c ---- */

static void add_npy(text *t, const emit_space *s)
{
    static const char *const names[TS_N_DTYPE] = {
        [TS_F32] = "<f4",        [TS_F64] = "<f8",      [TS_F16] = "<f2",        [TS_BF16] = "<u2",
        [TS_I64] = "<i8",        [TS_I32] = "<i4",      [TS_I16] = "<i2",        [TS_I8] = "|i1",
        [TS_U64] = "<u8",        [TS_U32] = "<u4",      [TS_U16] = "<u2",        [TS_U8] = "|u1",
        [TS_BOOL] = "|b1",       [TS_F8E4M3FN] = "|u1", [TS_F8E4M3FNUZ] = "|u1", [TS_F8E5M2] = "|u1",
        [TS_F8E5M2FNUZ] = "|u1", [TS_F8E8M0] = "|u1",   [TS_F4E2M1] = "|u1",     [TS_I4] = "|i1",
        [TS_U4] = "|u1",         [TS_I2] = "|i1",       [TS_U2] = "|u1"};
    text_add(t, "{'descr': '%s', 'fortran_order': False, 'shape': (", names[s->dtype]);
    for (int i = 0; i < s->rank; i++)
        if (s->extent[i].varies)
            text_add(t, "%s#", i ? ", " : "");
        else
            text_add(t, "%s%lld", i ? ", " : "", (long long)s->dim[i]);
    text_add(t, s->rank == 1 ? ",), }" : "), }");
}

static void add_port(text *t, const emit_space *s)
{
    bool any = false;
    text_add(t, "    {\"");
    add_npy(t, s);
    text_add(t, "\", %zu, ", s->bytes);
    for (int i = 0; i < s->rank; i++) {
        const emit_extent *x = &s->extent[i];
        if (!x->varies)
            continue;
        text_add(t, "%s{%lld, {", any ? ", " : "(const model_axis[]){", (long long)s->dim[i]);
        for (int v = 0; v < EMIT_SIZES; v++)
            text_add(t, "%s%lld", v ? ", " : "", (long long)x->times[v]);
        text_add(t, "}, %lld, %lld}", (long long)x->plus, (long long)x->per);
        any = true;
    }
    text_line(t, "%s},", any ? "}" : "NULL");
}

static void add_sizes(const emit_parts *p, text *t)
{
    text_line(t, "const int model_size_space = %d;\nconst model_range model_size[] = {", p->size_space);
    for (int i = 0; i < p->n_size; i++)
        text_line(t, "    {%lld, %lld, %lld},", (long long)p->size[i].low, (long long)p->size[i].high,
                  (long long)p->size[i].step);
    text_line(t, "    {0, 0, 1},\n};");
}

static void add_ports(const emit_parts *p, text *t, const char *name, emit_kind kind)
{
    text_line(t, "const model_port %s[] = {", name);
    for (int i = 0; i < p->n_space; i++)
        if (p->space[i].kind == kind)
            add_port(t, &p->space[i]);
    text_line(t, "    {NULL, 0, NULL},\n};");
}

/* The space of state `number`. */
static int state_space(const emit_parts *p, int number)
{
    for (int i = 0; i < p->n_space; i++)
        if (p->space[i].kind == EMIT_STATE && p->space[i].number == number)
            return i;
    MUST(!"state of that number");
    return -1;
}

static void add_states(const emit_parts *p, text *t)
{
    const int n = count(p, EMIT_STATE);
    text_line(t, "const model_port model_state[] = {");
    for (int i = 0; i < n; i++)
        add_port(t, &p->space[state_space(p, i)]);
    text_line(t, "    {NULL, 0, NULL},\n};\nconst int model_state_space[] = {");
    for (int i = 0; i < n; i++)
        text_line(t, "    %d,", state_space(p, i));
    text_line(t, "    -1,\n};");
}

static void add_spaces(const emit_parts *p, text *t)
{
    static const char *const names[] = {"SCRATCH", "WEIGHT", "STATE", "INPUT", "OUTPUT"};
    size_t at = 0;
    text_line(t, "const int model_spaces = %d;\nconst model_space model_table[] = {", p->n_space);
    for (int i = 0; i < p->n_space; i++) {
        const emit_space *s = &p->space[i];
        text_line(t, "    {KIND_%s, %lld, %zu},", names[s->kind], stored(s) ? (long long)at : -1, s->bytes);
        if (stored(s))
            at += padded(s->bytes);
    }
    text_line(t, "    {KIND_SCRATCH, -1, 0},\n};");
}

static void add_threads(const emit_parts *p, text *t)
{
    if (!p->cpu) {
        text_line(t, "const int *const model_cpu = NULL;");
        return;
    }
    text_add(t, "static const int cpu[] = {");
    for (int i = 0; i < p->threads; i++)
        text_add(t, "%s%d", i ? ", " : "", p->cpu[i]);
    text_line(t, "};\nconst int *const model_cpu = cpu;");
}

void emit_counts(const emit_parts *p, text *t)
{
    note_origin(t, "counts.h", "The numbers of the model.");
    text_line(t, "#ifndef COUNTS_H\n#define COUNTS_H");
    text_line(
        t, "enum { MODEL_INPUTS = %d, MODEL_OUTPUTS = %d, MODEL_STATES = %d, MODEL_SIZES = %d, MODEL_THREADS = %d };",
        count(p, EMIT_INPUT), count(p, EMIT_OUTPUT), count(p, EMIT_STATE), p->n_size, p->threads);
    text_line(t, "#endif");
}

void emit_tables(const emit_parts *p, text *t)
{
    add_ports(p, t, "model_input", EMIT_INPUT);
    add_ports(p, t, "model_output", EMIT_OUTPUT);
    add_states(p, t);
    add_sizes(p, t);
    add_spaces(p, t);
    add_threads(p, t);
    text_line(t, "\nmodel_program %s;\nmodel_program *const model_entry = %s;", p->entry, p->entry);
}

/* ---- Makefile ---- */

static void make_makefile(const emit_parts *p, text *t)
{
    const char *made = p->extra ? p->extra->made : "";
    text_line(t, "# Written by Tessera " TS_VERSION ". make builds ./%s; the flags are those that it was tested with.",
              p->program);
    text_add(t, "CFLAGS =");
    for (const char *const *f = p->flags; f && *f; f++)
        text_add(t, " %s", *f);
    text_line(t, "\nLDLIBS = -lm -lpthread%s", p->extra ? p->extra->libraries : "");
    text_add(t, "OBJECTS = main.o model.o tables.o team.o");
    for (int i = 0; i < p->n_unit; i++)
        text_add(t, " %s.o", p->unit[i].name);
    text_line(t, "\n\n%s: $(OBJECTS)%s\n\t$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJECTS) $(LDLIBS)\n", p->program, made);
    text_line(t, "main.o model.o tables.o: model.h\nmain.o model.o tables.o: counts.h\nmodel.o tables.o: "
                 "tables.h\nmodel.o team.o: team.h");
    text_add(t, "%s", p->extra ? p->extra->rules : "");
    text_line(t, "\nclean:\n\trm -f %s $(OBJECTS)%s\n\n.PHONY: clean", p->program, made);
}

/* ---- writing ---- */

typedef struct output {
    char *folder, *temporary; /* the final name; the name while it is written */
    int fd;                   /* temporary, open */
    arena mem;
} output;

static bool fail(output *o, const char *what, err *e) /* errno: why */
{
    const int why = errno;
    return file_failed(e, "write", *what ? arena_format(&o->mem, "%s/%s", o->folder, what) : o->folder, why);
}

static bool write_text(output *o, const char *name, text *t, err *e)
{
    bool ok = folder_write(o->fd, name, text_str(t), t->length, true) || fail(o, name, e);
    text_free(t);
    return ok;
}

carried_file runtime_found(const char *name)
{
    const carried_file *f = runtime_files;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    MUST(f->name);
    return *f;
}

const char *runtime_file(const char *name)
{
    return runtime_found(name).text;
}

static bool write_runtime(output *o, err *e)
{
    static const char *const needed[] = {"main.c", "model.c", "model.h", "tables.h", "team.c", "team.h"};
    for (int i = 0; i < COUNT(needed); i++) {
        const char *s = runtime_file(needed[i]);
        if (!folder_write(o->fd, needed[i], s, strlen(s), true))
            return fail(o, needed[i], e);
    }
    return true;
}

static bool write_units(output *o, const emit_parts *p, err *e)
{
    for (int i = 0; i < p->n_unit; i++) {
        const char *name = arena_format(&o->mem, "%s.c", p->unit[i].name);
        if (!folder_write(o->fd, name, p->unit[i].text, strlen(p->unit[i].text), true))
            return fail(o, name, e);
    }
    return true;
}

static bool write_files(output *o, const emit_extra *d, err *e)
{
    for (int i = 0; d && i < d->n_file; i++)
        if (!folder_write(o->fd, d->file[i].name, d->file[i].text, strlen(d->file[i].text), true))
            return fail(o, d->file[i].name, e);
    return true;
}

/* One weight and the padding behind it. */
static bool put_weight(const emit_parts *p, int i, emit_put *put, void *arg)
{
    size_t bytes = padded(p->space[i].bytes);
    char *buffer = calloc(bytes / ALIGN + 1, ALIGN);
    if (!buffer)
        return errno = ENOMEM, false;
    p->weight(p->arg, i, buffer);
    bool ok = put(arg, buffer, bytes);
    int why = errno;
    free(buffer);
    errno = why;
    return ok;
}

bool emit_weights(const emit_parts *p, emit_put *put, void *arg)
{
    bool ok = true;
    for (int i = 0; i < p->n_space && ok; i++)
        ok = !stored(&p->space[i]) || put_weight(p, i, put, arg);
    return ok;
}

size_t emit_weight_bytes(const emit_parts *p)
{
    size_t sum = 0;
    for (int i = 0; i < p->n_space; i++)
        if (stored(&p->space[i]))
            MUST(size_add(sum, padded(p->space[i].bytes), &sum));
    return sum;
}

static bool put_file(void *arg, const void *bytes, size_t n)
{
    return file_write(*(const int *)arg, bytes, n);
}

bool emit_weight_file(int at, const char *name, const emit_parts *p)
{
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && emit_weights(p, put_file, &fd) && fsync(fd) == 0;
    const int why = errno;
    if (fd >= 0 && close(fd) != 0 && ok)
        return false;
    return errno = why, ok;
}

static bool write_all(output *o, const emit_parts *p, err *e)
{
    ENDED_BY(text_free) text counts = {0}, tables = {0}, makefile = {0}, ports = {0};
    emit_counts(p, &counts);
    note_origin(&tables, "tables.c", "What model.c is told of the model.");
    text_line(&tables, "#include \"tables.h\"\n");
    emit_tables(p, &tables);
    make_makefile(p, &makefile);
    text_add(&ports, "%s", p->ports ? p->ports : "");
    return write_units(o, p, e) && write_runtime(o, e) && write_files(o, p->extra, e) &&
           write_text(o, "counts.h", &counts, e) && write_text(o, "tables.c", &tables, e) &&
           write_text(o, "Makefile", &makefile, e) && (!p->ports || write_text(o, "ports.json", &ports, e)) &&
           (emit_weight_file(o->fd, "weights.bin", p) || fail(o, "weights.bin", e)) &&
           (!p->add || p->add(p->user, o->temporary, e));
}

/* Files were private while they were written; now they get what the user's mask allows. */
static void open_up(output *o)
{
    mode_t mask = umask(0);
    umask(mask);
    int again = openat(o->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again >= 0 ? fdopendir(again) : NULL;
    for (const struct dirent *d = folder ? readdir(folder) : NULL; d; d = readdir(folder))
        if (d->d_name[0] != '.')
            fchmodat(o->fd, d->d_name, 0666 & ~mask, 0);
    if (folder)
        closedir(folder);
    fchmod(o->fd, 0777 & ~mask);
}

/* An empty folder is replaced; one with something in it is the user's. */
static bool publish(output *o, err *e)
{
    open_up(o);
    if (fsync(o->fd) == 0 && rename(o->temporary, o->folder) == 0)
        return true;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return fail(o, "", e);
    err_set(e, TS_FILES, "cannot write '%s': the folder is not empty", o->folder);
    return err_hint(e, "remove it, or name a new one with -o");
}

/* Before the work, so that nobody waits for a refusal. */
static bool check_target(output *o, err *e)
{
    DIR *folder = opendir(o->folder);
    int n = 0;
    if (!folder)
        return errno == ENOENT || fail(o, "", e);
    while (readdir(folder))
        n++;
    closedir(folder);
    if (n <= 2)
        return true;
    err_set(e, TS_FILES, "cannot write '%s': the folder is not empty", o->folder);
    return err_hint(e, "remove it, or name a new one with -o");
}

bool emit_folder(const char *folder, const emit_parts *p, err *e)
{
    output o = {.fd = -1};
    MUST(p->threads >= 1 && p->n_space >= 0);
    o.folder = arena_string(&o.mem, folder);
    for (size_t n = strlen(o.folder); n > 1 && o.folder[n - 1] == '/'; n--)
        o.folder[n - 1] = 0;
    o.temporary = arena_format(&o.mem, "%s.XXXXXX", o.folder);
    bool ok = check_target(&o, e);
    if (ok && !mkdtemp(o.temporary)) {
        ok = fail(&o, "", e);
    } else if (ok) {
        o.fd = open(o.temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        ok = (o.fd >= 0 || fail(&o, "", e)) && write_all(&o, p, e) && publish(&o, e);
        if (o.fd >= 0)
            close(o.fd);
        if (!ok)
            folder_remove(AT_FDCWD, o.temporary);
    }
    arena_free(&o.mem);
    return ok;
}
