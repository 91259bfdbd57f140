/* What names from files may do to a terminal: nothing. */
/* ctest: fast */
#include "cli/columns.h"
#include "graph/base/err.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static char *escaped(const char *s)
{
    char *out = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&out, &n);
    put_safe(f, s);
    fclose(f);
    return out;
}

static void escaping(void)
{
    static const struct {
        const char *raw, *shown;
        int width;
    } rows[] = {
        {"encoder.layer.0", "encoder.layer.0", 15},
        {"größe", "größe", 5},
        {"\xe6\x97\xa5", "\xe6\x97\xa5", 2}, /* wide */
        {"a\033[31mb", "a\\x1b[31mb", 10},
        {"line\nbreak\ttab", "line\\x0abreak\\x09tab", 20},
        {"\x7f", "\\x7f", 4},
        {"\xc2\x85", "\\xc2\\x85", 8},           /* C1 control */
        {"\xe2\x80\xae", "\\xe2\\x80\\xae", 12}, /* right-to-left override */
        {"\xe2\x80\x8b", "\\xe2\\x80\\x8b", 12}, /* zero width */
        {"\xff\xfe", "\\xff\\xfe", 8},
        {"\xc0\xaf", "\\xc0\\xaf", 8},           /* overlong */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", 12}, /* half of a pair */
        {"\xe2\x80", "\\xe2\\x80", 8},           /* cut off */
        {"", "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *got = escaped(rows[i].raw);
        CHECK_TEXT(got, rows[i].shown);
        CHECK(safe_width(rows[i].raw) == rows[i].width);
        free(got);
    }
}

static void tables(void)
{
    char *out = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&out, &n);
    columns t = columns_make("name|>n|note");
    static const char *const cells[] = {"größe", "1", "", "x\n", "1000", "last"};
    for (int i = 0; i < 6; i++)
        columns_add(&t, "%s", cells[i]);
    columns_print(&t, &(paper){.f = f}, "  ");
    columns bare = columns_make("|>");
    columns_add(&bare, "a");
    columns_add(&bare, "%d", 12);
    columns_print(&bare, &(paper){.f = f}, "");
    fclose(f);
    CHECK_TEXT(out, "  name      n  note\n  größe     1\n  x\\x0a  1000  last\na  12\n");
    free(out);
}

static void errors(void)
{
    ts_error e = {0};
    CHECK(!err_set(&e, TS_USAGE, "first %d", 1) && !err_set(&e, TS_BUG, "second"));
    CHECK(e.code == TS_USAGE);
    err_hint(&e, "do %s", "this");
    CHECK_TEXT(e.text, "first 1\n  hint: do this");
    for (int i = 0; i < 1000; i++)
        err_hint(&e, "longer and longer");
    CHECK(strlen(e.text) < sizeof e.text);
}

int main(void)
{
    escaping();
    tables();
    errors();
    return check_done();
}
