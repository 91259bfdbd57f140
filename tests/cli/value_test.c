/* ctest: fast */
#include "cli/value.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void integers(void)
{
    int64_t v = 7;
    CHECK(value_integer("0", &v) && v == 0);
    CHECK(value_integer("-12", &v) && v == -12);
    CHECK(value_integer("9223372036854775807", &v) && v == INT64_MAX);
    static const char *const bad[] = {"",    "-",  "+1", " 1", "1 ", "12abc", "0x10", "1.5", "9223372036854775808",
                                      "--1", "1e3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!CHECK(!value_integer(bad[i], &v)))
            fprintf(stderr, "  \"%s\" was read\n", bad[i]);
    }
}

static void scaled(void)
{
    double d = 0;
    int64_t n = 0;
    CHECK(value_seconds("2s", &d) && fabs(d - 2) < 1e-12);
    CHECK(value_seconds("500ms", &d) && fabs(d - 0.5) < 1e-12);
    CHECK(value_seconds("1.5", &d) && fabs(d - 1.5) < 1e-12);
    CHECK(value_seconds("2m", &d) && fabs(d - 120) < 1e-12);
    CHECK(value_bytes("4G", &n) && n == INT64_C(4) << 30);
    CHECK(value_bytes("1.5KiB", &n) && n == 1536);
    CHECK(value_percent("1%", &d) && fabs(d - 0.01) < 1e-12);
    static const char *const bad[] = {
        "", "s", ".", "-1s", "1x", "inf", "nan", "1e3", "0", "0x2", "1..2", "2 s", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!CHECK(!value_seconds(bad[i], &d) && !value_bytes(bad[i], &n) && !value_percent(bad[i], &d)))
            fprintf(stderr, "  \"%s\" was read\n", bad[i]);
    }
}

static void checks(void)
{
    static const struct {
        option option;
        const char *value, *error; /* NULL: accepted */
    } rows[] = {
        {{"threads", 0, INTEGER, "N", "", NULL, false, 1, 8}, "8", NULL},
        {{"threads", 0, INTEGER, "N", "", NULL, false, 1, 8},
         "9",
         "--threads \"9\": must be a whole number from 1 to 8"},
        {{"threads", 0, INTEGER, "N", "", NULL, false, 1, 8},
         "two",
         "--threads \"two\": must be a whole number from 1 to 8"},
        {{"dim", 0, PAIR, "NAME=N", "", REPEATS}, "seq=1", NULL},
        {{"dim", 0, PAIR, "NAME=N", "", REPEATS}, "seq", "--dim \"seq\": must be NAME=N"},
        {{"dim", 0, PAIR, "NAME=N", "", REPEATS}, "=1", "--dim \"=1\": must be NAME=N"},
        {{"dim", 0, PAIR, "NAME=N", "", REPEATS}, "seq=", "--dim \"seq=\": must be NAME=N"},
        {{"out", 0, A_FILE, "FILE", "", ONCE}, "", "--out \"\": must be something"},
        {{"color", 0, CHOICE, "auto|always|never", "", ONCE}, "never", NULL},
        {{"color", 0, CHOICE, "auto|always|never", "", ONCE},
         "nevr",
         "--color \"nevr\": must be one of auto|always|never\n  hint: did you mean never?"},
        {{"color", 0, CHOICE, "auto|always|never", "", ONCE}, "", "--color \"\": must be one of auto|always|never"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_error e = {0};
        bool ok = value_check(&rows[i].option, rows[i].value, &e);
        CHECK(ok == !rows[i].error);
        CHECK(e.code == (ok ? TS_OK : TS_USAGE));
        CHECK_TEXT(e.text, rows[i].error ? rows[i].error : "");
    }
    CHECK(value_listed("a|bc", "bc") && !value_listed("a|bc", "b") && !value_listed("a|bc", "") &&
          !value_listed("a|bc", "a|bc"));
}

/* What is spelt is read again as the same value. */
static void spells(void)
{
    static const struct {
        value_kind kind;
        double value;
        const char *text;
    } rows[] = {
        {INTEGER, 65536, "65536"}, {NUMBER, 5e-5, "5e-5"},    {NUMBER, 0.01, "0.01"}, {SECONDS, 3, "3s"},
        {SECONDS, 600, "10m"},     {SECONDS, 0.5, "500ms"},   {SECONDS, 90, "90s"},   {PERCENT, 0.01, "1%"},
        {PERCENT, 0.005, "0.5%"},  {BYTES, 1073741824, "1G"}, {BYTES, 1536, "1536B"}, {BYTES, 209715200, "200M"},
        {NUMBER, 0, "0"},          {NUMBER, 1e-30, "1e-30"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[64];
        value_spell(&(option){.kind = rows[i].kind}, rows[i].value, out, sizeof out);
        CHECK_TEXT(out, rows[i].text);
    }
}

int main(void)
{
    spells();
    integers();
    scaled();
    checks();
    return check_done();
}
