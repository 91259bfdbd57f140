/* Text: growth, indentation, and the two escapes on hostile bytes. */
/* ctest: fast */
#include "graph/base/base.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

typedef void escape(text *t, const char *s);

static void same(escape *f, const char *in, const char *want)
{
    text t = {0};
    f(&t, in);
    CHECK_TEXT(text_str(&t), want);
    text_free(&t);
}

static void test_growth(void)
{
    text t = {0};
    CHECK_TEXT(text_str(&t), "");
    for (int i = 0; i < 10000; i++)
        text_add(&t, "%04d", i);
    CHECK(t.length == 40000 && strlen(t.s) == 40000);
    CHECK(strncmp(t.s + 4 * 1234, "1234", 4) == 0);
    text_bytes(&t, "a\0b", 3);
    CHECK(t.length == 40003 && memcmp(t.s + 40000, "a\0b", 4) == 0);
    text_free(&t);
    CHECK(t.length == 0 && t.s == NULL);
    char *empty = text_take(&t);
    CHECK_TEXT(empty, "");
    ts_free(empty);
    text_add(&t, "x");
    char *taken = text_take(&t);
    CHECK_TEXT(taken, "x");
    CHECK_TEXT(text_str(&t), "");
    ts_free(taken);
}

static void test_lines(void)
{
    text t = {0};
    text_line(&t, "a {");
    t.depth = 2;
    text_line(&t, "b%d;", 1);
    text_line(&t, "%s", "");
    t.depth = 0;
    text_line(&t, "}");
    CHECK_TEXT(t.s, "a {\n        b1;\n\n}\n");
    text_free(&t);
}

static void test_json(void)
{
    same(text_json, "", "\"\"");
    same(text_json, "a\"b\\c/\n\t\x01\x7f", "\"a\\\"b\\\\c/\\n\\u0009\\u0001\\u007f\"");
    same(text_json, "\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E\"");
    /* lone continuation, truncated, overlong, surrogate, beyond the last character: a replacement for each byte */
    same(text_json, "\x80", "\"\xEF\xBF\xBD\"");
    same(text_json, "x\xE2\x82", "\"x\xEF\xBF\xBD\xEF\xBF\xBD\"");
    same(text_json, "\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
    same(text_json, "\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    same(text_json, "\xF4\x90\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    same(text_json, "\xFF", "\"\xEF\xBF\xBD\"");
}

static void test_safe(void)
{
    same(text_safe, "plain, \xC3\xA9 and \xF0\x9D\x84\x9E", "plain, \xC3\xA9 and \xF0\x9D\x84\x9E");
    same(text_safe, "\x1b[31m\r\n\t\x7f", "\\x1b[31m\\x0d\\x0a\\x09\\x7f");
    same(text_safe, "\xC2\x9B", "\\xc2\\x9b"); /* C1: the one-character CSI */
    same(text_safe,
         "a\xE2\x80\xAE"
         "b",
         "a\\xe2\\x80\\xae"
         "b");                                                   /* right-to-left override */
    same(text_safe, "\xE2\x81\xA6", "\\xe2\\x81\\xa6");          /* isolate */
    same(text_safe, "\xD8\x9C", "\\xd8\\x9c");                   /* Arabic letter mark */
    same(text_safe, "\xEF\xBB\xBF", "\\xef\\xbb\\xbf");          /* byte order mark */
    same(text_safe, "\xC2\xAD", "\\xc2\\xad");                   /* soft hyphen */
    same(text_safe, "\xF3\xA0\x81\x81", "\\xf3\\xa0\\x81\\x81"); /* a tag character, which nothing shows */
    same(text_safe, "\xFFz\xC0\x80\xE2\x82", "\\xffz\\xc0\\x80\\xe2\\x82");
}

static void test_line_next(void)
{
    char line[4];
    const char *at = "a\n\nlonger\nb", *none = NULL;
    CHECK(!line_next(&none, line, sizeof line));
    static const char *const want[] = {"a", "", "lon", "b"};
    for (int i = 0; i < 4; i++) {
        CHECK(line_next(&at, line, sizeof line));
        CHECK_TEXT(line, want[i]);
    }
    CHECK(!line_next(&at, line, sizeof line));
}

/* All strings of two bytes: what comes out is printable, and valid where it is not ASCII. */
static void test_all_pairs(void)
{
    bool clean = true;
    for (int a = 1; a < 256; a++)
        for (int b = 1; b < 256; b++) {
            char in[] = {(char)a, (char)b, 0};
            text t = {0};
            text_safe(&t, in);
            bool pair = a >= 0xC2 && a < 0xE0 && b >= 0x80 && b < 0xC0;
            for (size_t i = 0; i < t.length; i++)
                clean = clean && (unsigned char)t.s[i] >= 0x20 && t.s[i] != 0x7F &&
                        (pair || (unsigned char)t.s[i] < 0x80);
            text_free(&t);
        }
    CHECK(clean);
}

static void test_sizes(void)
{
    static const struct {
        const char *s;
        int64_t bytes; /* 0: refused */
    } row[] = {{"1", 1},          {"512M", 512 << 20},
               {"1.5K", 1536},    {"4GiB", 4LL << 30},
               {"2KB", 2048},     {"7B", 7},
               {"1T", 1LL << 40}, {"7iB", 0},
               {"", 0},           {"G", 0},
               {"0", 0},          {"-1", 0},
               {"1e3", 0},        {"1 G", 0},
               {"99999999T", 0},  {"1.2.3", 0},
               {"0x10", 0},       {"123456789012345678901234", 0}};
    for (int i = 0; i < COUNT(row); i++) {
        int64_t got = 0;
        const bool is = size_read(row[i].s, strlen(row[i].s), &got);
        if (!CHECK(is == (row[i].bytes > 0) && (!is || got == row[i].bytes)))
            printf("  %s: %lld\n", row[i].s, (long long)got);
    }
    int64_t first;
    CHECK(size_read("3K,x", 2, &first) && first == 3072);
    const char *all = "4G,c:numa0=2K,c=7,moon=x";
    CHECK(size_named(all, "") == 4LL << 30 && size_named(all, "c") == 7 && size_named(all, "c:numa0") == 2048);
    CHECK(!size_named(all, "c:numa") && !size_named(all, "moon") && !size_named("=4", "") && !size_named(NULL, ""));
    static const char *const own[][2] = {{"c", "4G,c=7,moon=x"}, {"c:numa0,c", "4G,c:numa0=2K,c=7,moon=x"}};
    for (int i = 0; i < COUNT(own); i++) {
        ENDED_BY(heap_free) char *left = sizes_make(all, "c,c:numa0", own[i][0]);
        CHECK(strcmp(left, own[i][1]) == 0);
    }
}

int main(void)
{
    test_sizes();
    test_growth();
    test_lines();
    test_line_next();
    test_json();
    test_safe();
    test_all_pairs();
    return check_done();
}
