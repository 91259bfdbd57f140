/* outline.c - JSON as text. */
#include "cli/outline.h"

#include "cli/columns.h"

#include <math.h>
#include <string.h>

enum { CELL = 512 }; /* bytes of a name, escaped */

/* ---- numbers ---- */

/* Three digits, and the largest unit that keeps them before the point. */
static void scaled(char *out, size_t size, double v, double step, const char *const *units)
{
    while (fabs(v) >= step && units[1]) {
        v /= step;
        units++;
    }
    bool whole = v == floor(v) && fabs(v) < 1000;
    int decimals = whole || fabs(v) >= 100 ? 0 : fabs(v) >= 10 ? 1 : 2;
    snprintf(out, size, "%.*f%s", decimals, v, *units);
}

static const char *const byte_units[] = {" B", " KiB", " MiB", " GiB", " TiB", NULL};
static const char *const second_units[] = {" ns", " us", " ms", " s", NULL};
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
        snprintf(out, size, "%.3g%s", v * endings[row].factor, endings[row].unit);
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

static int heads_of(columns *t, const char *names[], const cJSON *first)
{
    char head[CELL];
    int n = 0;
    for (const cJSON *v = first ? first->child : NULL; v && n < COLUMNS_MAX; v = v->next) {
        if (!is_line(v))
            continue;
        names[n++] = v->string;
        words(head, sizeof head, v->string, cJSON_IsNumber(v));
        columns_head(t, cJSON_IsNumber(v), head);
    }
    return n;
}

static void rows(columns *t, const char *const *names, const cJSON *list)
{
    char value[CELL];
    const cJSON *row;
    cJSON_ArrayForEach(row, list)
    {
        for (int i = 0; i < t->n; i++) {
            outline_value(value, sizeof value, names[i], cJSON_GetObjectItemCaseSensitive(row, names[i]));
            columns_add(t, "%s", value);
        }
    }
}

void outline_table(const cJSON *list, const char *heads, FILE *f, const char *indent, bool color)
{
    columns t = {0};
    const char *names[COLUMNS_MAX];
    char copy[CELL], head[CELL];
    snprintf(copy, sizeof copy, "%s", heads ? heads : "");
    char *rest = copy;
    for (char *name; heads && t.n < COLUMNS_MAX && (name = strsep(&rest, "|"));) {
        bool right = *name == '>';
        names[t.n] = name + right;
        words(head, sizeof head, name + right, right);
        columns_head(&t, right, head);
    }
    if (!heads)
        heads_of(&t, names, list ? list->child : NULL);
    if (t.n == 0)
        return;
    rows(&t, names, list);
    columns_print(&t, f, indent, color);
}

static void put_cell(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '|' || *s == '<' || *s == '*')
            fputc('\\', f);
        fputc(*s, f);
    }
}

void outline_markdown(const cJSON *list, const char *heads, FILE *f)
{
    const char *names[COLUMNS_MAX];
    char copy[CELL], value[CELL], rule[CELL] = "|";
    int n = 0;
    snprintf(copy, sizeof copy, "%s", heads);
    char *rest = copy;
    for (char *name; n < COLUMNS_MAX && (name = strsep(&rest, "|"));) {
        const bool right = *name == '>';
        const size_t used = strlen(rule);
        names[n++] = name + right;
        snprintf(rule + used, sizeof rule - used, right ? "---:|" : "---|");
        words(value, sizeof value, name + right, right);
        fprintf(f, "%s %s ", n == 1 ? "\n|" : "|", value);
    }
    fprintf(f, "|\n%s\n", rule);
    const cJSON *row;
    cJSON_ArrayForEach(row, list)
    {
        for (int i = 0; i < n; i++) {
            outline_value(value, sizeof value, names[i], cJSON_GetObjectItemCaseSensitive(row, names[i]));
            fputs(i ? " | " : "| ", f);
            put_cell(f, value);
        }
        fputs(" |\n", f);
    }
}

/* A missing value is shown with the reason, if the object has one under "why". */
static void put_lines(const cJSON *o, FILE *f, const char *indent)
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
    columns_print(&t, f, indent, false);
}

void outline_print(const cJSON *o, FILE *f, const char *indent, bool color)
{
    char deeper[64], label[CELL];
    put_lines(o, f, indent);
    snprintf(deeper, sizeof deeper, "%s  ", indent);
    const cJSON *v;
    cJSON_ArrayForEach(v, o)
    {
        if (is_line(v) || !v->child || (v->string && strcmp(v->string, "why") == 0))
            continue;
        words(label, sizeof label, v->string ? v->string : "", false);
        fprintf(f, "%s%s", indent, console_on(color, BOLD));
        put_safe(f, label);
        fprintf(f, "%s\n", console_off(color));
        if (cJSON_IsArray(v))
            outline_table(v, NULL, f, deeper, color);
        else
            outline_print(v, f, deeper, color);
    }
}
