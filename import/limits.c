/* limits.c - defaults, one row each with the name that --limit takes. */
#include "import/limits.h"
#include "graph/base/suggest.h"
#include "graph/ir/graph.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
    int64_t usual, most;
} row[] = {
    {"steps", offsetof(limits, steps), 1 << 18, INT64_C(1) << 40},
    {"folded", offsetof(limits, folded), 256 << 20, INT64_C(1) << 50},
    {"known", offsetof(limits, known), VALUE_WORK, INT64_C(1) << 50},
    {"elements", offsetof(limits, elements), MODEL_ELEMENTS, INT64_C(1) << 60},
    {"description", offsetof(limits, description), 128 << 20, INT32_MAX},
};

static int64_t *field(limits *l, int i)
{
    return (int64_t *)(void *)((char *)l + row[i].at);
}

limits limits_make(void)
{
    limits l;
    for (int i = 0; i < COUNT(row); i++)
        *field(&l, i) = row[i].usual;
    return l;
}

bool limits_set(limits *l, const char *s, err *e)
{
    const size_t n = strcspn(s, "=");
    ENDED_BY(text_free) text name = {0};
    text_bytes(&name, s, n);
    ENDED_BY(suggest_free) suggestion near = {.word = text_str(&name)};
    for (int i = 0; i < COUNT(row); i++) {
        suggest_offer(&near, row[i].name);
        if (strcmp(row[i].name, near.word) != 0)
            continue;
        int64_t v;
        if (s[n] && size_read(s + n + 1, strlen(s + n + 1), &v) && v <= row[i].most)
            return *field(l, i) = v, true;
        return err_set(e, TS_USAGE, "limit \"%s\": a number from 1 to %lld expected", s, (long long)row[i].most);
    }
    err_set(e, TS_USAGE, "there is no limit \"%s\"", near.word);
    return suggest_hint(&near, "the limits are", e);
}

bool limits_hint(const char *name, int64_t need, err *e)
{
    for (int i = 0; i < COUNT(row); i++)
        if (!strcmp(row[i].name, name))
            return need <= row[i].most ? err_hint(e, "--limit %s=%lld allows it", name, (long long)need)
                                       : err_hint(e, "no limit can be raised that far: make it smaller");
    MUST(!"a limit");
    return false;
}
