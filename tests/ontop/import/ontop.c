/* ontop.c - a file format that the project does not have: "ontop N" is a network of one Relu over N values. */
#include "import/reader.h"

#include <stdlib.h>
#include <string.h>

static bool is(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= 6 && memcmp(head, "ontop ", 6) == 0;
}

static bool read(const char *path, model_file *out, err *e)
{
    text t = {0};
    if (!file_read(path, 100, &t, e))
        return false;
    const int64_t n = strtol(text_str(&t) + 6, NULL, 10);
    text_free(&t);
    static const char *const in[] = {"x"}, *const result[] = {"y"};
    static const ts_port x = {.name = "x", .dtype = TS_F32, .rank = 1}, y = {.name = "y", .dtype = TS_F32, .rank = -1};
    static const step relu = {
        .type = "Relu", .domain = "", .name = "only", .n_in = 1, .n_out = 1, .in = in, .out = result};
    arena *mem = &out->mem;
    out->name = "ontop";
    body *b = &out->main;
    out->n_opset = b->n_input = b->n_output = b->n_step = 1;
    *(out->opset = arena_get(mem, sizeof *out->opset)) = (opset){"", 17};
    *(b->input = arena_get(mem, sizeof x)) = x;
    b->input->dim[0] = n;
    *(b->output = arena_get(mem, sizeof y)) = y;
    *(b->step = arena_get(mem, sizeof relu)) = relu;
    return true;
}

const reader reader_ontop = {.name = "ontop", .is = is, .read = read};
