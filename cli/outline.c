/* outline.c - JSON as text. */
#include "cli/outline.h"

#include "cli/columns.h"

#include <math.h>
#include <string.h>

enum { CELL = 512 }; /* bytes of a name, escaped */

/* ---- numbers ---- */

/* Three digits, none of them an exponent's where the number is neither tiny nor huge. */
static void digits(char *out, size_t size, double v, const char *unit)
{
    const double a = fabs(v);
    if (a != 0 && (a < 0.1 || a >= 1e6))
        snprintf(out, size, "%.3g%s", v, unit);
    else
        snprintf(out, size, "%.*f%s", v == floor(v) || a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2, v, unit);
}

/* The largest unit that keeps digits before the point. */
static void scaled(char *out, size_t size, double v, double step, const char *const *units)
{
    for (; fabs(v) >= (step > 1000 ? step : 999.5) && units[1]; units++)
        v /= step;
    digits(out, size, v, *units);
}

static const char *const byte_units[] = {" B", " KiB", " MiB", " GiB", " TiB", NULL};
static const char *const second_units[] = {" ns", " µs", " ms", " s", NULL};
static const char *const count_units[] = {"", " k", " M", " G", " T", NULL};
static const char *const flop_units[] = {" FLOP", " kFLOP", " MFLOP", " GFLOP", " TFLOP", NULL};

/* How the ending of a name is shown: scaled by steps, or with a fixed unit. */
static const struct {
    const char *ending, *unit;
    double factor;
    const char *const *units;
    double step;
} endings[] = {
    {"bytes", NULL, 1, byte_units, 1024},
    {"working_set", NULL, 1, byte_units, 1024},
    {"ns", NULL, 1, second_units, 1000},
    {"flops", NULL, 1, flop_units, 1000},
    {"parameters", NULL, 1, count_units, 1000},
    {"rate", "", 1, NULL, 0}, /* of what the title or the text says */
    {"gflops", " GFLOP/s", 1, NULL, 0},
    {"gops", " Gop/s", 1, NULL, 0},
    {"gbs", " GB/s", 1, NULL, 0},
    {"mhz", " MHz", 1, NULL, 0},
    {"percent", " %", 1, NULL, 0},
    {"share", " %", 100, NULL, 0},
};

/* The row for a name like "l2_bytes" or "bytes", or -1; *stem is the length without the ending. */
static int ending_of(const char *name, size_t *stem)
{
    size_t n = strlen(name);
    *stem = n;
    for (int i = 0; i < (int)(sizeof endings / sizeof *endings); i++) {
        size_t k = strlen(endings[i].ending);
        if (n < k || strcmp(name + n - k, endings[i].ending) != 0 || (n > k && name[n - k - 1] != '_'))
            continue;
        if (n > k)
            *stem = n - k - 1;
        return i;
    }
    return -1;
}

static void number(char *out, size_t size, const char *name, double v)
{
    size_t stem;
    int row = ending_of(name, &stem);
    if (row >= 0 && endings[row].units)
        scaled(out, size, v, endings[row].step, endings[row].units);
    else if (row >= 0)
        digits(out, size, v * endings[row].factor, endings[row].unit);
    else if (v == floor(v) && fabs(v) < 1e15)
        snprintf(out, size, "%.0f", v);
    else
        snprintf(out, size, "%.6g", v);
}

/* ---- values and their names ---- */

static void joined(char *out, size_t size, const char *name, const cJSON *list)
{
    bool numbers = cJSON_IsNumber(list->child);
    char value[CELL];
    size_t n = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, list)
    {
        outline_value(value, sizeof value, name, v);
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : numbers ? "[" : "", value);
        if (n >= size)
            return;
    }
    if (n == 0 || numbers)
        snprintf(out + n, size - n, n ? "]" : "-");
}

/* The further lines of a message follow on the same line. */
static void one_line(char *out, size_t size, const char *s)
{
    size_t n = 0;
    while (*s && n + 3 < size) {
        if (s[0] != '\n' || s[1] != ' ') {
            out[n++] = *s++;
            continue;
        }
        out[n++] = ';';
        out[n++] = ' ';
        s++;
        s += strspn(s, " ");
    }
    out[n] = 0;
}

void outline_value(char *out, size_t size, const char *name, const cJSON *v)
{
    if (cJSON_IsNumber(v))
        number(out, size, name, v->valuedouble);
    else if (cJSON_IsString(v))
        one_line(out, size, v->valuestring);
    else if (cJSON_IsBool(v))
        snprintf(out, size, "%s", cJSON_IsTrue(v) ? "yes" : "no");
    else if (cJSON_IsArray(v))
        joined(out, size, name, v);
    else if (cJSON_IsObject(v)) /* in a list: what it is called */
        snprintf(out, size, "%s", js_get_text(v, "name"));
    else
        snprintf(out, size, "-");
}

/* A name as words: without its unit if a number follows, underscores as spaces. */
static void words(char *out, size_t size, const char *name, bool of_number)
{
    size_t length = strlen(name);
    if (of_number)
        ending_of(name, &length);
    snprintf(out, size, "%.*s", (int)length, name);
    for (; *out; out++) {
        if (*out == '_')
            *out = ' ';
    }
}

static bool is_line(const cJSON *v)
{
    return cJSON_IsArray(v) ? !cJSON_IsObject(v->child) && !cJSON_IsArray(v->child) : !cJSON_IsObject(v);
}

/* ---- tables and outlines ---- */

typedef struct sheet { /* of a list: its titles, then what each row has of the members */
    columns t;
    char name[COLUMNS_MAX][CELL];
} sheet;

static void sheet_column(sheet *s, column kind, const char *name, const char *title, bool of_number)
{
    char head[CELL];
    snprintf(s->name[s->t.n], CELL, "%s", name);
    words(head, sizeof head, title, of_number);
    columns_head(&s->t, kind, head);
}

/* "name|>bytes|>median_ns=median"; NULL: what the first of the list has. */
static sheet sheet_make(const cJSON *list, const char *heads)
{
    sheet s = {.t = {0}};
    char copy[CELL], value[CELL], *rest = copy;
    snprintf(copy, sizeof copy, "%s", heads ? heads : "");
    for (const char *name; heads && s.t.n < COLUMNS_MAX && (name = strsep(&rest, "|"));) {
        const column kind = columns_kind(&name);
        char *equals = strchr(name, '=');
        if (equals)
            *equals = 0;
        sheet_column(&s, kind, name, equals ? equals + 1 : name, kind == RIGHT && !equals);
    }
    for (const cJSON *v = !heads && list && list->child ? list->child->child : NULL; v && s.t.n < COLUMNS_MAX;
         v = v->next)
        if (is_line(v))
            sheet_column(&s, cJSON_IsNumber(v) ? RIGHT : LEFT, v->string, v->string, cJSON_IsNumber(v));
    const cJSON *row;
    cJSON_ArrayForEach(row, list)
    {
        for (int i = 0; i < s.t.n; i++) {
            const cJSON *v = *s.name[i] ? cJSON_GetObjectItemCaseSensitive(row, s.name[i]) : row;
            outline_value(value, sizeof value, s.name[i], v);
            columns_add(&s.t, "%s",
                        strcmp(s.name[i], "@") == 0                  ? row->string ? row->string : ""
                        : s.t.kind[i] == BELOW && !cJSON_IsString(v) ? ""
                                                                     : value);
        }
    }
    return s;
}

void outline_table(const cJSON *list, const char *heads, const paper *on, const char *indent)
{
    sheet s = sheet_make(list, heads);
    if (s.t.n)
        columns_print(&s.t, on, indent);
}

void outline_markdown(const cJSON *list, const char *heads, FILE *f)
{
    sheet s = sheet_make(list, heads);
    for (int i = 0; i < s.t.count; i++) {
        if (i == s.t.n) {
            fputs("|", f);
            for (int c = 0; c < s.t.n; c++)
                fputs(s.t.kind[c] == RIGHT ? "---:|" : "---|", f);
            fputs("\n", f);
        }
        fputs(i % s.t.n ? " | " : i ? "| " : "\n| ", f);
        for (const char *c = s.t.cell[i]; *c; c++)
            fprintf(f, i >= s.t.n && strchr("|<*", *c) ? "\\%c" : "%c", *c);
        fputs(i % s.t.n == s.t.n - 1 ? " |\n" : "", f);
    }
    columns_free(&s.t);
}

/* A missing value is shown with the reason, if the object has one under "why". */
static void put_lines(const cJSON *o, const paper *on, const char *indent)
{
    char label[CELL], value[CELL];
    columns t = columns_make("|");
    const cJSON *v, *why = cJSON_GetObjectItemCaseSensitive(o, "why");
    cJSON_ArrayForEach(v, o)
    {
        if (!is_line(v))
            continue;
        const char *name = v->string ? v->string : "";
        const char *reason = cJSON_IsNull(v) && cJSON_IsObject(why) ? js_get_text(why, name) : "";
        words(label, sizeof label, name, cJSON_IsNumber(v));
        outline_value(value, sizeof value, name, v);
        columns_add(&t, "%s", label);
        columns_add(&t, *reason ? "%s (%s)" : "%s", value, reason);
    }
    columns_print(&t, on, indent);
}

void outline_print(const cJSON *o, const paper *on, const char *indent)
{
    char deeper[64], label[CELL];
    put_lines(o, on, indent);
    snprintf(deeper, sizeof deeper, "%s  ", indent);
    const cJSON *v;
    cJSON_ArrayForEach(v, o)
    {
        if (is_line(v) || !v->child || (v->string && strcmp(v->string, "why") == 0))
            continue;
        words(label, sizeof label, v->string ? v->string : "", false);
        fprintf(on->f, "%s%s", indent, console_on(on->color, BOLD));
        put_safe(on->f, label);
        fprintf(on->f, "%s\n", console_off(on->color));
        if (cJSON_IsArray(v))
            outline_table(v, NULL, on, deeper);
        else
            outline_print(v, on, deeper);
    }
}
