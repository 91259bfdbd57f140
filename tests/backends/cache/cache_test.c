/* The cache against damage, hostility and bad luck: what it hands out is what was put in, or nothing. */
#include "backends/cache/cache.h"
#include "backends/cache/cache_folder.h"
#include "tests/backends/c/rig.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static digest key_of(int i)
{
    hasher *h = hash_open();
    hash_bytes(h, &i, sizeof i);
    return hash_close(h);
}

/* Contents that anybody can tell from the number. */
static void content(int i, size_t n, char *out)
{
    for (size_t k = 0; k < n; k++)
        out[k] = (char)random_bits((uint64_t)i, k);
}

static cache *opened(const char *folder, text *notes)
{
    cache *c = NULL;
    err e = {0};
    settings env = settings_read();
    if (!CHECK(cache_open(&c, folder, &env, notes, &e)))
        fprintf(stderr, "  %s\n", e.text);
    return c;
}

static char *file_of(rig *g, const char *folder, int i, const char *file)
{
    char hex[65];
    digest key = key_of(i);
    digest_hex(&key, hex);
    return arena_format(&g->mem, "%s/v1/%.2s/%s/%s", folder, hex, hex, file);
}

enum { SIZE = 1000 };

static void put(cache *c, int i)
{
    char bytes[SIZE];
    digest key = key_of(i);
    content(i, SIZE, bytes);
    cache_put(c, &key, bytes, SIZE);
}

/* Found and right; anything else that is found is a failure of the test. */
static bool holds(cache *c, int i)
{
    char bytes[SIZE];
    text got = {0};
    digest key = key_of(i);
    bool found = cache_get(c, &key, &got);
    content(i, SIZE, bytes);
    if (found)
        CHECK(got.length == SIZE && memcmp(got.s, bytes, SIZE) == 0);
    text_free(&got);
    return found;
}

static int notes_count(const text *notes)
{
    int n = 0;
    for (const char *at = text_str(notes); (at = strchr(at, '\n')); at++)
        n++;
    return n;
}

static void test_keeping(rig *g)
{
    text notes = {0};
    char *folder = rig_path(g, "deep/down/cache");
    cache *c = opened(folder, &notes);
    struct stat st;
    CHECK(!holds(c, 1));
    put(c, 1);
    put(c, 1);
    put(c, 2);
    CHECK(holds(c, 1) && holds(c, 2) && !holds(c, 3));
    cache_close(c);
    c = opened(arena_format(&g->mem, "%s//", folder), &notes);
    CHECK(holds(c, 1));
    CHECK(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700);
    CHECK(stat(file_of(g, folder, 1, ""), &st) == 0 && (st.st_mode & 0777) == 0700);
    CHECK(stat(file_of(g, folder, 1, "object"), &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(rig_count(arena_format(&g->mem, "%s/v1/tmp", folder)) == 0);
    digest key = key_of(1);
    cache_remove(c, &key);
    CHECK(!holds(c, 1) && holds(c, 2));
    CHECK(notes.length == 0);
    cache_close(c);
    text_free(&notes);
}

static void flip(const char *path, long at, int bit)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    unsigned char byte;
    MUST(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte = (unsigned char)(byte ^ 1 << bit);
    MUST(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

/* Each byte of the manifest and of the object, one bit: set aside with one note, and whole again after the next put. */
static void test_flips(rig *g)
{
    text notes = {0};
    char *folder = rig_path(g, "flips");
    cache *c = opened(folder, &notes);
    const char *const files[] = {"MANIFEST", "object"};
    int wrong = 0;
    for (int f = 0; f < COUNT(files); f++) {
        struct stat st;
        char *path = file_of(g, folder, 7, files[f]);
        put(c, 7);
        MUST(stat(path, &st) == 0);
        for (long at = 0; at < st.st_size; at += f == 0 ? 1 : 7) {
            flip(path, at, (int)(at % 8));
            notes.length = 0;
            wrong += holds(c, 7) || notes_count(&notes) != 1 || !strstr(notes.s, "K002") || access(path, F_OK) == 0;
            put(c, 7);
            wrong += !holds(c, 7);
        }
    }
    CHECK(wrong == 0);
    cache_close(c);
    text_free(&notes);
}

static void test_tampering(rig *g)
{
    text notes = {0};
    char *folder = rig_path(g, "tampered");
    cache *c = opened(folder, &notes);
    put(c, 1);
    put(c, 2);
    MUST(truncate(file_of(g, folder, 1, "object"), SIZE - 1) == 0);
    CHECK(!holds(c, 1));
    put(c, 1);
    MUST(unlink(file_of(g, folder, 1, "MANIFEST")) == 0);
    CHECK(!holds(c, 1));
    put(c, 1);
    char *one = file_of(g, folder, 1, ""), *two = file_of(g, folder, 2, ""), *aside = rig_path(g, "aside");
    one[strlen(one) - 1] = two[strlen(two) - 1] = 0;
    MUST(rename(one, aside) == 0 && rename(two, one) == 0); /* a whole entry, in the place of another */
    CHECK(!holds(c, 1));
    MUST(symlink(aside, one) == 0);
    CHECK(!holds(c, 1)); /* the right bytes, but through a link */
    put(c, 1);
    CHECK(holds(c, 1));
    MUST(unlink(file_of(g, folder, 1, "object")) == 0 && mkfifo(file_of(g, folder, 1, "object"), 0600) == 0);
    CHECK(!holds(c, 1)); /* and does not hang */
    put(c, 1);
    CHECK(holds(c, 1));
    cache_close(c);
    text_free(&notes);
}

static void refused(const char *folder, const char *reason)
{
    cache *c = NULL;
    err e = {0};
    text notes = {0};
    settings env = settings_read();
    CHECK(!cache_open(&c, folder, &env, &notes, &e) && !c && e.code == TS_FILES);
    if (!CHECK(strstr(e.text, reason) && strstr(e.text, "--cache-dir")))
        fprintf(stderr, "  %s\n", e.text);
    text_free(&notes);
}

static void test_refused(rig *g)
{
    char *folder = rig_path(g, "refused"), *link = rig_path(g, "link"), *slashed = rig_path(g, "link/");
    MUST(mkdir(folder, 0700) == 0 && symlink(folder, link) == 0);
    refused(link, "symbolic link");
    refused(slashed, "symbolic link");
    MUST(chmod(folder, 0770) == 0);
    refused(folder, "others than its owner");
    MUST(chmod(folder, 0702) == 0);
    refused(folder, "others than its owner");
    MUST(chmod(folder, 0755) == 0);
    text notes = {0};
    cache *c = opened(folder, &notes);
    CHECK(c && notes.length == 0); /* that others may look is no danger */
    cache_close(c);
    text_free(&notes);
    char *v1 = rig_path(g, "refused/v1");
    MUST(chmod(v1, 0777) == 0);
    refused(folder, "others than its owner");
    if (geteuid() == 0) {
        MUST(chmod(v1, 0700) == 0 && chown(folder, 65534, 65534) == 0);
        refused(folder, "another user");
    } else {
        refused("/", "another user");
    }
}

/* One note, no cache or a cache that keeps nothing, never an error. */
static void test_unusable(rig *g)
{
    text notes = {0};
    cache *c = opened("none", &notes);
    CHECK(!c && notes.length == 0);
    CHECK(!holds(NULL, 1));
    put(NULL, 1);
    c = opened("/proc/tessera", &notes);
    CHECK(!c && notes_count(&notes) == 1 && strstr(notes.s, "going on without it"));
    notes.length = 0;
    char *file = rig_path(g, "file");
    fclose(fopen(file, "we"));
    CHECK(!opened(file, &notes) && notes_count(&notes) == 1);
    notes.length = 0;
    settings nothing = {.path = "", .temporary = g->temporary};
    err e = {0};
    CHECK(cache_open(&c, NULL, &nothing, &notes, &e) && !c && strstr(notes.s, "HOME"));
    notes.length = 0;
    settings env = {.path = "", .temporary = g->temporary, .home = g->root};
    CHECK(cache_open(&c, NULL, &env, &notes, &e) && c && notes.length == 0);
    CHECK(access(rig_path(g, ".cache/tessera/v1"), F_OK) == 0);
    cache_close(c);
    text_free(&notes);
}

/* In a child, as nobody when we are root, to whom permissions would mean nothing: a cache that may only be read. */
static int read_only(const char *folder)
{
    text notes = {0};
    if (geteuid() == 0)
        MUST(setgid(65534) == 0 && setuid(65534) == 0);
    cache *c = opened(folder, &notes);
    put(c, 1);
    char *v1 = NULL;
    MUST(asprintf(&v1, "%s/v1", folder) > 0 && chmod(v1, 0500) == 0);
    CHECK(holds(c, 1) && notes.length == 0);
    put(c, 2);
    put(c, 3);
    CHECK(notes_count(&notes) == 1 && strstr(notes.s, "cannot be written"));
    CHECK(holds(c, 1) && !holds(c, 2));
    cache_close(c);
    chmod(v1, 0700);
    free(v1);
    text_free(&notes);
    return check_done();
}

/* A limit on file sizes makes writing fail half-way, as a full disk does. */
static int full(const char *folder)
{
    text notes = {0};
    cache *c = opened(folder, &notes);
    signal(SIGXFSZ, SIG_IGN);
    MUST(setrlimit(RLIMIT_FSIZE, &(struct rlimit){SIZE / 2, SIZE / 2}) == 0);
    put(c, 1);
    put(c, 2);
    CHECK(notes_count(&notes) == 1 && !holds(c, 1) && !holds(c, 2));
    char *tmp = NULL;
    MUST(asprintf(&tmp, "%s/v1/tmp", folder) > 0);
    CHECK(rig_count(tmp) == 0);
    cache_close(c);
    free(tmp);
    text_free(&notes);
    return check_done();
}

static void in_child(int (*work)(const char *), const char *folder)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(work(folder));
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void used_at(rig *g, const char *folder, int i, time_t when)
{
    struct timespec t[2] = {{.tv_sec = when}, {.tv_sec = when}};
    MUST(utimensat(AT_FDCWD, file_of(g, folder, i, "."), t, 0) == 0);
}

static void test_prune(rig *g)
{
    enum { N = 8, EACH = SIZE + 8192 };
    text notes = {0};
    char *folder = rig_path(g, "pruned"), *stale = rig_path(g, "pruned/v1/tmp/left"),
         *swept = rig_path(g, "tmp/tessera-abcdef");
    char *other = rig_path(g, "tmp/tessera-others");
    cache *c = opened(folder, &notes);
    for (int i = 0; i < N; i++) {
        put(c, i);
        used_at(g, folder, i, 1000 + i);
    }
    cache_prune(c, N * EACH, 3600);
    for (int i = 0; i < N; i++)
        CHECK(holds(c, i)); /* and now all are used, the first first */
    for (int i = 0; i < N; i++)
        used_at(g, folder, i, i == 0 ? 2000000000 : 1000 + i);
    mkdir(stale, 0700);
    fclose(fopen(rig_path(g, "pruned/v1/tmp/left/object"), "we"));
    cache_prune(c, (N - 1) * EACH, 3600);
    CHECK(access(stale, F_OK) == 0);
    int left = 0;
    for (int i = 0; i < N; i++)
        left += holds(c, i);
    CHECK(left == 5 && holds(c, 0) && !holds(c, 1) && holds(c, N - 1)); /* 3/4 of 7, the oldest gone */
    cache_entries all = {0};
    used_at(g, folder, 4, 1000 + 4);
    cache_list(c, &all);
    CHECK(all.n == 5 && all.bytes == 5 * EACH && all.at[0].used == 1000 + 4 && all.at[4].used == 2000000000);
    free(all.at);
    digest fourth = key_of(4), first = key_of(1);
    CHECK(cache_check(c, &fourth) && !cache_check(c, &first) && !notes.length);
    all = (cache_entries){0};
    cache_list(c, &all);
    CHECK(all.n == 5 && all.at[0].used == 1000 + 4); /* looking at it was no use of it */
    free(all.at);
    MUST(mkdir(swept, 0700) == 0 && mkdir(other, 0700) == 0);
    struct timespec t[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    MUST(utimensat(AT_FDCWD, swept, t, 0) == 0 && utimensat(AT_FDCWD, stale, t, 0) == 0);
    cache_tend(c);
    CHECK(access(stale, F_OK) != 0 && access(swept, F_OK) != 0 && access(other, F_OK) == 0);
    mkdir(swept, 0700);
    MUST(utimensat(AT_FDCWD, swept, t, 0) == 0);
    cache_tend(c);
    CHECK(access(swept, F_OK) == 0); /* once a day */
    rmdir(swept);
    rmdir(other);
    cache_close(c);
    text_free(&notes);
}

static void test_lock(rig *g)
{
    text notes = {0};
    cache *c = opened(rig_path(g, "locked"), &notes), *d = opened(rig_path(g, "locked"), &notes);
    digest one = key_of(1), two = key_of(2);
    int lock = cache_lock(c, &one, 0), free_one = cache_lock(d, &two, 0);
    CHECK(lock >= 0 && free_one >= 0);
    CHECK(cache_lock(d, &one, 0.05) == -1);
    cache_unlock(lock);
    lock = cache_lock(d, &one, 0);
    CHECK(lock >= 0);
    cache_unlock(lock);
    cache_unlock(free_one);
    cache_close(c);
    cache_close(d);
    text_free(&notes);
}

/* Writers and readers of the same few keys, killed at random; every read must be right, and nothing damaged be left. */
static void churn(const char *folder, unsigned seed)
{
    text notes = {0};
    cache *c = opened(folder, &notes);
    for (int i = 0;; i++) {
        int k = (int)(random_bits(seed, (uint64_t)i) % 16);
        if (!holds(c, k))
            put(c, k);
        if (notes.length) {
            fprintf(stderr, "  %s", notes.s);
            _exit(1);
        }
        if (i % 8 == 7) {
            digest key = key_of(k);
            cache_remove(c, &key);
        }
    }
}

static void test_kills(rig *g)
{
    enum { WRITERS = 4, ROUNDS = 6 };
    char *folder = rig_path(g, "killed");
    text notes = {0};
    fflush(stdout);
    for (int round = 0; round < ROUNDS; round++) {
        pid_t pid[WRITERS];
        for (int w = 0; w < WRITERS; w++)
            if ((pid[w] = fork()) == 0)
                churn(folder, (unsigned)(round * WRITERS + w));
        usleep((unsigned)(30000 + random_bits(1, (uint64_t)round) % 40000));
        for (int w = 0; w < WRITERS; w++) {
            int status;
            kill(pid[w], SIGKILL);
            CHECK(waitpid(pid[w], &status, 0) == pid[w] && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
    }
    cache *c = opened(folder, &notes);
    for (int k = 0; k < 16; k++)
        holds(c, k);
    CHECK(notes.length == 0);
    CHECK(rig_count(arena_format(&g->mem, "%s/v1/tmp", folder)) <= WRITERS * ROUNDS);
    cache_prune(c, INT64_MAX, -1);
    CHECK(rig_count(arena_format(&g->mem, "%s/v1/tmp", folder)) == 0);
    cache_close(c);
    text_free(&notes);
}

/* For ever: the entry goes as prune.c removes one, and another takes its place at once. Entry, copy and the removed one
 * are folders; what is kept are the files that all of them share. */
static void renew(rig *g, const char *folder)
{
    static const char *const file[] = {"object", "MANIFEST"};
    char *entry = file_of(g, folder, 1, "");
    char *kept[2], *old[2], *copied[2], *copy = rig_path(g, "copy"), *gone = rig_path(g, "gone");
    for (int i = 0; i < 2; i++) {
        kept[i] = rig_path(g, file[i]);
        old[i] = arena_format(&g->mem, "%s/%s", gone, file[i]);
        copied[i] = arena_format(&g->mem, "%s/%s", copy, file[i]);
        if (link(file_of(g, folder, 1, file[i]), kept[i]) != 0)
            _exit(1);
    }
    for (;;) {
        mkdir(copy, 0700);
        for (int i = 0; i < 2; i++)
            link(kept[i], copied[i]);
        if (rename(entry, gone) == 0)
            for (int i = 0; i < 2; i++)
                unlink(old[i]);
        rename(copy, entry);
        rmdir(gone);
    }
}

/* What was removed while it was read is not damaged, nor is what stands in its place by then. */
static void test_renewed(rig *g)
{
    enum { READS = 20000 };
    char *folder = rig_path(g, "renewed");
    text notes = {0};
    cache *c = opened(folder, &notes);
    int found = 0, status;
    put(c, 1);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0)
        renew(g, folder);
    for (int i = 0; i < READS; i++)
        found += holds(c, 1);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    CHECK(found > 0);
    CHECK_TEXT(text_str(&notes), "");
    cache_close(c);
    text_free(&notes);
}

int main(void)
{
    rig g;
    rig_make(&g);
    test_keeping(&g);
    test_flips(&g);
    test_tampering(&g);
    test_refused(&g);
    test_unusable(&g);
    char *mine = rig_path(&g, "read_only");
    MUST(mkdir(mine, 0700) == 0 && (geteuid() != 0 || chown(mine, 65534, 65534) == 0));
    in_child(read_only, mine);
    in_child(full, rig_path(&g, "full"));
    test_prune(&g);
    test_lock(&g);
    test_kills(&g);
    test_renewed(&g);
    rig_free(&g);
    return check_done();
}
