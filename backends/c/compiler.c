/* compiler.c - looks along PATH, and asks a compiler who it is. */
#include "backends/c/compiler.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const child_limits quick = {.wall = 10, .cpu = 10, .memory = INT64_C(4) << 30, .file = 1 << 20};

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Absolute folders of PATH only: what lies in the working directory is not the system's compiler. NULL: not found. */
static char *find_program(arena *mem, const char *name, const char *path)
{
    if (strchr(name, '/'))
        return is_program(name) ? arena_string(mem, name) : NULL;
    while (*path) {
        size_t n = strcspn(path, ":");
        char *candidate = arena_format(mem, "%.*s/%s", (int)n, path, name);
        if (path[0] == '/' && is_program(candidate))
            return candidate;
        path += n + (path[n] == ':');
    }
    return NULL;
}

static char *copy(const char *s)
{
    char *mine = strdup(s);
    MUST(mine != NULL);
    return mine;
}

/* "NAME=value", to be freed. */
static char *assignment(const char *name, const char *value)
{
    text t = {0};
    text_add(&t, "%s=%s", name, value);
    return text_take(&t);
}

void compiler_temporary(compiler *c, const char *temporary)
{
    free(c->env_temporary);
    c->env_temporary = assignment("TMPDIR", temporary);
    c->env[2] = c->env_temporary;
}

bool compiler_find(compiler *c, const settings *env, err *e)
{
    static const char *const names[] = {"gcc", "cc", "clang"};
    ENDED_BY(arena_free) arena mem = {0};
    *c = (compiler){0};
    const char *asked = env_text("TESSERA_CC"); /* name or path of the C compiler */
    const char *found = asked ? find_program(&mem, asked, env->path) : NULL;
    for (int i = 0; i < COUNT(names) && !asked && !found; i++)
        found = find_program(&mem, names[i], env->path);
    if (found) {
        c->path = copy(found);
        c->env_path = assignment("PATH", env->path);
        c->env[0] = c->env_path;
        c->env[1] = "LC_ALL=C";
        compiler_temporary(c, env->temporary);
    } else if (asked) {
        err_set(e, TS_TOOLCHAIN, "T001 no C compiler: TESSERA_CC names '%s', which is not a program", asked);
        err_hint(e, "unset TESSERA_CC, or set it to the path of gcc or clang");
    } else {
        err_set(e, TS_TOOLCHAIN, "T001 no C compiler found (looked for gcc, cc, clang in PATH)");
        err_hint(e, "install gcc, name a compiler with TESSERA_CC, or run with --target interp");
    }
    return found;
}

void compiler_free(compiler *c)
{
    free(c->path);
    free(c->version);
    free(c->env_path);
    free(c->env_temporary);
    *c = (compiler){0};
}

/* Runs it with one option and gives what it printed. */
static bool ask(const compiler *c, const char *option, text *answer, err *e)
{
    const char *const argv[] = {c->path, option, NULL};
    child run;
    if (!child_start(&run, &(child_job){argv, c->env, NULL, &quick}, e))
        return err_hint(e, "name another compiler with TESSERA_CC");
    child_wait(&run, 1);
    bool ok = child_succeeded(&run) && run.said.length > 0;
    if (ok) {
        text_bytes(answer, run.said.s, run.said.length);
    } else {
        ENDED_BY(text_free) text fate = {0};
        if (child_succeeded(&run))
            text_add(&fate, "printed nothing");
        else
            child_fate(&run, &quick, &fate);
        err_set(e, TS_TOOLCHAIN, "T002 '%s %s' %s", c->path, option, text_str(&fate));
        err_hint(e, "name another compiler with TESSERA_CC");
    }
    child_free(&run, 1);
    return ok;
}

/* What tells one state of a file from another without reading it; "" when it is not there. */
static char *state(arena *mem, const char *path)
{
    struct stat st;
    if (!*path || stat(path, &st) != 0)
        return arena_string(mem, "");
    return arena_format(mem, "%s %lld %lld.%09ld %llu", path, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                        st.st_mtim.tv_nsec, (unsigned long long)st.st_ino);
}

static bool hash_file(hasher *h, const char *path, err *e)
{
    mapping m;
    if (!file_map(path, &m, e))
        return false;
    hash_bytes(h, m.at, m.size);
    file_unmap(&m);
    return true;
}

/* gcc compiles in a program of its own; clang names no file here. */
static char *find_proper(const compiler *c, arena *mem)
{
    ENDED_BY(text_free) text answer = {0};
    ask(c, "-print-prog-name=cc1", &answer, NULL);
    size_t n = answer.length ? strcspn(answer.s, "\n") : 0;
    char *path = arena_format(mem, "%.*s", (int)n, text_str(&answer));
    return path[0] == '/' && is_program(path) ? path : arena_string(mem, "");
}

/* Four lines: version, identity, path of the compiler proper, and its state. Where nothing is kept the version is
 * enough: no key is compared. */
static bool work_out(const compiler *c, bool kept, arena *mem, text *record, err *e)
{
    ENDED_BY(text_free) text version = {0};
    if (!ask(c, "--version", &version, e))
        return false;
    const char *proper = kept ? find_proper(c, mem) : "";
    hasher *h = hash_open();
    hash_text(h, text_str(&version));
    bool ok = !kept || (hash_file(h, c->path, e) && (!*proper || hash_file(h, proper, e)));
    digest d = hash_close(h);
    char hex[65];
    digest_hex(&d, hex);
    text_add(record, "%.*s\n%s\n", (int)strcspn(text_str(&version), "\n"), text_str(&version), hex);
    text_add(record, "%s\n%s\n", proper, state(mem, proper));
    return ok;
}

/* Cuts the next line off. */
static char *line(char **rest)
{
    char *start = *rest, *end = strchr(start, '\n');
    if (end)
        *end = 0;
    *rest = end ? end + 1 : start + strlen(start);
    return start;
}

/* False when the compiler proper is not the one that the record was made with. */
static bool accept(compiler *c, arena *mem, const char *record)
{
    char *rest = arena_string(mem, record);
    const char *version = line(&rest), *identity = line(&rest), *proper = line(&rest);
    if (strcmp(state(mem, proper), line(&rest)) != 0)
        return false;
    hasher *h = hash_open();
    hash_text(h, identity);
    c->identity = hash_close(h);
    free(c->version);
    c->version = copy(version);
    return true;
}

bool compiler_identify(compiler *c, cache *known, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    ENDED_BY(text_free) text record = {0};
    hasher *h = hash_open();
    hash_text(h, "compiler 1");
    hash_text(h, state(&mem, c->path));
    digest key = hash_close(h);
    bool found = cache_get(known, &key, &record), ok = found && accept(c, &mem, text_str(&record));
    if (!ok) {
        record.length = 0;
        ok = work_out(c, known, &mem, &record, e) && accept(c, &mem, text_str(&record));
        if (found)
            cache_remove(known, &key);
        if (ok)
            cache_put(known, &key, record.s, record.length);
    }
    return ok;
}

const char *compiler_flag_fault(const char *flag)
{
    static const char *const ok[] = {"-O", "-m", "-f", "-g", "-std=", "-w", "-W", "-D"};
    static const char *const bad[] = {"-fplugin", "-fpass-plugin",   "-fdump",         "-fprofile",    "-fauto-profile",
                                      "-fuse-ld", "-fsave",          "-fopt-info",     "-fcallgraph",  "-fmodule",
                                      "-mllvm",   "-gsplit-dwarf",   "-Wl,",           "-Wa,",         "-Wp,",
                                      "-wrapper", "-main-file-name", "-fdebug-prefix", "-fstack-usage"};
    for (int i = 0; i < COUNT(bad); i++)
        if (strncmp(flag, bad[i], strlen(bad[i])) == 0)
            return "it reaches beyond the code being compiled";
    for (int i = 0; i < COUNT(ok); i++)
        if (strncmp(flag, ok[i], strlen(ok[i])) == 0)
            return NULL;
    return "only -O, -m, -f, -g, -std=, -w, -W and -D options are passed on";
}
