/* The ONNX reader on files written here: what it makes of good ones, and what it says of bad ones. */
#include "import/reader.h"
#include "tests/check.h"
#include "tests/import/wire.h"
#include "tests/scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char path[160];
extern const reader reader_onnx;

static bool read_text(text *file, model_file *f, err *e)
{
    *f = (model_file){0};
    *e = (err){0};
    CHECK(file_save(path, text_str(file), file->length, NULL));
    text_free(file);
    f->limits = limits_make();
    return reader_onnx.read(path, f, e);
}

/* The model must be refused with the code and words given, the file's name in front. */
static void refuse(text *file, ts_code code, const char *part)
{
    model_file f;
    err e;
    CHECK(!read_text(file, &f, &e) && e.code == code && !strncmp(e.text, path, strlen(path)));
    if (!CHECK(strstr(e.text, part)))
        fprintf(stderr, "  said: %s\n  want: %s\n", e.text, part);
    model_file_free(&f);
}

static void refuse_model(wire_model *m, ts_code code, const char *part)
{
    text file = {0};
    wire_end(m, &file);
    refuse(&file, code, part);
}

static void begin(wire_model *m)
{
    wire_begin(m);
    wire_input(m, "x f32 batch,3");
    wire_output(m, "y f32 batch,3");
}

static void test_reads(void)
{
    wire_model m;
    text file = {0};
    model_file f;
    err e;
    const float w[] = {1, 2, 3};
    begin(&m);
    wire_input(&m, "w f32 3"); /* given below: a default, no input */
    wire_input(&m, "z i64 ?,7,-1,0");
    wire_input(&m, "s f32");
    wire_input(&m, "u f32 *");
    wire_tensor(&m, "w", 1, 1, (int64_t[]){3}, w, sizeof w);
    wire_node(&m, "one", "Add x,w t alpha=0.5 axes=[1,-2] mode=up axis=-1");
    wire_node(&m, "two", "ai.onnx.Clip t,-,w y,-");
    wire_node(&m, "three", "com.acme.Foo t u2 scales=[0.5,2.0]");
    wire_end(&m, &file);
    if (!CHECK(read_text(&file, &f, &e)))
        fprintf(stderr, "  said: %s\n", e.text);
    CHECK(f.n_opset == 1 && f.opset[0].version == 17 && !*f.opset[0].domain);
    CHECK(f.main.n_input == 4 && f.main.n_output == 1 && f.main.n_held == 1 && f.main.n_step == 3 && f.n_refused == 0);
    CHECK_TEXT(f.main.input[0].name, "x");
    CHECK(f.main.input[0].rank == 2 && f.main.input[0].dim[0] == -1 && f.main.input[0].dim[1] == 3 &&
          !f.main.input[0].symbol[1]);
    CHECK_TEXT(f.main.input[0].symbol[0], "batch");
    CHECK(f.main.input[1].dtype == TS_I64 && f.main.input[1].rank == 4 && f.main.input[1].dim[1] == 7 &&
          f.main.input[1].dim[3] == 0);
    CHECK_TEXT(f.main.input[1].symbol[0], "z.0"); /* free dimensions without a name get one */
    CHECK_TEXT(f.main.input[1].symbol[2], "z.2");
    CHECK(f.main.input[2].rank == 0 && f.main.input[3].rank == -1);
    CHECK(f.main.held[0].value.dtype == TS_F32 && f.main.held[0].value.dim[0] == 3 &&
          !memcmp(f.main.held[0].value.data, w, sizeof w));
    CHECK((const unsigned char *)f.main.held[0].value.data > f.map.at); /* in the mapping, not copied */
    const step *one = &f.main.step[0], *two = &f.main.step[1], *three = &f.main.step[2];
    CHECK(one->n_attr == 4 && one->attr[0].kind == 'f' && one->attr[0].f == 0.5 && one->attr[1].kind == 'I' &&
          one->attr[1].ints[1] == -2 && one->attr[3].kind == 'i' && one->attr[3].i == -1);
    CHECK_TEXT(one->attr[2].s, "up");
    CHECK(!*two->domain && two->n_in == 3 && two->n_out == 2);
    CHECK_TEXT(two->in[1], "");
    CHECK_TEXT(three->domain, "com.acme");
    CHECK(three->attr[0].kind == 'F' && three->attr[0].reals[1] == 2);
    model_file_free(&f);
}

/* ---- tensors: every element type, as raw bytes and in its typed field ---- */
static void typed_model(text *file, int code, int field, const text *payload, int64_t count)
{
    wire_model m;
    text t = {0};
    begin(&m);
    wire_int(&t, TENSOR_DIMS, (uint64_t)count);
    wire_int(&t, TENSOR_TYPE, (uint64_t)code);
    wire_text(&t, TENSOR_NAME, "w");
    if (payload)
        wire_bytes(&t, field, text_str(payload), payload->length);
    wire_inner(&m.graph, GRAPH_TENSOR, &t);
    wire_end(&m, file);
}

static void test_typed(void)
{
    static const struct {
        int type, field;
        dtype dtype;
        int64_t value[3];
    } row[] = {
        {6, TENSOR_INT32S, TS_I32, {-5, 0, 2147483647}},
        {5, TENSOR_INT32S, TS_I16, {-32768, 1, 32767}},
        {3, TENSOR_INT32S, TS_I8, {-128, 1, 127}},
        {4, TENSOR_INT32S, TS_U16, {0, 1, 65535}},
        {2, TENSOR_INT32S, TS_U8, {0, 1, 255}},
        {9, TENSOR_INT32S, TS_BOOL, {0, 1, 1}},
        {7, TENSOR_INT64S, TS_I64, {INT64_MIN, -1, 1 << 20}},
        {12, TENSOR_UINT64S, TS_U32, {0, 1, 4294967295}},
        {13, TENSOR_UINT64S, TS_U64, {-1, 0, 5}},
    };
    for (int i = 0; i < COUNT(row); i++) {
        text packed = {0}, file = {0};
        model_file f;
        err e;
        for (int k = 0; k < 3; k++)
            wire_varint(&packed, (uint64_t)row[i].value[k]);
        typed_model(&file, row[i].type, row[i].field, &packed, 3);
        text_free(&packed);
        if (!CHECK(read_text(&file, &f, &e)))
            fprintf(stderr, "  %s: %s\n", ts_dtype_name(row[i].dtype), e.text);
        else if (CHECK(f.main.n_held == 1 && f.main.held[0].value.dtype == row[i].dtype))
            for (int k = 0; k < 3; k++)
                CHECK(load_whole(row[i].dtype, f.main.held[0].value.data, k) == row[i].value[k]);
        model_file_free(&f);
    }
    text half = {0}, file = {0}, reals = {0};
    model_file f;
    err e;
    wire_varint(&half, 0x3E00); /* 1.5 as the bits of a half */
    typed_model(&file, 10, TENSOR_INT32S, &half, 1);
    CHECK(read_text(&file, &f, &e) && load_real(TS_F16, f.main.held[0].value.data, 0) == 1.5);
    model_file_free(&f);
    text_free(&half);
    text_bytes(&reals, (const char *)(const double[]){-2.5, 1e300}, 16);
    typed_model(&file, 11, TENSOR_DOUBLES, &reals, 2);
    CHECK(read_text(&file, &f, &e) && load_real(TS_F64, f.main.held[0].value.data, 1) == 1e300);
    model_file_free(&f);
    text_free(&reals);
}

static void test_bad_tensors(void)
{
    static const struct {
        int type, field;
        const char *bytes;
        int n;
        int64_t count;
        const char *said;
    } row[] = {
        {1, TENSOR_RAW, "12345678", 8, 3, "M022 tensor \"w\": 8 bytes of raw data, shape needs 12"},
        {1, TENSOR_FLOATS, "12345678", 8, 3, "M022 tensor \"w\": 8 bytes of float data, shape needs 12"},
        {1, TENSOR_INT64S, "\1\2", 2, 2, "M022 tensor \"w\": int64 data for elements of type f32"},
        {7, TENSOR_INT64S, "\1\2", 2, 3, "M022 tensor \"w\": 2 values of int64 data, shape needs 3"},
        {7, TENSOR_INT64S, "\1\x80", 2, 2, "M022 tensor \"w\": element 1 of its int64 data is not a value of i64"},
        {2, TENSOR_INT32S, "\1\x80\2", 3, 2, "M022 tensor \"w\": element 1 of its int32 data is not a value of u8"},
        {9, TENSOR_RAW, "\0\1\2", 3, 3, "M022 tensor \"w\": element 2 is 2, a bool is 0 or 1"},
        {9, TENSOR_INT32S, "\0\1\2", 3, 3, "M022 tensor \"w\": element 2 of its int32 data is not a value of bool"},
        {1, TENSOR_RAW, "", 0, -5, "M020 tensor \"w\": dim[0] = -5"},
        {1, TENSOR_RAW, "", 0, INT64_C(1) << 41,
         "M021 tensor \"w\": dim[0] = 2199023255552 makes more than 2^40 elements"},
        {0, TENSOR_RAW, "", 0, 1, "M019 tensor \"w\": element type 0 is none of the format's"},
        {99, TENSOR_RAW, "", 0, 1, "M019 tensor \"w\": element type 99 is none of the format's"},
    };
    for (int i = 0; i < COUNT(row); i++) {
        text payload = {0}, file = {0};
        text_bytes(&payload, row[i].bytes, (size_t)row[i].n);
        typed_model(&file, row[i].type, row[i].field, &payload, row[i].count);
        refuse(&file, TS_BAD_INPUT, row[i].said);
        text_free(&payload);
    }
    wire_model m;
    begin(&m);
    wire_tensor(&m, "w", 1, 9, (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, "1234", 4);
    refuse_model(&m, TS_BAD_INPUT, "M020 tensor \"w\": rank 9, limit 8");
    begin(&m);
    wire_tensor(&m, "w", 1, 4, (int64_t[]){1 << 20, 1 << 20, 1 << 20, 1 << 20}, "1234", 4);
    refuse_model(&m, TS_BAD_INPUT, "M021 tensor \"w\"");
    text t = {0};
    begin(&m);
    wire_int(&t, TENSOR_TYPE, 1);
    wire_bytes(&t, TENSOR_RAW, "1234", 4);
    wire_bytes(&t, TENSOR_FLOATS, "1234", 4);
    wire_inner(&m.graph, GRAPH_TENSOR, &t);
    refuse_model(&m, TS_BAD_INPUT, "M022 tensor \"\": both raw and float data");
}

/* ---- external data ---- */
static void refuse_external(const char *location, const char *offset, const char *length, const char *said)
{
    wire_model m;
    begin(&m);
    wire_external(&m, "w", (int64_t[]){1, 4}, location, offset, length);
    refuse_model(&m, TS_BAD_INPUT, said);
}

static void test_external(void)
{
    char data[200];
    const float w[] = {0, 1, 2, 3, 4};
    const char *name = strrchr(path, '/') + 1;
    snprintf(data, sizeof data, "%s.data", path);
    CHECK(file_save(data, w, sizeof w, NULL));
    snprintf(data, sizeof data, "%s.data", name);
    for (int i = 0; i < 2; i++) {
        wire_model m;
        text file = {0};
        model_file f;
        err e;
        begin(&m);
        wire_external(&m, "w", (int64_t[]){1, 4}, data, "4", i ? "16" : NULL);
        wire_end(&m, &file);
        if (CHECK(read_text(&file, &f, &e)))
            CHECK(load_real(TS_F32, f.main.held[0].value.data, 0) == 1 &&
                  load_real(TS_F32, f.main.held[0].value.data, 3) == 4);
        model_file_free(&f);
    }
    refuse_external(data, "8", "16", "X003 tensor \"w\": needs 16 bytes from byte 8 on");
    refuse_external(data, "18446744073709551615", "16",
                    "X003 tensor \"w\": external offset \"18446744073709551615\" is not a number");
    refuse_external(data, "0", "12", "M022 tensor \"w\": 12 bytes of external data, shape needs 16");
    refuse_external(data, "0x0", NULL, "X003");
    refuse_external("../secret", NULL, NULL,
                    "X001 tensor \"w\": external file \"../secret\" leaves the model's folder");
    refuse_external("/etc/passwd", NULL, NULL, "X001");
    refuse_external("none.bin", NULL, NULL, "X002");
    refuse_external(NULL, "0", NULL, "X002 tensor \"w\": external data without a location");
    snprintf(data, sizeof data, "%s.data", path);
    unlink(data);
}

/* ---- versions, graph, nodes ---- */
static void test_versions(void)
{
    wire_model m;
    text o = {0}, file = {0};
    model_file f;
    err e;
    begin(&m);
    m.opset = 99;
    refuse_model(&m, TS_UNSUPPORTED, "M010 opset 99 of domain \"\" is newer than 28");
    begin(&m);
    m.opset = 0;
    refuse_model(&m, TS_BAD_INPUT, "M010 the model names no opset");
    begin(&m);
    wire_text(&o, 1, "ai.onnx");
    wire_int(&o, 2, 13);
    wire_inner(&m.opsets, MODEL_OPSET, &o);
    refuse_model(&m, TS_BAD_INPUT, "M010 domain \"\" has two opsets, 17 and 13");
    begin(&m);
    wire_text(&o, 1, "ai.onnx");
    wire_int(&o, 2, 17);
    wire_inner(&m.opsets, MODEL_OPSET, &o);
    wire_text(&m.opsets, 2, "two\nlines"); /* who wrote it */
    wire_end(&m, &file);
    CHECK(read_text(&file, &f, &e) && f.n_opset == 1 && f.opset[0].version == 17);
    model_file_free(&f);
    begin(&m);
    wire_int(&o, 2, (uint64_t)-3);
    m.opset = 0;
    wire_inner(&m.opsets, MODEL_OPSET, &o);
    refuse_model(&m, TS_BAD_INPUT, "M010 opset -3 of domain \"\" is no version");
    wire_int(&file, MODEL_IR, 77);
    wire_inner(&file, MODEL_GRAPH, &o);
    refuse(&file, TS_UNSUPPORTED, "M010 IR version 77 is newer than 14");
    wire_int(&file, MODEL_IR, 8);
    refuse(&file, TS_BAD_INPUT, "M011 model has no graph");
    wire_begin(&m);
    wire_input(&m, "x f32 3");
    refuse_model(&m, TS_BAD_INPUT, "M011 the model's graph has no outputs");
    wire_begin(&m);
    for (int i = 0; i <= 4096; i++)
        wire_output(&m, "y f32 3");
    refuse_model(&m, TS_BAD_INPUT, "M005 4097 outputs, at most 4096 expected");
    wire_begin(&m);
    wire_output(&m, "y f32 3");
    for (int i = 0; i <= 4096; i++)
        wire_input(&m, "x f32 3");
    refuse_model(&m, TS_BAD_INPUT, "M005 4097 inputs and initializers, at most 4096 inputs expected");
    begin(&m);
    wire_input(&m, "v f32 3,-7");
    refuse_model(&m, TS_BAD_INPUT, "M020 input \"v\": dim[1] = -7");
    begin(&m);
    wire_input(&m, "v f32 1,1,1,1,1,1,1,1,1");
    refuse_model(&m, TS_BAD_INPUT, "M020 input \"v\": rank 9, limit 8");
}

/* docs/models.md says which versions are read. */
static void test_page(void)
{
    const char *source = getenv("SOURCE");
    char where[500], said[100];
    text page = {0};
    snprintf(where, sizeof where, "%s/docs/models.md", source ? source : ".");
    snprintf(said, sizeof said, "\nOpset 1 to %d of the standard domain.", NEWEST_OPSET);
    CHECK(file_read(where, 1 << 20, &page, &(err){0}) && strstr(text_str(&page), said));
    text_free(&page);
}

static void test_bad_nodes(void)
{
    wire_model m;
    text n = {0}, a = {0};
    begin(&m);
    wire_node(&m, "n", "Add x,x y axis=1 axis=2");
    refuse_model(&m, TS_BAD_INPUT, "node[0] \"n\" Add: M017 attribute axis is given twice");
    begin(&m);
    wire_text(&a, ATTRIBUTE_NAME, "k");
    wire_int(&a, ATTRIBUTE_KIND, 77);
    wire_inner(&n, NODE_ATTRIBUTE, &a);
    wire_text(&n, NODE_TYPE, "Add");
    wire_inner(&m.graph, GRAPH_NODE, &n);
    refuse_model(&m, TS_BAD_INPUT, "M017 attribute k: kind 77 is none of the format's");
    begin(&m);
    wire_text(&n, NODE_NAME, "n");
    wire_inner(&m.graph, GRAPH_NODE, &n);
    refuse_model(&m, TS_BAD_INPUT, "node[0] \"n\" : M015 a node without an operator");
    begin(&m);
    wire_text(&a, ATTRIBUTE_NAME, "k");
    wire_text(&a, ATTRIBUTE_REF, "outer");
    wire_inner(&n, NODE_ATTRIBUTE, &a);
    wire_text(&n, NODE_TYPE, "Add");
    wire_inner(&m.graph, GRAPH_NODE, &n);
    refuse_model(&m, TS_BAD_INPUT, "M017 attribute k: refers to a function's attribute");
}

/* Valid, but beyond this program: read, and put on the list of what is not supported. */
static void test_refused(void)
{
    wire_model m;
    text n = {0}, a = {0}, file = {0}, block = {0};
    model_file f;
    err e;
    begin(&m);
    wire_input(&m, "c c64 3");
    wire_tensor(&m, "names", 8, 0, NULL, "", 0);
    wire_text(&a, ATTRIBUTE_NAME, "body");
    wire_text(&a, ATTRIBUTE_GRAPH, "");
    wire_int(&a, ATTRIBUTE_KIND, 5);
    wire_inner(&n, NODE_ATTRIBUTE, &a);
    wire_text(&n, NODE_NAME, "loop");
    wire_text(&n, NODE_TYPE, "Loop");
    wire_inner(&m.graph, GRAPH_NODE, &n);
    wire_node(&m, "call", "local.Block x y");
    wire_text(&m.graph, GRAPH_SPARSE, "");
    wire_end(&m, &file);
    wire_text(&block, 1, "Block");
    wire_text(&block, 10, "local");
    wire_inner(&file, MODEL_FUNCTION, &block);
    CHECK(read_text(&file, &f, &e) && f.n_refused == 1 && f.main.n_held == 2 && f.main.n_step == 2);
    CHECK_TEXT(f.refused[0], "input \"c\": elements of type complex64");
    CHECK_TEXT(f.main.held[0].refused, "elements of type string");
    CHECK_TEXT(f.main.held[1].refused, "M030 a sparse tensor");
    CHECK(f.main.step[0].n_body == 1 && f.main.step[0].attr[0].kind == 'g' && !f.main.step[0].refused);
    CHECK(f.n_function == 1);
    CHECK_TEXT(f.function[0].name, "Block");
    CHECK_TEXT(f.function[0].domain, "local");
    model_file_free(&f);
}

/* A file of 500 MB, nearly all of it one tensor: reading it touches little of it. */
static void test_large(void)
{
    enum { SIZE = 500000000 };
    text t = {0}, g = {0}, o = {0}, file = {0};
    wire_int(&o, 2, 17);
    wire_int(&file, MODEL_IR, 8);
    wire_inner(&file, MODEL_OPSET, &o);
    wire_int(&t, TENSOR_TYPE, 1);
    wire_int(&t, TENSOR_DIMS, SIZE / 4);
    wire_varint(&t, TENSOR_RAW << 3 | 2);
    wire_varint(&t, SIZE);
    wire_text(&o, 1, "y");
    wire_inner(&g, GRAPH_OUTPUT, &o);
    wire_varint(&g, GRAPH_TENSOR << 3 | 2);
    wire_varint(&g, t.length + SIZE);
    wire_varint(&file, MODEL_GRAPH << 3 | 2);
    wire_varint(&file, g.length + t.length + SIZE);
    text_bytes(&file, text_str(&g), g.length);
    text_bytes(&file, text_str(&t), t.length);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(write(fd, file.s, file.length) == (ssize_t)file.length && !ftruncate(fd, (off_t)(file.length + SIZE)));
    close(fd);
    struct rusage before, after;
    model_file f = {.limits = limits_make()};
    err e = {0};
    getrusage(RUSAGE_SELF, &before);
    if (!CHECK(reader_onnx.read(path, &f, &e)))
        fprintf(stderr, "  said: %s\n", e.text);
    getrusage(RUSAGE_SELF, &after);
    CHECK(f.main.n_held == 1 && ts_array_count(&f.main.held[0].value) == SIZE / 4);
    CHECK(after.ru_maxrss - before.ru_maxrss < 20000); /* kilobytes */
    model_file_free(&f);
    text_free(&t);
    text_free(&g);
    text_free(&file);
}

int main(void)
{
    scratch folder = scratch_make();
    snprintf(path, sizeof path, "%s/model.onnx", folder.path);
    test_reads();
    test_typed();
    test_bad_tensors();
    test_external();
    test_versions();
    test_page();
    test_bad_nodes();
    test_refused();
    test_large();
    scratch_free(&folder);
    return check_done();
}
