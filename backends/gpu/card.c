/* card.c - known cards with their documented figures, and cards in one line of text.
 *
 *   gpu:h100
 *   gpu:NAME processor:132 lane:2048(1024) warp:32 group:32 register:65536(255) shared:228KB(48KB) l1:256KB l2:50MB
 *       memory:80GB(3350GB/s) clock:1980MHz f32:66900GFLOP bf16:989400GFLOP capability:9.0 subgroup:32
 *
 * A known NAME gives every figure, and words after it change theirs; with another one processor:N is required and what
 * is left out is that of `otherwise`. Numbers in brackets are of one group (lane, shared), one lane (register) and of
 * transfer (memory); 0 stands for "not known" where that may be. Sizes are in powers of 1024, rates in powers of 1000.
 * subgroup: lanes that read one another's registers where a language names groups of them; without it none do.
 */
#include "backends/figure.h"
#include "backends/gpu/gpu.h"
#include "graph/base/suggest.h"

#include <stdio.h>
#include <string.h>

#define KB INT64_C(1024)
#define MB (1024 * KB)
#define GB (1024 * MB)
#define MEGA INT64_C(1000000)
#define GIGA (1000 * MEGA)

/* Lanes, groups, registers and shared memory by capability: programming guide, "Technical Specifications per Compute
 * Capability". A group's shared memory is what a kernel has without asking for more. The rest from white papers
 * and data sheets: a100 "A100 Tensor Core GPU Architecture", table 4; h100 (SXM5) "H100 Tensor Core GPU Architecture",
 * table 3; h200 its data sheet, all else as h100; rtx3090 and a10 "Ampere GA102 GPU Architecture" and the data sheet;
 * rtx4090, l4 and l40s "Ada GPU Architecture" and data sheets; mi300x "CDNA 3 Architecture" and its data sheet.
 * bf16: sums in f32, without sparsity. */
static const gpu_facts cards[] = {
    {"a10", 86, 72, 32, 0, 1024, 1536, 16, 65536, 255, 48 * KB, 100 * KB, 128 * KB, 6 * MB, 24 * GB, 1695 * MEGA,
     600 * GIGA, 31200 * GIGA, 125000 * GIGA},
    {"a100", 80, 108, 32, 0, 1024, 2048, 32, 65536, 255, 48 * KB, 164 * KB, 192 * KB, 40 * MB, 80 * GB, 1410 * MEGA,
     2039 * GIGA, 19500 * GIGA, 312000 * GIGA},
    {"a100-40gb", 80, 108, 32, 0, 1024, 2048, 32, 65536, 255, 48 * KB, 164 * KB, 192 * KB, 40 * MB, 40 * GB,
     1410 * MEGA, 1555 * GIGA, 19500 * GIGA, 312000 * GIGA},
    {"h100", 90, 132, 32, 0, 1024, 2048, 32, 65536, 255, 48 * KB, 228 * KB, 256 * KB, 50 * MB, 80 * GB, 1980 * MEGA,
     3350 * GIGA, 66900 * GIGA, 989400 * GIGA},
    {"h200", 90, 132, 32, 0, 1024, 2048, 32, 65536, 255, 48 * KB, 228 * KB, 256 * KB, 50 * MB, 141 * GB, 1980 * MEGA,
     4800 * GIGA, 66900 * GIGA, 989400 * GIGA},
    {"l4", 89, 58, 32, 0, 1024, 1536, 24, 65536, 255, 48 * KB, 100 * KB, 128 * KB, 48 * MB, 24 * GB, 2040 * MEGA,
     300 * GIGA, 30300 * GIGA, 121000 * GIGA},
    {"l40s", 89, 142, 32, 0, 1024, 1536, 24, 65536, 255, 48 * KB, 100 * KB, 128 * KB, 96 * MB, 48 * GB, 2520 * MEGA,
     864 * GIGA, 91600 * GIGA, 362050 * GIGA},
    {"mi300x", 0, 304, 64, 0, 1024, 2048, 32, 131072, 256, 64 * KB, 64 * KB, 32 * KB, 256 * MB, 192 * GB, 2100 * MEGA,
     5300 * GIGA, 163400 * GIGA, 1307400 * GIGA},
    {"rtx3090", 86, 82, 32, 0, 1024, 1536, 16, 65536, 255, 48 * KB, 100 * KB, 128 * KB, 6 * MB, 24 * GB, 1695 * MEGA,
     936 * GIGA, 35600 * GIGA, 71000 * GIGA},
    {"rtx4090", 89, 128, 32, 0, 1024, 1536, 24, 65536, 255, 48 * KB, 100 * KB, 128 * KB, 72 * MB, 24 * GB, 2520 * MEGA,
     1008 * GIGA, 82600 * GIGA, 165200 * GIGA},
};

/* Where a description says nothing: what every card since 8.0 has, and 128 multiply-adds a cycle and processor. */
static const gpu_facts otherwise = {"",     0,           0,          32,      0,        1024,     1536,
                                    16,     65536,       255,        48 * KB, 100 * KB, 128 * KB, 4 * MB,
                                    8 * GB, 1500 * MEGA, 256 * GIGA, 0,       0};
enum { OPERATIONS = 2 * 128 };

const gpu_facts *gpu_card(int i)
{
    return i >= 0 && i < COUNT(cards) ? &cards[i] : NULL;
}

/* ---- reading ---- */
static const char head[] = "gpu:";

bool gpu_is_text(const char *machine)
{
    return machine && !strncmp(machine + strspn(machine, " "), head, strlen(head));
}

static bool fail(const char *word, const char *why, err *e)
{
    ENDED_BY(suggest_free) suggestion near = {.word = strncmp(word, head, strlen(head)) ? word : word + strlen(head)};
    for (int i = 0; gpu_card(i); i++)
        suggest_offer(&near, gpu_card(i)->name);
    err_set(e, TS_BAD_INPUT, "machine: %s at '%.40s'", why, word);
    suggest_hint(&near, "known cards are", e);
    return err_hint(e, "write it like: gpu:h100, or gpu:mine processor:40 lane:1536(1024) shared:100KB(48KB) "
                       "memory:8GB(400GB/s) clock:1500MHz");
}

static bool in_brackets(const char **s, bool (*read)(const char **s, int64_t *out), int64_t *out)
{
    if (**s != '(')
        return true;
    ++*s;
    if (!read(s, out) || **s != ')')
        return false;
    ++*s;
    return true;
}

static bool read_count(const char **s, int64_t *out)
{
    return figure_number(s, 1, 1 << 20, out);
}

static bool read_transfer(const char **s, int64_t *out)
{
    return figure_rate(s, "B/s", out);
}

static bool read_some(const char **s, int64_t *out) /* 0: not known */
{
    return figure_number(s, 0, 1 << 20, out);
}

static bool read_nothing(const char **s, const char *unit, int64_t *out)
{
    const bool zero = figure_number(s, 0, 0, out);
    *s += zero && !strncmp(*s, unit, strlen(unit)) ? strlen(unit) : 0;
    return zero;
}

static bool read_some_bytes(const char **s, int64_t *out)
{
    const char *at = *s;
    return figure_bytes(s, out) || (*s = at, read_nothing(s, "B", out));
}

static bool read_flops(const char **s, int64_t *out)
{
    const char *at = *s;
    return figure_rate(s, "FLOP", out) || (*s = at, read_nothing(s, "FLOP", out));
}

static bool read_clock(const char **s, int64_t *out)
{
    return figure_rate(s, "Hz", out);
}

static bool read_capability(const char **s, int64_t *out) /* 9.0 as 90 */
{
    int64_t minor = 0;
    if (!figure_number(s, 0, 99, out))
        return false;
    if (**s == '.')
        ++*s, minor = figure_number(s, 0, 9, &minor) ? minor : -1;
    *out = 10 * *out + minor;
    return minor >= 0;
}

#define COUNTED "a count of at most 1048576"
typedef struct figures { /* of a gpu_facts, all of one width */
    int64_t processor, lane, group_lanes, warp, group, registers, lane_registers, shared_all, shared, l1, l2, memory,
        bandwidth, clock, f32, bf16, capability, subgroup;
} figures;

static figures figures_of(const gpu_facts *f)
{
    return (figures){f->processors,     f->lanes,      f->group,  f->warp, f->groups,     f->registers,
                     f->lane_registers, f->shared_all, f->shared, f->l1,   f->l2,         f->memory,
                     f->bandwidth,      f->clock,      f->f32,    f->bf16, f->capability, f->subgroup};
}

static void take(gpu_facts *f, const figures *v)
{
    f->processors = (int)v->processor, f->lanes = (int)v->lane, f->group = (int)v->group_lanes;
    f->warp = (int)v->warp, f->groups = (int)v->group, f->registers = (int)v->registers;
    f->lane_registers = (int)v->lane_registers, f->shared_all = v->shared_all, f->shared = v->shared;
    f->l1 = v->l1, f->l2 = v->l2, f->memory = v->memory, f->bandwidth = v->bandwidth, f->clock = v->clock;
    f->f32 = v->f32, f->bf16 = v->bf16, f->capability = (int)v->capability;
    f->subgroup = (int)v->subgroup, f->warp = v->subgroup ? f->subgroup : f->warp;
}

static bool read_word(figures *f, const char *word, const char **s, err *e)
{
    const struct {
        const char *name, *figure; /* what is expected behind the colon */
        int64_t *to, *inside;      /* inside: of brackets, or NULL */
        bool (*read)(const char **s, int64_t *out), (*read_inside)(const char **s, int64_t *out);
    } words[] = {
        {"processor", COUNTED, &f->processor, NULL, read_count, NULL},
        {"lane", COUNTED ", of a group in brackets", &f->lane, &f->group_lanes, read_some, read_count},
        {"warp", COUNTED, &f->warp, NULL, read_count, NULL},
        {"group", COUNTED, &f->group, NULL, read_some, NULL},
        {"register", COUNTED ", of a lane in brackets", &f->registers, &f->lane_registers, read_some, read_count},
        {"shared", "100KB(48KB)", &f->shared_all, &f->shared, read_some_bytes, figure_bytes},
        {"l1", "a size, as in 128KB", &f->l1, NULL, figure_bytes, NULL},
        {"l2", "a size, as in 4MB", &f->l2, NULL, figure_bytes, NULL},
        {"memory", "a size and a rate, as in 8GB(400GB/s)", &f->memory, &f->bandwidth, figure_bytes, read_transfer},
        {"clock", "a frequency, as in 1500MHz", &f->clock, NULL, read_clock, NULL},
        {"f32", "a rate, as in 20TFLOP", &f->f32, NULL, read_flops, NULL},
        {"bf16", "a rate, as in 80TFLOP", &f->bf16, NULL, read_flops, NULL},
        {"capability", "one to 99 with a digit, as in 9.0", &f->capability, NULL, read_capability, NULL},
        {"subgroup", COUNTED, &f->subgroup, NULL, read_some, NULL}};
    const size_t n = strcspn(word, ":");
    if (!word[n])
        return fail(word, "NAME:FIGURE expected", e);
    *s = word + n + 1;
    ENDED_BY(text_free) text why = {0};
    bool read = false, found = false;
    for (int i = 0; i < COUNT(words) && !found; i++) {
        found = word_is(words[i].name, word, n);
        if (!found)
            continue;
        read = words[i].read(s, words[i].to) &&
               (!words[i].inside || in_brackets(s, words[i].read_inside, words[i].inside));
        text_add(&why, "%s:FIGURE expected, %s,", words[i].name, words[i].figure);
    }
    for (int i = 0; i < COUNT(words) && !found; i++)
        text_add(&why, "%s%s", !i ? "one of " : i + 1 < COUNT(words) ? ", " : " or ", words[i].name);
    if (!found)
        text_add(&why, " expected");
    if (!read)
        fail(word, text_str(&why), e);
    return read;
}

static const gpu_facts *find_card(const char *name)
{
    for (int i = 0; i < COUNT(cards); i++)
        if (!strcmp(cards[i].name, name))
            return &cards[i];
    return NULL;
}

/* gpu:NAME, from which all else starts */
static bool read_name(gpu_facts *f, const char **s, err *e)
{
    char name[sizeof f->name];
    ENDED_BY(text_free) text safe = {0};
    *s += strspn(*s, " ");
    if (!gpu_is_text(*s))
        return fail(*s, "a card begins with gpu:NAME", e);
    const char *word = *s;
    *s += strlen(head);
    const size_t n = strcspn(*s, " ");
    if (!n || n >= sizeof name)
        return fail(word, n ? "a shorter name expected" : "a name, as in gpu:h100, expected", e);
    snprintf(name, sizeof name, "%.*s", (int)n, *s);
    const gpu_facts *known = find_card(name);
    *f = known ? *known : otherwise;
    text_safe(&safe, name);
    snprintf(f->name, sizeof f->name, "%s", text_str(&safe));
    *s += n;
    return known || (*s)[strspn(*s, " ")] || fail(word, "a known card, or processor:N beside the name, expected", e);
}

bool gpu_read(gpu_facts *f, const char *machine, err *e)
{
    const char *s = machine;
    if (!read_name(f, &s, e))
        return false;
    figures v = figures_of(f);
    while (*(s += strspn(s, " "))) {
        const char *end = s;
        if (!read_word(&v, s, &end, e))
            return false;
        if (*end && *end != ' ')
            return fail(end, "a blank between words expected", e);
        s = end;
    }
    if (!v.processor)
        return fail(machine, "processor:N expected", e);
    if (!v.f32 && (!int_mul(v.clock, OPERATIONS, &v.f32) || !int_mul(v.f32, v.processor, &v.f32)))
        return fail(machine, "clock times lanes and processors over 2^63 operations a second, fewer expected,", e);
    take(f, &v);
    return true;
}

/* ---- printing ---- */
void gpu_print(text *t, const gpu_facts *f)
{
    text_add(t, "%s%s processor:%d lane:%d(%d) warp:%d group:%d register:%d(%d) shared:", head, f->name, f->processors,
             f->lanes, f->group, f->warp, f->groups, f->registers, f->lane_registers);
    figure_print_bytes(t, f->shared_all), text_add(t, "("), figure_print_bytes(t, f->shared);
    text_add(t, ") l1:"), figure_print_bytes(t, f->l1);
    text_add(t, " l2:"), figure_print_bytes(t, f->l2);
    text_add(t, " memory:"), figure_print_bytes(t, f->memory);
    text_add(t, "("), figure_print_rate(t, f->bandwidth, "B/s");
    text_add(t, ") clock:"), figure_print_rate(t, f->clock, "Hz");
    text_add(t, " f32:"), figure_print_rate(t, f->f32, "FLOP");
    text_add(t, " bf16:"), figure_print_rate(t, f->bf16, "FLOP");
    text_add(t, " capability:%d.%d", f->capability / 10, f->capability % 10);
    if (f->subgroup)
        text_add(t, " subgroup:%d", f->subgroup);
}
