/* outline.c - JSON as text. */
#include "cli/outline.h"

#include "cli/columns.h"

#include <math.h>
#include <string.h>

static void scaled(char *out, size_t size, double v, double step, const char *const *units)
{
    while (fabs(v) >= step && units[1])
        v /= step, units++;
    const char *form = v == floor(v) && fabs(v) < 1000 ? "%.0f%s"
                       : fabs(v) < 10                  ? "%.2f%s"
                       : fabs(v) < 100                 ? "%.1f%s"
                                                       : "%.0f%s";
    snprintf(out, size, form, v, *units);
}

void outline_bytes(char *out, size_t size, double bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", NULL};
    scaled(out, size, bytes, 1024, units);
}

void outline_seconds(char *out, size_t size, double seconds)
{
    static const char *const units[] = {" ns", " us", " ms", NULL};
    if (seconds >= 1)
        snprintf(out, size, "%.3g s", seconds);
    else
        scaled(out, size, seconds * 1e9, 1000, units);
}

void outline_count(char *out, size_t size, double n)
{
    static const char *const units[] = {"", " k", " M", " G", " T", NULL};
    scaled(out, size, n, 1000, units);
}

static bool ends_with(const char *name, const char *ending, size_t *stem)
{
    size_t n = strlen(name), k = strlen(ending);
    if (n <= k || strcmp(name + n - k, ending) != 0)
        return false;
    *stem = n - k;
    return true;
}

static void spaced(char *name)
{
    for (; *name; name++) {
        if (*name == '_')
            *name = ' ';
    }
}

/* A member's name without its unit, and its value with it. */
static void labelled(const cJSON *v, char *label, char *value, size_t size)
{
    const char *name = v->string ? v->string : "";
    size_t stem = strlen(name);
    double x = v->valuedouble;
    if (!cJSON_IsNumber(v))
        snprintf(value, size, "%s",
                 cJSON_IsString(v) ? v->valuestring
                 : cJSON_IsTrue(v) ? "yes"
                 : cJSON_IsNull(v) ? "-"
                                   : "no");
    else if (ends_with(name, "_bytes", &stem))
        outline_bytes(value, size, x);
    else if (ends_with(name, "_gflops", &stem))
        snprintf(value, size, "%.4g GFLOP/s", x);
    else if (ends_with(name, "_gops", &stem))
        snprintf(value, size, "%.4g Gop/s", x);
    else if (ends_with(name, "_gbs", &stem))
        snprintf(value, size, "%.4g GB/s", x);
    else if (ends_with(name, "_ns", &stem))
        outline_seconds(value, size, x * 1e-9);
    else if (ends_with(name, "_mhz", &stem))
        snprintf(value, size, "%.0f MHz", x);
    else if (ends_with(name, "_pct", &stem))
        snprintf(value, size, "%.3g %%", x);
    else if (x == floor(x) && fabs(x) < 1e15)
        snprintf(value, size, "%.0f", x);
    else
        snprintf(value, size, "%.6g", x);
    snprintf(label, size, "%.*s", (int)stem, name);
    spaced(label);
}

enum { CELL = 512 };

static bool is_plain(const cJSON *v)
{
    return !cJSON_IsObject(v) && !cJSON_IsArray(v);
}

/* A list of plain values on one line. */
static void joined(const cJSON *list, char *out, size_t size)
{
    char label[CELL], value[CELL];
    size_t n = 0;
    *out = 0;
    for (const cJSON *v = list->child; v && n < size; v = v->next) {
        labelled(v, label, value, sizeof value);
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", value);
    }
}

static void heading(FILE *f, const char *indent, const char *name, bool color)
{
    char words[CELL];
    snprintf(words, sizeof words, "%s", name);
    spaced(words);
    fprintf(f, "%s%s", indent, console_on(color, BOLD));
    put_safe(f, words);
    fprintf(f, "%s\n", console_off(color));
}

/* A list of objects: the members of the first one that are plain become columns. */
static void table(const cJSON *list, FILE *f, const char *indent, bool color)
{
    char label[CELL], value[CELL];
    const char *name[COLUMNS_MAX];
    columns t = {0};
    for (const cJSON *v = list->child->child; v && t.n < COLUMNS_MAX; v = v->next) {
        if (!is_plain(v))
            continue;
        labelled(v, label, value, sizeof value);
        name[t.n] = v->string;
        columns_head(&t, cJSON_IsNumber(v), label);
    }
    for (const cJSON *row = t.n ? list->child : NULL; row; row = row->next) {
        for (int i = 0; i < t.n; i++) {
            const cJSON *v = cJSON_GetObjectItemCaseSensitive(row, name[i]);
            if (v && is_plain(v))
                labelled(v, label, value, sizeof value);
            else
                snprintf(value, sizeof value, "-");
            columns_add(&t, "%s", value);
        }
    }
    if (t.n)
        columns_print(&t, f, indent, color);
}

void outline_print(const cJSON *o, FILE *f, const char *indent, bool color)
{
    char label[CELL], value[CELL], deeper[64];
    columns t = columns_make("|");
    for (const cJSON *v = o->child; v; v = v->next) {
        bool list = cJSON_IsArray(v) && (!v->child || is_plain(v->child));
        if (!is_plain(v) && !list)
            continue;
        labelled(v, label, value, sizeof value);
        if (list)
            joined(v, value, sizeof value);
        columns_add(&t, "%s", label);
        columns_add(&t, "%s", *value ? value : "-");
    }
    columns_print(&t, f, indent, false);
    snprintf(deeper, sizeof deeper, "%s  ", indent);
    for (const cJSON *v = o->child; v; v = v->next) {
        if (is_plain(v) || !v->child || (cJSON_IsArray(v) && is_plain(v->child)))
            continue;
        heading(f, indent, v->string ? v->string : "", color);
        if (cJSON_IsArray(v))
            table(v, f, deeper, color);
        else
            outline_print(v, f, deeper, color);
    }
}
