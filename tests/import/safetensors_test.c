/* safetensors: every tensor where the header says, every byte in one tensor, and the reason where not. */
/* ctest: fast */
#include "import/safetensors.h"
#include "tests/check.h"
#include "tests/import/weights_file.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

static char path[160];

static held *read_path(arena *mem, mapping *map, int *n, err *e)
{
    *e = (err){0};
    *n = 0;
    CHECK(file_map(path, map, e));
    return safetensors_read(mem, "w.safetensors", map, n, e);
}

static void test_reads(void)
{
    arena mem = {0};
    mapping map;
    err e;
    int n;
    const float w[] = {1, 2, 3, 4, 5, 6};
    weights_file(path,
                 "{\"__metadata__\":{\"by\":\"hand\"},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]},"
                 "\"empty\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[0,0]},"
                 "\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}   ",
                 w, sizeof w);
    const held *h = read_path(&mem, &map, &n, &e);
    if (CHECK(h && n == 3)) {
        CHECK_TEXT(h[0].name, "b");
        CHECK(h[0].value.rank == 1 && load_real(TS_F32, h[0].value.data, 1) == 6);
        CHECK(h[1].value.dtype == TS_I64 && ts_array_count(&h[1].value) == 0);
        CHECK(h[2].value.dim[1] == 2 && load_real(TS_F32, h[2].value.data, 0) == 1);
        CHECK((const unsigned char *)h[2].value.data > map.at); /* mapped, not copied */
    }
    file_unmap(&map);
    arena_free(&mem);
    weights_file(path, "{\"q\":{\"dtype\":\"F8_OTHER\",\"shape\":[4],\"data_offsets\":[0,4]}}", w, 4);
    h = read_path(&mem, &map, &n, &e);
    CHECK(h && n == 1 && h[0].refused); /* well-formed, but of no dtype here */
    file_unmap(&map);
    arena_free(&mem);
}

static void refuse(const char *part)
{
    arena mem = {0};
    mapping map;
    err e;
    int n;
    CHECK(!read_path(&mem, &map, &n, &e) && e.code == TS_BAD_INPUT);
    if (!CHECK(strstr(e.text, part) && strstr(e.text, "w.safetensors")))
        fprintf(stderr, "  said: %s\n  want: %s\n", e.text, part);
    file_unmap(&map);
    arena_free(&mem);
}

static void test_refuses(void)
{
    static const struct {
        const char *header;
        int bytes;
        const char *said;
    } row[] = {
        {"[]", 0, "W002 the header of 2 bytes begins with byte 0x5b, { expected"},
        {"{\"a\":", 0, "the JSON text ends too early"},
        {"{\"a\":{},\"a\":{}}", 0, "the key \"a\" twice"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[10,5]}}", 16, "W004 offsets 10...5 are reversed"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "W004 data_offsets has 1 entries"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", 4, "W005 data ends at byte 8 of 4"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[2,6]}}",
         8, "W005 shares bytes 2...4 with another tensor"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"c\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}",
         12, "W006 hole of 4 bytes before it"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 12, "W006 8 bytes behind the last tensor"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,4]}}", 4,
         "W007 4 bytes of data, dtype and shape need 12"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
         "W007 a whole number that is not negative"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", 4,
         "W007 a whole number that is not negative"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4294967296],\"data_offsets\":[0,4]}}", 4,
         "W007 dim[1] = 4294967296 makes more than 2^63 - 1 elements"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
         "W007 9 entries, at most 8 expected"},
        {"{\"a\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
         "W008 dtype \"F31\" is none of the format's"},
        {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "W008 no dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"more\":1}}", 4, "unknown key \"more\""},
        {"{\"__metadata__\":{\"n\":1}}", 0, "W009 metadata as text expected, not 1"},
        {"{\"a\":7}", 0, "an object expected, not a number"},
        {"{\"\xC3\":{}}", 0, "not UTF-8"},
    };
    for (int i = 0; i < COUNT(row); i++) {
        static const char data[16];
        weights_file(path, row[i].header, data, (size_t)row[i].bytes);
        refuse(row[i].said);
    }
    CHECK(file_save(path, "1234", 4, NULL));
    refuse("W001 4 bytes are no safetensors file");
    CHECK(file_save(path, "\xFF\xFF\xFF\xFF\0\0\0\0{}", 10, NULL));
    refuse("W001 header of 4294967295 bytes, the file has 10 and the limit is 100000000");
}

int main(void)
{
    scratch folder = scratch_make();
    snprintf(path, sizeof path, "%s/w.safetensors", folder.path);
    test_reads();
    test_refuses();
    scratch_free(&folder);
    return check_done();
}
