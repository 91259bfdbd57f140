/* External data: what lies in the model's folder is read, what does not is refused, by name, by link and by kind. */
/* ctest: fast */
#include "import/external.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static scratch folder;

static const char *at(const char *name)
{
    static char path[4][256];
    static int turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder.path, name);
    return p;
}

static void write_file(const char *name, const char *content)
{
    CHECK(file_save(at(name), content, strlen(content), NULL));
}

/* Asks for bytes 2..4 of location beside model; the error in e. */
static bool get(const char *model, const char *location, err *e)
{
    arena mem = {0};
    external x;
    external_range r = {location, 2, 3};
    const unsigned char *p = NULL;
    *e = (err){0};
    bool ok = external_open(&x, &mem, at(model), e) && external_get(&x, &r, "tensor \"w\"", &p, e);
    external_close(&x);
    if (ok)
        CHECK(!memcmp(p, "cde", 3));
    external_free(&x);
    arena_free(&mem);
    return ok;
}

static void refuse(const char *model, const char *location, const char *part)
{
    err e;
    CHECK(!get(model, location, &e) && e.code == TS_BAD_INPUT);
    if (!CHECK(strstr(e.text, part)))
        fprintf(stderr, "  said: %s\n  want: %s\n", e.text, part);
}

static void test_names(void)
{
    err e;
    CHECK(get("m/model.onnx", "data.bin", &e) && get("m/model.onnx", "sub/data.bin", &e));
    CHECK(get("m/model.onnx", "./data.bin", &e) && get("m/model.onnx", "sub//data.bin", &e));
    static const char *const outside[] = {"../secret", "sub/../../secret", "sub/../data.bin", "..",
                                          "",          "/etc/passwd",      "sub//../secret",  "sub/"};
    for (int i = 0; i < COUNT(outside); i++)
        refuse("m/model.onnx", outside[i], "X001 tensor \"w\": external file \"");
    refuse("m/model.onnx", "missing.bin", "X002 tensor \"w\": external file \"missing.bin\": No such file");
    refuse("m/model.onnx", "sub", "X002 tensor \"w\": external file");
    refuse("m/model.onnx", "pipe", "X002 tensor \"w\": external file");
    refuse("m/model.onnx", "short.bin",
           "X003 tensor \"w\": needs 3 bytes from byte 2 on, external file \"short.bin\" has 4");
}

static void test_links(void)
{
    err e;
    CHECK(get("m/model.onnx", "inside", &e) && get("m/model.onnx", "hard", &e)); /* stays below; is the file */
    refuse("m/model.onnx", "out", "X001"); /* links that do not: relative, absolute, through a folder, to /proc */
    refuse("m/model.onnx", "absolute", "X001");
    refuse("m/model.onnx", "up/secret", "X001");
    refuse("m/model.onnx", "magic", "X001");
    refuse("m/model.onnx", "loop", "X001");
    /* Model and data are links into one folder of blobs. */
    CHECK(get("snapshot/model.onnx", "data.bin", &e));
    refuse("snapshot/model.onnx", "elsewhere.bin", "X001"); /* not among the blobs */
    CHECK(get("snapshot/other.onnx", "sub/data.bin", &e));  /* a link to a model: beside that model */
    refuse("snapshot/other.onnx", "out", "X001");           /* and nowhere else */
}

static void test_stepwise(void)
{
    const int base = open(at("m"), O_PATH | O_DIRECTORY);
    static const char *const good[] = {"data.bin", "sub/data.bin", "./data.bin", "sub///data.bin"};
    static const char *const bad[] = {"inside", "out", "absolute", "up/secret", "missing", "data.bin/x", "loop"};
    for (int i = 0; i < COUNT(good); i++) {
        const int fd = external_descend_stepwise(base, good[i]);
        CHECK(fd >= 0);
        close(fd);
    }
    for (int i = 0; i < COUNT(bad); i++)
        CHECK(external_descend_stepwise(base, bad[i]) < 0);
    close(base);
}

static void test_ranges(void)
{
    arena mem = {0};
    external x;
    const unsigned char *p, *q;
    const external_range rest = {"data.bin", 6, 2}, all = {"data.bin", 0, 8}, none = {"empty.bin", 0, 0},
                         more = {"data.bin", 7, 2}, wrap = {"data.bin", 4, UINT64_MAX - 3},
                         far = {"data.bin", UINT64_MAX - 1, 1};
    CHECK(external_open(&x, &mem, at("m/model.onnx"), NULL));
    CHECK(external_get(&x, &rest, "w", &p, NULL));
    CHECK(external_get(&x, &all, "w", &q, NULL) && q + 6 == p && x.n_file == 1); /* mapped once */
    CHECK(external_get(&x, &none, "w", &p, NULL));
    CHECK(!external_get(&x, &more, "w", &p, NULL) && !external_get(&x, &wrap, "w", &p, NULL) &&
          !external_get(&x, &far, "w", &p, NULL));
    external_free(&x);
    arena_free(&mem);
}

int main(void)
{
    folder = scratch_make();
    static const char *const folders[] = {"m", "m/sub", "snapshot", "blobs", "other"};
    for (int i = 0; i < COUNT(folders); i++)
        CHECK(file_make_folder(at(folders[i]), NULL));
    static const char *const full[] = {"secret", "m/data.bin", "m/sub/data.bin", "blobs/2", "other/3"};
    for (int i = 0; i < COUNT(full); i++)
        write_file(full[i], "abcdefgh");
    write_file("m/short.bin", "abcd");
    write_file("m/empty.bin", "");
    write_file("m/model.onnx", "x");
    write_file("blobs/1", "x");
    CHECK(!mkfifo(at("m/pipe"), 0600));
    CHECK(!link(at("secret"), at("m/hard")) && !symlink("sub/data.bin", at("m/inside")) &&
          !symlink("../secret", at("m/out")) && !symlink(at("secret"), at("m/absolute")));
    CHECK(!symlink("..", at("m/up")) && !symlink("/proc/self/exe", at("m/magic")) && !symlink("loop", at("m/loop")));
    CHECK(!symlink("../blobs/1", at("snapshot/model.onnx")) && !symlink("../blobs/2", at("snapshot/data.bin")) &&
          !symlink("../other/3", at("snapshot/elsewhere.bin")) &&
          !symlink("../m/model.onnx", at("snapshot/other.onnx")));
    test_names();
    test_links();
    test_stepwise();
    test_ranges();
    scratch_free(&folder);
    return check_done();
}
