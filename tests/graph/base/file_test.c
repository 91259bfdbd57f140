/* Files: maps and reads give what is there, saving is all or nothing, and errors name path and reason. */
/* ctest: fast */
#include "graph/base/base.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static bool holds(const char *path, const char *want)
{
    text t = {0};
    err e = {0};
    bool same = file_read(path, 1 << 20, &t, &e) && strcmp(text_str(&t), want) == 0;
    text_free(&t);
    return same;
}

static void test_save_and_read(const scratch *s)
{
    err e = {0};
    CHECK(file_save(scratch_in(s, "a"), "one", 3, &e));
    CHECK(holds(scratch_in(s, "a"), "one"));
    CHECK(file_save(scratch_in(s, "a"), "second", 6, &e));
    CHECK(holds(scratch_in(s, "a"), "second"));
    CHECK(file_save(scratch_in(s, "empty"), NULL, 0, &e));
    CHECK(holds(scratch_in(s, "empty"), ""));
    CHECK(scratch_count(s) == 2); /* no temporary stays */

    mapping m;
    CHECK(file_map(scratch_in(s, "a"), &m, &e) && m.size == 6 && memcmp(m.at, "second", 6) == 0);
    /* Replacing the file leaves what is mapped as it was. */
    CHECK(file_save(scratch_in(s, "a"), "xxxxxx", 6, &e) && memcmp(m.at, "second", 6) == 0);
    file_unmap(&m);
    CHECK(m.at == NULL && m.size == 0);
    CHECK(file_map(scratch_in(s, "empty"), &m, &e) && m.at == NULL && m.size == 0);
    file_unmap(&m);

    text t = {0};
    CHECK(file_read(scratch_in(s, "a"), 6, &t, &e) && t.length == 6);
    text_free(&t);
    CHECK(!file_read(scratch_in(s, "a"), 5, &t, &e) && e.code == TS_MEMORY && strstr(e.text, "5 bytes"));
    text_free(&t);
}

static void fails(bool done, err *e, const char *part, const char *why)
{
    CHECK(!done && e->code == TS_FILES);
    CHECK(strstr(e->text, part) && strstr(e->text, why));
    *e = (err){0};
}

static void test_failures(const scratch *s)
{
    err e = {0};
    text t = {0};
    mapping m;
    fails(file_map(scratch_in(s, "none"), &m, &e), &e, "/none'", "No such file");
    fails(file_read(scratch_in(s, "none"), 9, &t, &e), &e, "/none'", "No such file");
    fails(file_map(s->path, &m, &e), &e, s->path, "a folder");
    fails(file_read(s->path, 9, &t, &e), &e, s->path, "directory");
    fails(file_map("/dev/zero", &m, &e), &e, "/dev/zero", "");
    CHECK(mkfifo(scratch_in(s, "pipe"), 0600) == 0);
    fails(file_map(scratch_in(s, "pipe"), &m, &e), &e, "/pipe'", ""); /* and does not wait for a writer */
    fails(file_save(scratch_in(s, "no/such"), "x", 1, &e), &e, "no/such'", "No such file");
    fails(file_save(s->path, "x", 1, &e), &e, s->path, "directory");
    char longest[300];
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = 0;
    fails(file_save(scratch_in(s, longest), "x", 1, &e), &e, "nnn'", "too long");
    unlink(scratch_in(s, "pipe"));
    text_free(&t);
}

/* A limit on file sizes stands for a full disk: the old file stays, the temporary goes. */
static void test_disk_full(const scratch *s)
{
    err e = {0};
    static char large[1 << 16];
    CHECK(file_save(scratch_in(s, "kept"), "old", 3, &e));
    int before = scratch_count(s);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit was, small;
    getrlimit(RLIMIT_FSIZE, &was);
    small = was;
    small.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &small);
    bool done = file_save(scratch_in(s, "kept"), large, sizeof large, &e);
    setrlimit(RLIMIT_FSIZE, &was);
    fails(done, &e, "/kept'", "too large");
    CHECK(holds(scratch_in(s, "kept"), "old"));
    CHECK(scratch_count(s) == before);
}

/* A link in the target's place is replaced; what it points to is not touched. Devices are written, never replaced. */
static void test_links_and_devices(const scratch *s)
{
    err e = {0};
    char target[512];
    snprintf(target, sizeof target, "%s", scratch_in(s, "precious"));
    CHECK(file_save(target, "keep", 4, &e));
    CHECK(symlink(target, scratch_in(s, "link")) == 0);
    CHECK(file_save(scratch_in(s, "link"), "new", 3, &e));
    CHECK(holds(target, "keep") && holds(scratch_in(s, "link"), "new"));
    struct stat st;
    CHECK(file_save("/dev/null", "x", 1, &e) && stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

static void test_folders(const scratch *s)
{
    err e = {0};
    struct stat st;
    CHECK(file_make_folder(scratch_in(s, "p/q//r/"), &e) && stat(scratch_in(s, "p/q/r"), &st) == 0 &&
          S_ISDIR(st.st_mode));
    CHECK(file_make_folder(scratch_in(s, "p/q/r"), &e) && file_make_folder("/", &e) && file_make_folder(".", &e));
    CHECK(file_save(scratch_in(s, "p/file"), "x", 1, &e));
    fails(file_make_folder(scratch_in(s, "p/file"), &e), &e, "p/file'", "Not a directory");
    fails(file_make_folder(scratch_in(s, "p/file/sub"), &e), &e, "p/file/sub'", "Not a directory");
    fails(file_make_folder("", &e), &e, "''", "No such file");
    char here[512];
    CHECK(getcwd(here, sizeof here) && chdir(s->path) == 0);
    CHECK(file_save("bare", "x", 1, &e) && file_make_folder("u/v", &e)); /* relative names */
    CHECK(holds("bare", "x") && chdir(here) == 0);
    CHECK(!err_is(&e));
}

int main(void)
{
    scratch s = scratch_make();
    test_save_and_read(&s);
    test_failures(&s);
    test_disk_full(&s);
    test_links_and_devices(&s);
    test_folders(&s);
    scratch_free(&s);
    if (access("/dev/shm", W_OK) == 0) { /* a link there is none of /dev's own */
        setenv("TMPDIR", "/dev/shm", 1);
        s = scratch_make();
        test_links_and_devices(&s);
        scratch_free(&s);
    }
    return check_done();
}
