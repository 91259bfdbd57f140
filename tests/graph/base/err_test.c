/* Errors: the first is kept, texts end in whole characters, hints and places survive long messages; MUST aborts. */
/* ctest: fast */
#include "graph/base/base.h"
#include "tests/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_first_is_kept(void)
{
    err e = {0};
    CHECK(!err_is(&e));
    CHECK(!err_hint(&e, "no failure, no hint"));
    CHECK(!err_in(&e, "nor a place"));
    CHECK_TEXT(e.text, "");
    CHECK(!err_set(&e, TS_BAD_INPUT, "node %d: bad", 3));
    CHECK(err_is(&e) && e.code == TS_BAD_INPUT);
    CHECK(!err_set(&e, TS_FILES, "later"));
    CHECK(e.code == TS_BAD_INPUT);
    CHECK(!err_in(&e, "model '%s'", "m"));
    CHECK(!err_hint(&e, "try %d", 4));
    CHECK_TEXT(e.text, "model 'm': node 3: bad\n  hint: try 4");
    CHECK(!err_hint(&e, "try %d", 4));
    CHECK_TEXT(e.text, "model 'm': node 3: bad\n  hint: try 4");
    CHECK(!err_hint(&e, "try") && !err_hint(&e, "try %d", 45) && !err_hint(&e, "try %d", 4) && !err_hint(&e, "try"));
    CHECK_TEXT(e.text, "model 'm': node 3: bad\n  hint: try 4\n  hint: try\n  hint: try 45");
    CHECK(!err_set(NULL, TS_FAILED, "nobody listens"));
    CHECK(!err_hint(NULL, "x") && !err_in(NULL, "x") && !err_is(NULL));
}

static void test_memory(void)
{
    static const char hint[] = "\n  hint: end other programs, or let this one have more memory (ulimit -v says what it "
                               "may have)";
    err e = {0}, other = {0}, kept = {0};
    char want[300];
    CHECK(!err_memory(&e, 4096, "a batch of %d examples", 8) && e.code == TS_MEMORY);
    snprintf(want, sizeof want, "no memory for a batch of 8 examples: 4096 bytes%s", hint);
    CHECK_TEXT(e.text, want);
    CHECK(!err_memory(&other, 0, "the text"));
    long taken = 0;
    CHECK(sscanf(other.text, "no memory for the text: this process has taken %ld KiB", &taken) == 1 && taken > 0);
    snprintf(want, sizeof want, "no memory for the text: this process has taken %ld KiB%s", taken, hint);
    CHECK_TEXT(other.text, want);
    err_set(&kept, TS_FILES, "earlier");
    CHECK(!err_memory(&kept, 1, "x") && !err_memory(NULL, 1, "x"));
    CHECK_TEXT(kept.text, "earlier"); /* and no hint that is not its own */
}

/* Every cut of a text made of one, two, three and four byte characters ends after a whole one. */
static bool is_whole(const char *s)
{
    size_t i = 0, n = strlen(s);
    while (i < n) {
        unsigned char c = (unsigned char)s[i];
        i += c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    }
    return i == n;
}

static void test_long_texts(void)
{
    static const char *const units[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9D\x84\x9E"};
    for (int u = 0; u < COUNT(units); u++)
        for (int shift = 0; shift < 4; shift++) {
            text t = {0};
            text_add(&t, "%.*s", shift, "xyz");
            while (t.length < 5000)
                text_add(&t, "%s", units[u]);
            err e = {0};
            err_set(&e, TS_FAILED, "%s", t.s);
            CHECK(is_whole(e.text));
            CHECK(strcmp(e.text + strlen(e.text) - 3, "...") == 0);
            err_hint(&e, "%s", "the remedy");
            CHECK(strstr(e.text, "\n  hint: the remedy") != NULL);
            err_in(&e, "%s", t.s);
            err_in(&e, "%s", t.s);
            CHECK(is_whole(e.text) && strlen(e.text) < sizeof e.text);
            err_hint(&e, "%s", t.s);
            CHECK(is_whole(e.text) && strlen(e.text) < sizeof e.text);
            text_free(&t);
        }
}

static void test_must_aborts(void)
{
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        MUST(1 + 1 == 2);
        MUST(1 + 1 == 3);
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* A program that has no memory ends as one that was refused it: with the code of TS_MEMORY. */
static void test_memory_failed(void)
{
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        memory_failed(4096, "a list");
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == TS_MEMORY);
}

int main(void)
{
    test_first_is_kept();
    test_memory();
    test_long_texts();
    test_must_aborts();
    test_memory_failed();
    return check_done();
}
