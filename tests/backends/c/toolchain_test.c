/* Builds real programs, and lets compilers fail in every way they can: each failure is an error with its code, in time,
 * with nothing left behind and nothing kept. ctest: O3 */
#include "backends/c/toolchain.h"
#include "tests/backends/c/rig.h"
#include "tests/check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const cc_unit units[] = {
    {.text = "float scale(float x)\n{\n    return 3 * x;\n}\n"},
    {.text =
         "#include <math.h>\nfloat scale(float x);\nfloat run(float x)\n{\n    return scale(x) + expf(0 * x);\n}\n"},
};
static const char *const flags[] = {"-std=c11", "-O2", NULL}, *const symbols[] = {"run", NULL};
static const child_limits short_time = {.wall = 0.4, .cpu = 10, .memory = INT64_C(4) << 30, .file = 1 << 20};
static const child_limits sleepy = {.wall = 60, .idle = 0.3, .cpu = 10, .memory = INT64_C(4) << 30, .file = 1 << 20};
static const child_limits small_file = {.wall = 60, .cpu = 10, .memory = INT64_C(4) << 30, .file = 1 << 20};
typedef float function(float);

static cc_request request(const char *cache_folder)
{
    return (cc_request){.n = COUNT(units),
                        .unit = units,
                        .flags = flags,
                        .isa = "plain",
                        .cache_folder = cache_folder,
                        .symbols = symbols,
                        .jobs = 2};
}

static float call(const cc_program *p, float x)
{
    void *symbol = cc_symbol(p, "run");
    function *run;
    memcpy(&run, &symbol, sizeof run);
    return run(x);
}

/* Builds, calls, and says what the report said. */
static bool builds(const cc_request *r, int compiled, int cached, bool found)
{
    err e = {0};
    cc_report report;
    cc_program *p = cc_make(r, &report, &e);
    bool ok = CHECK(p != NULL) && CHECK(call(p, 2) == 7) && CHECK(report.compiled == compiled) &&
              CHECK(report.cached == cached) && CHECK(report.found == found) && CHECK(report.compiler.length > 0);
    if (!ok)
        fprintf(stderr, "  %d compiled, %d cached, found %d; %s; %s\n", report.compiled, report.cached, report.found,
                e.text, text_str(&report.notes));
    cc_free(p);
    cc_report_free(&report);
    return ok;
}

static void seen(void *user, const char *what, int done, int total)
{
    int *sum = user;
    CHECK_TEXT(what, "compiling a unit");
    CHECK(total == COUNT(units) && done < total);
    *sum |= 1 << done;
}

/* The stand-in writes a line per start, so "no compiler run at all" is counted. */
static void test_cache(rig *g)
{
    char *log = rig_path(g, "wrap.log"), *folder = rig_path(g, "cache");
    rig_compiler(g, "wrap", "exec gcc \"$@\"");
    cc_request r = request(folder);
    int sum = 0;
    r.progress = seen;
    r.user = &sum;
    builds(&r, 2, 0, false);
    CHECK(sum == 1 + 2); /* before the first and the second end */
    int started = rig_lines(log);
    CHECK(started == 2 + 2 + 1); /* who it is, each unit, the linker */
    builds(&r, 0, 0, true);
    CHECK(rig_lines(log) == started);

    const cc_unit changed[] = {units[0],
                               {.text = "float scale(float x);\nfloat run(float x) { return scale(x) + 1; }\n"}};
    r.unit = changed;
    r.progress = NULL;
    builds(&r, 1, 1, false);
    CHECK(rig_lines(log) == started + 2);
    r.unit = units;
    const char *const other[] = {"-std=c11", "-O1", NULL};
    r.flags = other;
    builds(&r, 2, 0, false);
    r.flags = flags;
    r.isa = "avx2";
    builds(&r, 2, 0, false);
    builds(&r, 0, 0, true);
    started = rig_lines(log);
    rig_compiler(g, "wrap", "exec   gcc \"$@\"");
    builds(&r, 2, 0, false); /* another compiler under the same name */
    CHECK(rig_lines(log) == started + 5);
    r.cache_folder = "none";
    builds(&r, 2, 0, false);
    CHECK(rig_count(g->temporary) == 0); /* no scratch folder stays */
}

/* gcc is told to keep like functions of a shared unit apart, in no other; clang joins none and does not know how. */
static void test_shared(rig *g)
{
    const cc_unit two[] = {{.text = units[0].text, .shared = true}, units[1]};
    cc_request r = request("none");
    text path = {0}, version = {0};
    r.unit = two;
    rig_compiler(g, "apart", "case \"$*\" in *-fno-ipa-icf*) echo $out >>\"$0.told\";; esac\nexec gcc \"$@\"");
    builds(&r, 2, 0, false);
    CHECK(rig_lines(rig_path(g, "apart.told")) == 1);
    setenv("TESSERA_CC", "clang", 1);
    if (cc_compiler("none", &path, &version, NULL))
        builds(&r, 2, 0, false);
    text_free(&path), text_free(&version);
}

/* Libraries are known by name, and descriptor numbers come again: each program must stay itself. */
static void test_many_programs(rig *g)
{
    cc_program *p[3] = {0};
    rig_compiler(g, "real", "exec gcc \"$@\"");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT(p); i++) {
            err e = {0};
            const cc_unit one = {.text = arena_format(&g->mem, "float run(float x) { return x + %d; }\n", i)};
            cc_request r = request(rig_path(g, "cache"));
            r.n = 1;
            r.unit = &one;
            p[i] = cc_make(&r, NULL, &e);
            CHECK(p[i] && call(p[i], 10) == (float)(10 + i));
        }
        for (int i = 0; i < COUNT(p); i++) {
            CHECK(call(p[i], 20) == (float)(20 + i));
            cc_free(p[i]);
        }
    }
}

/* Whatever a compiler left running would have become our child. */
static bool nobody_left(void)
{
    for (int i = 0; i < 200; i++) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0)
            return errno == ECHILD;
        if (pid == 0)
            usleep(5000);
    }
    return false;
}

/* What a script in the place of the compiler leads to: a message with these parts, soon, and nothing kept. */
static void fails(rig *g, const char *script, const child_limits *limits, const char *part, const char *and_part)
{
    err e = {0};
    cc_request r = request(rig_path(g, "fail"));
    r.limits = limits;
    rig_compiler(g, "fake", script);
    time_t start = time(NULL);
    cc_program *p = cc_make(&r, NULL, &e);
    if (!CHECK(!p) || !CHECK(e.code == TS_TOOLCHAIN) || !CHECK(strstr(e.text, part)) ||
        !CHECK(strstr(e.text, and_part)))
        fprintf(stderr, "  script: %s\n  message: %s\n", script, e.text);
    CHECK(strstr(e.text, "hint: "));
    CHECK(time(NULL) - start <= 20); /* the compilers of some scripts would stay a minute */
    CHECK(nobody_left());
    CHECK(rig_count(g->temporary) == 0);
    cc_free(p);
}

static void test_failures(rig *g)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fails(g, "case $* in *u0.o*) echo no way >&2; exit 1;; *) sleep 100;; esac", NULL, "T002",
          "exited with status 1 while compiling unit 1 of 2");
    fails(g, "echo 'k.c:1:2: error: no \033[31mway' >&2; exit 1", NULL, "T002", "    k.c:1:2: error: no \\x1b[31mway");
    fails(g, "kill -SEGV $$", NULL, "T003", "was killed by signal 11 while compiling");
    fails(g, "kill -KILL $$", NULL, "T003", "killed by signal 9 (out of memory?)");
    fails(g, "sleep 100 & sleep 100", &short_time, "T004", "ran for more than 0.4 s and was stopped");
    fails(g, "sleep 100 & sleep 100", &sleepy, "T004", "did nothing for 0.3 s and was stopped");
    fails(g, "exec >&- 2>&-; sleep 100", &short_time, "T004", "ran for more than 0.4 s");
    fails(g, "while :; do echo endless; done", &short_time, "T004", "    endless");
    fails(g, "sleep 100 & exit 1", NULL, "T002", "exited with status 1 while compiling");
    fails(g, "exit 0", NULL, "T005", "its output is missing");
    fails(g, ": > $out", NULL, "T005", "its output is empty");
    fails(g, "echo text > $out", NULL, "T005", "its output is not an ELF file");
    fails(g, "gcc \"$@\" && head -c 300 $out > $out.x && mv $out.x $out", NULL, "T005", "its output is truncated");
    fails(g, "gcc -shared -fPIC -x c - -o $out < /dev/null", NULL, "T005", "is not an object file");
    fails(g, "gcc \"$@\" && printf '\\001' | dd of=$out bs=1 seek=4 conv=notrunc 2>/dev/null", NULL, "T005",
          "another machine");
    fails(g, "sleep 0.2; exec head -c 3000000 /dev/zero > $out", /* limits hold some moments after the start */
          &small_file, "T003", "limit of 1048576 bytes for a file");
    fails(g, "case $* in *-shared*) gcc \"$@\" && head -c 9000 $out > $out.x && mv $out.x $out;; *) gcc \"$@\";; esac",
          NULL, "T005", "its output is truncated");
    fails(g, "case $* in *-shared*) echo no linker >&2; exit 3;; *) gcc \"$@\";; esac", NULL,
          "exited with status 3 while linking", "    no linker");
}

static void test_symbols(rig *g)
{
    err e = {0};
    cc_request r = request(rig_path(g, "fail"));
    const char *const absent[] = {"run", "walk", NULL}, *const bad[] = {"-O2", "-fplugin=evil.so", NULL};
    rig_compiler(g, "real", "exec gcc \"$@\"");
    r.symbols = absent;
    CHECK(!cc_make(&r, NULL, &e) && e.code == TS_TOOLCHAIN && strstr(e.text, "T006") && strstr(e.text, "'walk'"));
    r = request("none");
    r.flags = bad;
    e = (err){0};
    CHECK(!cc_make(&r, NULL, &e) && e.code == TS_USAGE && strstr(e.text, "T008") && strstr(e.text, "-fplugin=evil.so"));
    const cc_unit undefined = {.text = "float nowhere(float); float run(float x) { return nowhere(x); }\n"};
    r = request("none");
    r.unit = &undefined;
    r.n = 1;
    e = (err){0};
    CHECK(!cc_make(&r, NULL, &e) && e.code == TS_TOOLCHAIN && strstr(e.text, "T007") && strstr(e.text, "nowhere"));
}

/* What is no compiler: a program that says nothing, a text that may be executed. */
static void test_other_program(rig *g)
{
    static const char *const content[] = {"#!/bin/sh\n", "words\n"};
    static const char *const says[] = {"' printed nothing", "': Exec format error"};
    char *path = rig_path(g, "other");
    setenv("TESSERA_CC", path, 1);
    for (int i = 0; i < COUNT(says); i++) {
        err e = {0};
        cc_request r = request("none");
        FILE *f = fopen(path, "we");
        MUST(f && fputs(content[i], f) >= 0 && fclose(f) == 0 && chmod(path, 0755) == 0);
        CHECK(!cc_make(&r, NULL, &e) && e.code == TS_TOOLCHAIN);
        if (!CHECK(strstr(e.text, says[i]) && strstr(e.text, "hint: name another compiler with TESSERA_CC")))
            fprintf(stderr, "  %s\n", e.text);
    }
}

static void test_no_compiler(rig *g)
{
    err e = {0};
    cc_request r = request("none");
    setenv("TESSERA_CC", "no-such-compiler", 1);
    CHECK(!cc_make(&r, NULL, &e) && e.code == TS_TOOLCHAIN && strstr(e.text, "T001") &&
          strstr(e.text, "no-such-compiler"));
    char *path = arena_string(&g->mem, getenv("PATH"));
    unsetenv("TESSERA_CC");
    setenv("PATH", g->root, 1);
    e = (err){0};
    CHECK(!cc_make(&r, NULL, &e) && strstr(e.text, "T001 no C compiler found (looked for gcc, cc, clang in PATH)"));
    CHECK(strstr(e.text, "hint: "));
    setenv("PATH", path, 1);
    text where = {0}, version = {0};
    e = (err){0};
    CHECK(cc_compiler("none", &where, &version, &e) && where.s[0] == '/' && version.length > 0 &&
          !strchr(version.s, '\n'));
    text_free(&where);
    text_free(&version);
}

/* The compiler must not see what could change its mind, nor our descriptors, nor our ignored signals. */
static void test_environment(rig *g)
{
    char *seen_file = rig_path(g, "env");
    setenv("CPATH", "/nowhere", 1);
    setenv("LD_PRELOAD_X", "x", 1);
    signal(SIGPIPE, SIG_IGN);
    rig_compiler(g, "spy",
                 arena_format(&g->mem,
                              "env > %s; ls -l /proc/self/fd | grep -c -e '->' >> %s; "
                              "grep SigIgn /proc/self/status >> %s; exec gcc \"$@\"",
                              seen_file, seen_file, seen_file));
    int leak = dup(0);
    cc_request r = request("none");
    r.jobs = 1;
    builds(&r, 2, 0, false);
    signal(SIGPIPE, SIG_DFL);
    close(leak);
    text got = {0};
    err e = {0};
    CHECK(file_read(seen_file, 1 << 16, &got, &e));
    CHECK(strstr(text_str(&got), "PATH=") && strstr(text_str(&got), "LC_ALL=C\n") && strstr(text_str(&got), "TMPDIR="));
    CHECK(!strstr(text_str(&got), "CPATH") && !strstr(text_str(&got), "LD_PRELOAD") &&
          !strstr(text_str(&got), "HOME="));
    CHECK(strstr(text_str(&got), "\n4\n")); /* three streams, and the folder that ls has open */
    const char *ignored = strstr(text_str(&got), "SigIgn:");
    CHECK(ignored && (strtoull(ignored + 7, NULL, 16) & 0x7fffffff) == 0); /* from 32 on they are the C library's own */
    text_free(&got);
    unsetenv("CPATH");
}

int main(void)
{
    rig g;
    rig_make(&g);
    int open_files = rig_count("/proc/self/fd");
    test_cache(&g);
    test_shared(&g);
    test_many_programs(&g);
    test_failures(&g);
    test_symbols(&g);
    test_other_program(&g);
    test_no_compiler(&g);
    test_environment(&g);
    CHECK(rig_count("/proc/self/fd") == open_files);
    rig_free(&g);
    return check_done();
}
