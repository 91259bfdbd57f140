/* toolchain.c - the course of a build: keys, cache, compilers, linker, loader. */
#include "backends/c/toolchain.h"
#include "backends/cache/cache.h"
#include "backends/c/compiler.h"
#include "backends/c/cpu.h"
#include "backends/cache/elf.h"
#include "backends/cache/folder.h"
#include "backends/cache/jobs.h"
#include "backends/cache/loader.h"
#include "backends/cache/work_folder.h"
#include "graph/base/clock.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGE_MOST = 256 << 20, LOCK_WAIT = 30 };
/* Work is counted in processor time: on a busy machine a compiler may wait for minutes. One that sleeps is tried twice
 * within a minute. */
static const child_limits usual = {.wall = 600, .idle = 30, .cpu = 60, .memory = INT64_C(4) << 30, .file = IMAGE_MOST};
/* Of a unit: seconds, and bytes for one more. At -O3 gcc 12.2 takes 0.07 s for a thousand bytes of what it likes least
 * among units that it does end. */
enum { UNIT_LEAST = 4, UNIT_RATE = 1000 };

struct cc_program {
    loaded code;
};

typedef struct build {
    const cc_request *r;
    cc_report *report;
    settings env;
    compiler cc;
    cache *cache;
    work_folder folder;
    arena mem;
    digest *key;           /* of each unit */
    text *object;          /* of each unit, once there */
    digest program;        /* its key */
    int n_missing;         /* units to be compiled */
    text slow;             /* a line for each unit that is of a lower level */
    text image;            /* the shared library */
    double assembler, all; /* processors' seconds of units' assembler, and with those of their compiler */
} build;

void cc_report_free(cc_report *r)
{
    text_free(&r->compiler);
    text_free(&r->notes);
    *r = (cc_report){0};
}

/* ---- keys ---- */

/* The list ends with NULL; no list is an empty one. */
static int flag_count(const cc_request *r)
{
    int n = 0;
    while (r->flags && r->flags[n])
        n++;
    return n;
}

/* Before anything is started: an option could name a file to write, or a program to run. */
static bool check_flags(const cc_request *r, err *e)
{
    for (int i = 0; i < flag_count(r); i++) {
        const char *fault = compiler_flag_fault(r->flags[i]);
        if (fault)
            return err_set(e, TS_USAGE, "T008 compiler option '%s' is not allowed: %s", r->flags[i], fault);
    }
    return true;
}

/* Everything that the object depends on: version, compiler, instruction set, processor, flags, text. What is not in the
 * key must not change the object. */
static void make_keys(build *b)
{
    ENDED_BY(text_free) text cpu = {0};
    cpu_features(&cpu);
    hasher *h = hash_open();
    hash_text(h, "tessera " TS_VERSION " c 1");
    hash_bytes(h, b->cc.identity.b, sizeof b->cc.identity.b);
    hash_text(h, b->r->isa ? b->r->isa : "");
    hash_text(h, text_str(&cpu));
    for (int i = 0; i < flag_count(b->r); i++)
        hash_text(h, b->r->flags[i]);
    digest common = hash_close(h);
    hasher *all = hash_open();
    hash_text(all, "program");
    for (int i = 0; i < b->r->n; i++) {
        h = hash_open();
        hash_text(h, "unit");
        hash_bytes(h, common.b, sizeof common.b);
        hash_text(h, b->r->unit[i].level ? b->r->unit[i].level : "");
        hash_text(h, b->r->unit[i].text);
        b->key[i] = hash_close(h);
        hash_bytes(all, b->key[i].b, sizeof b->key[i].b);
    }
    b->program = hash_close(all);
}

/* ---- what the compiler said ---- */

/* The first lines, indented and made harmless. */
static void add_lines(text *out, const text *said)
{
    enum { LINES = 8, WIDTH = 200 };
    const char *at = text_str(said);
    char cut[WIDTH + 1];
    for (int i = 0; i < LINES && line_next(&at, cut, sizeof cut); i++) {
        text_add(out, "\n    ");
        text_safe(out, cut);
    }
}

/* T004: too late; T003: ended by a signal; T002: it says itself that it failed. */
static bool fail_child(const build *b, const child *c, const child_limits *limits, const char *doing, err *e)
{
    ENDED_BY(text_free) text fate = {0}, said = {0};
    child_fate(c, limits, &fate);
    add_lines(&said, &c->said);
    const char *code = child_overran(c, limits) ? "T004" : c->status != -1 && (c->status & 127) ? "T003" : "T002";
    err_set(e, TS_TOOLCHAIN, "%s %s %s while %s%s", code, b->cc.path, text_str(&fate), doing, text_str(&said));
    return err_hint(e, "try another instruction set with --isa, or another compiler with TESSERA_CC");
}

/* Reads what a compiler that claims success has made. */
static bool take_output(const build *b, const char *path, elf_kind kind, text *out, err *e)
{
    bool there = folder_read(AT_FDCWD, path, IMAGE_MOST, out);
    const char *fault = there ? elf_fault(text_str(out), out->length, kind) : "is missing";
    if (!fault)
        return true;
    err_set(e, TS_TOOLCHAIN, "T005 %s reported success, but its output %s", b->cc.path, fault);
    return err_hint(e, "try another compiler with TESSERA_CC");
}

/* ---- compiling ---- */

static char *unit_path(build *b, int i, const char *ending)
{
    return work_folder_name(&b->folder, &b->mem, arena_format(&b->mem, "u%d.%s", i, ending));
}

static const char **argv_make(build *b, int room, int *n)
{
    const char **argv = arena_array(&b->mem, (size_t)(flag_count(b->r) + room), sizeof *argv);
    argv[(*n)++] = b->cc.path;
    for (int i = 0; i < flag_count(b->r); i++)
        argv[(*n)++] = b->r->flags[i];
    return argv;
}

/* A level below that of the unit, for what takes too long there; NULL: there is none. */
static const char *lower_level(const cc_request *r, const cc_unit *u)
{
    const char *level = "-O1";
    if (u->level)
        return !strcmp(u->level, level) ? "-O0" : level;
    for (int i = 0; i < flag_count(r); i++)
        level = !strcmp(r->flags[i], "-O0") ? NULL : !strcmp(r->flags[i], "-O1") ? "-O0" : level;
    return level;
}

/* The source comes through standard input, so that no path gets into the object. */
static const char **unit_argv(build *b, int i, const char *lower)
{
    static const char *const fixed[] = {"-fPIC", "-pipe", "-c", "-x", "c", "-", "-o"};
    int n = 0;
    const char **argv = argv_make(b, COUNT(fixed) + 6, &n), *level = b->r->unit[i].level;
    for (int k = 0; level && k < n; k++)
        argv[k] = !strncmp(argv[k], "-O", 2) ? level : argv[k];
    if (lower)
        argv[n++] = lower;
    if (!strstr(b->cc.version, "clang")) { /* which knows neither option, and has an assembler in itself */
        argv[n++] = arena_format(&b->mem, "-time=%s", unit_path(b, i, "time"));
        if (b->r->unit[i].shared)
            argv[n++] = "-fno-ipa-icf";
    }
    for (int k = 0; k < COUNT(fixed); k++)
        argv[n++] = fixed[k];
    argv[n++] = unit_path(b, i, "o");
    return argv;
}

static size_t unit_bytes(const cc_unit *u)
{
    return u->bytes ? u->bytes : strlen(u->text);
}

static bool make_job(build *b, int i, job *out, err *e)
{
    const cc_unit *u = &b->r->unit[i];
    const char *level = lower_level(b->r, u);
    *out = (job){.label = arena_format(&b->mem, "compiling %s", u->label ? u->label : "a unit"),
                 .argv = {unit_argv(b, i, NULL), level ? unit_argv(b, i, level) : NULL},
                 .input = unit_path(b, i, "c"),
                 .limits = b->r->limits ? *b->r->limits : usual};
    if (!b->r->limits)
        out->limits.cpu = UNIT_LEAST + (int64_t)unit_bytes(u) / UNIT_RATE;
    return work_folder_write(&b->folder, arena_format(&b->mem, "u%d.c", i), u->text, strlen(u->text), e);
}

typedef struct compiling { /* jobs: of the missing units, the longest first, so that none ends up alone */
    build *b;
    int *unit;
    job *job;
} compiling;

/* Caches how a unit was compiled where that differs from the request, so that a cached unit can report it too. */
static digest note_key(const digest *of)
{
    hasher *h = hash_open();
    hash_text(h, "note");
    hash_bytes(h, of->b, sizeof of->b);
    return hash_close(h);
}

static void put_note(const build *b, const digest *of, const text *note)
{
    const digest key = note_key(of);
    if (note->length)
        cache_put(b->cache, &key, note->s, note->length);
}

static void get_note(const build *b, const digest *of, text *out)
{
    const digest key = note_key(of);
    ENDED_BY(text_free) text note = {0};
    if (cache_get(b->cache, &key, &note))
        text_add(out, "%s", text_str(&note));
}

/* gcc's -time: a line for each program that it ran, "USER SYSTEM cc1 ..." */
static void add_times(build *b, int unit)
{
    FILE *f = fopen(unit_path(b, unit, "time"), "r");
    double user, system;
    char name[8];
    while (f && fscanf(f, "%lf %lf %7s%*[^\n]", &user, &system, name) == 3) {
        b->all += user + system;
        b->assembler += strcmp(name, "as") ? 0 : user + system;
    }
    if (f)
        fclose(f);
}

/* Into the cache at once: what is compiled is not lost if another unit fails. */
static bool end_unit(void *user, int k, int tried, const child *c, err *e)
{
    const compiling *all = user;
    build *b = all->b;
    const int i = all->unit[k];
    const char *label = b->r->unit[i].label;
    const char *which = arena_format(&b->mem, "unit %d of %d%s%s%s", i + 1, b->r->n, label ? " (" : "",
                                     label ? label : "", label ? ")" : "");
    ENDED_BY(text_free) text note = {0};
    if (!child_succeeded(c))
        return fail_child(b, c, &all->job[k].limits, arena_format(&b->mem, "compiling %s", which), e);
    if (!take_output(b, unit_path(b, i, "o"), ELF_OBJECT, &b->object[i], e))
        return false;
    if (tried > 1)
        text_line(&note, "%s took too long over %s: it was compiled with %s, and may run slower", b->cc.path, which,
                  lower_level(b->r, &b->r->unit[i]));
    text_add(&b->slow, "%s", text_str(&note));
    put_note(b, &b->key[i], &note);
    cache_put(b->cache, &b->key[i], b->object[i].s, b->object[i].length);
    add_times(b, i);
    b->report->compiled++;
    return true;
}

static void say(void *user, const char *label, int done)
{
    const build *b = ((const compiling *)user)->b;
    if (b->r->progress)
        b->r->progress(b->r->user, label, done, b->n_missing);
}

static int larger_first(const void *a, const void *b, void *unit)
{
    const cc_unit *u = unit;
    const size_t x = unit_bytes(&u[*(const int *)a]), y = unit_bytes(&u[*(const int *)b]);
    return x != y ? (x < y) - (x > y) : *(const int *)a - *(const int *)b;
}

static bool compile(build *b, int *list, err *e)
{
    compiling all = {b, list, arena_array(&b->mem, (size_t)b->n_missing, sizeof *all.job)};
    bool ok = true;
    qsort_r(list, (size_t)b->n_missing, sizeof *list, larger_first, (void *)(uintptr_t)b->r->unit);
    for (int k = 0; ok && k < b->n_missing; k++)
        ok = make_job(b, list[k], &all.job[k], e);
    return ok && jobs_run(&(job_list){.n = b->n_missing,
                                      .at_once = b->r->jobs,
                                      .job = all.job,
                                      .env = b->cc.env,
                                      .ended = end_unit,
                                      .step = say,
                                      .user = &all},
                          e);
}

/* Objects from the cache are written out for the linker as they were verified. */
static bool make_objects(build *b, err *e)
{
    int *missing = arena_array(&b->mem, (size_t)b->r->n, sizeof *missing);
    for (int i = 0; i < b->r->n; i++)
        if (!cache_get(b->cache, &b->key[i], &b->object[i]))
            missing[b->n_missing++] = i;
        else if (get_note(b, &b->key[i], &b->slow), !work_folder_write(&b->folder, arena_format(&b->mem, "u%d.o", i),
                                                                       b->object[i].s, b->object[i].length, e))
            return false;
    b->report->cached = b->r->n - b->n_missing;
    const bool ok = compile(b, missing, e);
    phases_done(b->r->phases, PHASE_COMPILER);
    if (b->all > 0)
        phases_part(b->r->phases, PHASE_COMPILER, PHASE_ASSEMBLER, b->assembler / b->all);
    return ok;
}

static bool link_program(build *b, err *e)
{
    int n = 0;
    const char **argv = argv_make(b, b->r->n + 7, &n), *path = work_folder_name(&b->folder, &b->mem, "program.so");
    argv[n++] = "-shared";
    argv[n++] = "-nostartfiles"; /* nothing starts or ends in it: a fifth of a link's time */
    argv[n++] = "-o";
    argv[n++] = path;
    for (int i = 0; i < b->r->n; i++)
        argv[n++] = unit_path(b, i, "o");
    argv[n++] = "-lm";
    child c;
    const child_limits *limits = b->r->limits ? b->r->limits : &usual;
    if (!child_start(&c, &(child_job){argv, b->cc.env, NULL, limits}, e))
        return false;
    child_wait(&c, 1);
    bool ok = child_succeeded(&c) ? take_output(b, path, ELF_SHARED, &b->image, e)
                                  : fail_child(b, &c, limits, "linking", e);
    child_free(&c, 1);
    phases_done(b->r->phases, PHASE_LINKER);
    return ok;
}

/* ---- the whole ---- */

static bool make_program(build *b, err *e)
{
    if (!work_folder_make(&b->folder, b->env.temporary, e))
        return false;
    compiler_temporary(&b->cc, b->folder.path);
    return make_objects(b, e) && link_program(b, e);
}

static bool check_symbols(const build *b, const loaded *code, err *e)
{
    for (const char *const *s = b->r->symbols; s && *s; s++)
        if (!loader_symbol(code, *s))
            return err_set(e, TS_TOOLCHAIN, "T006 the program made by %s lacks the function '%s'", b->cc.path, *s);
    return true;
}

static bool load(const build *b, loaded *code, err *e)
{
    if (!loader_open(code, text_str(&b->image), b->image.length, b->env.temporary, e))
        return false;
    if (check_symbols(b, code, e))
        return true;
    loader_close(code);
    return false;
}

/* Kept only once it has proven to load and to hold what it must. The lock saves others the same work, no more. */
static bool find_or_make(build *b, loaded *code, err *e)
{
    b->report->found = cache_get(b->cache, &b->program, &b->image);
    if (b->report->found) {
        get_note(b, &b->program, &b->slow);
        return load(b, code, e);
    }
    int lock = cache_lock(b->cache, &b->program, LOCK_WAIT);
    b->report->found = cache_get(b->cache, &b->program, &b->image);
    bool ok = (b->report->found || make_program(b, e)) && load(b, code, e);
    if (ok && !b->report->found) {
        put_note(b, &b->program, &b->slow);
        cache_put(b->cache, &b->program, b->image.s, b->image.length);
        cache_tend(b->cache);
    }
    cache_unlock(lock);
    return ok;
}

static int processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < CHILD_MOST ? n : CHILD_MOST;
}

static void build_free(build *b)
{
    for (int i = 0; i < b->r->n && b->object; i++)
        text_free(&b->object[i]);
    text_free(&b->image), text_free(&b->slow);
    work_folder_free(&b->folder);
    compiler_free(&b->cc);
    cache_close(b->cache);
    arena_free(&b->mem);
}

static cc_program *run_build(const cc_request *r, cc_report *report, err *e)
{
    build b = {.r = r, .report = report, .env = settings_read()};
    loaded code;
    MUST(r->n > 0 && r->jobs > 0 && r->jobs <= CHILD_MOST);
    b.key = arena_array(&b.mem, (size_t)r->n, sizeof *b.key);
    b.object = arena_array(&b.mem, (size_t)r->n, sizeof *b.object);
    bool ok = check_flags(r, e) && cache_open(&b.cache, r->cache_folder, &b.env, &report->notes, e) &&
              compiler_find(&b.cc, &b.env, e) && compiler_identify(&b.cc, b.cache, e);
    if (ok) {
        text_add(&report->compiler, "%s", b.cc.version);
        make_keys(&b);
        ok = find_or_make(&b, &code, e);
        text_add(&report->notes, "%s", text_str(&b.slow));
        phases_done(r->phases, PHASE_LOAD);
    }
    build_free(&b);
    if (!ok)
        return NULL;
    cc_program *p = malloc(sizeof *p);
    MUST(p != NULL);
    p->code = code;
    return p;
}

cc_program *cc_make(const cc_request *r, cc_report *report, err *e)
{
    cc_report own = {0};
    cc_request q = *r;
    double start = seconds_now();
    if (q.jobs < 1)
        q.jobs = processors();
    if (q.jobs > CHILD_MOST)
        q.jobs = CHILD_MOST;
    cc_program *p = run_build(&q, &own, e);
    own.seconds = seconds_now() - start;
    if (report)
        *report = own;
    else
        cc_report_free(&own);
    return p;
}

/* Of the unit as it is compiled, but that the compiler stops at the assembler's language */
static bool assemble(build *b, text *out, err *e)
{
    job one;
    child c;
    if (!work_folder_make(&b->folder, b->env.temporary, e))
        return false;
    compiler_temporary(&b->cc, b->folder.path);
    if (!make_job(b, 0, &one, e))
        return false;
    const char **argv = unit_argv(b, 0, NULL);
    for (const char **a = argv; *a; a++)
        *a = !strcmp(*a, "-c") ? "-S" : *a;
    if (!child_start(&c, &(child_job){argv, b->cc.env, one.input, &one.limits}, e))
        return false;
    child_wait(&c, 1);
    const bool ok = child_succeeded(&c) ? folder_read(AT_FDCWD, unit_path(b, 0, "o"), IMAGE_MOST, out) ||
                                              err_set(e, TS_TOOLCHAIN, "T005 %s left no assembly", b->cc.path)
                                        : fail_child(b, &c, &one.limits, "making assembly", e);
    child_free(&c, 1);
    return ok;
}

bool cc_assembly(const cc_request *r, text *out, err *e)
{
    cc_report report = {0};
    build b = {.r = r, .report = &report, .env = settings_read()};
    const bool ok = check_flags(r, e) && cache_open(&b.cache, r->cache_folder, &b.env, &report.notes, e) &&
                    compiler_find(&b.cc, &b.env, e) && compiler_identify(&b.cc, b.cache, e) && assemble(&b, out, e);
    build_free(&b), cc_report_free(&report);
    return ok;
}

void *cc_symbol(const cc_program *p, const char *name)
{
    return loader_symbol(&p->code, name);
}

void cc_free(cc_program *p)
{
    if (p)
        loader_close(&p->code);
    free(p);
}

bool cc_compiler(const char *cache_folder, text *path, text *version, err *e)
{
    settings env = settings_read();
    ENDED_BY(text_free) text notes = {0};
    cache *known = NULL;
    compiler c = {0};
    bool ok = cache_open(&known, cache_folder, &env, &notes, e) && compiler_find(&c, &env, e) &&
              compiler_identify(&c, known, e);
    if (ok) {
        text_add(path, "%s", c.path);
        text_add(version, "%s", c.version);
    }
    compiler_free(&c);
    cache_close(known);
    return ok;
}
