/* machine_text.c - a machine in one line, read and written. The form is described in machine.h. */
#include "backends/cpu/machine.h"
#include "backends/figure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool machine_parse(machine *m, const char *s, err *e); /* called by machine_load */

enum { MOST_LINE = 4096 }; /* bytes of a cache line: a page, more than any machine has */
static const char *const tier_name[N_TIER] = {"package", "numa", "l3", "l2", "l1d"};

__attribute__((format(printf, 3, 4))) static bool fail(const char *word, err *e, const char *wanted, ...)
{
    char why[256];
    va_list list;
    va_start(list, wanted);
    vsnprintf(why, sizeof why, wanted, list);
    va_end(list);
    err_set(e, TS_BAD_INPUT, "machine: %s at '%.40s'", why, word);
    return err_hint(e, "write it like: package:1 l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx512");
}

static bool read_cores(machine *m, const char **s)
{
    int64_t n, os;
    if (!figure_number(s, 1, MAX_CORE, &n))
        return false;
    m->n_core = (int)n;
    for (int i = 0; i < n; i++)
        m->os[i] = i;
    if (**s != '(')
        return true;
    for (int i = 0; i < n; i++) {
        ++*s;
        if (!figure_number(s, 0, INT32_MAX, &os) || **s != (i + 1 < n ? ',' : ')'))
            return false;
        m->os[i] = (int)os;
    }
    ++*s;
    return true;
}

/* Cores are not known yet: the shares are kept in `of`, -1 meaning that none were given. */
static bool read_tier(tier *r, tier_kind k, const char **s)
{
    int64_t n, share;
    bool sized = k >= TIER_L3;
    if (!figure_number(s, k == TIER_L3 ? 0 : 1, MAX_CORE, &n))
        return false;
    *r = (tier){.n = (int)n, .of = {-1}};
    if (sized && n > 0 && (*(*s)++ != '(' || !figure_bytes(s, &r->bytes) || *(*s)++ != ')'))
        return false;
    for (int i = 0; i < n && **s == (i ? '+' : '='); i++) {
        ++*s;
        if (!figure_number(s, 1, MAX_CORE, &share) || (i + 1 < n && **s != '+'))
            return false;
        r->of[i] = (int)share;
    }
    return true;
}

/* Turns the shares into the instance of each core. */
static bool deal(const machine *m, tier *r, const char *name, err *e)
{
    int share[MAX_CORE], c = 0;
    if (r->n == 0)
        r->of[0] = 0;
    if (r->n > m->n_core)
        return err_set(e, TS_BAD_INPUT, "machine: %s:%d is more than core:%d", name, r->n, m->n_core);
    for (int i = 0; i < r->n; i++)
        share[i] = r->of[0] < 0 ? (i + 1) * m->n_core / r->n - i * m->n_core / r->n : r->of[i];
    for (int i = 0; i < r->n; i++)
        for (int j = 0; j < share[i]; j++, c++) {
            if (c == m->n_core)
                return err_set(e, TS_BAD_INPUT, "machine: %s is given to more than core:%d", name, m->n_core);
            r->of[c] = i;
        }
    return c == m->n_core || r->n == 0 ||
           err_set(e, TS_BAD_INPUT, "machine: %s is given to %d of core:%d", name, c, m->n_core);
}

static bool refuse_name(const char *word, err *e)
{
    ENDED_BY(text_free) text why = {0};
    text_add(&why, "one of ");
    for (int k = 0; k < N_TIER; k++)
        text_add(&why, "%s, ", tier_name[k]);
    text_add(&why, "core, line, isa, nta, rates or cpu expected");
    fail(word, e, "%s", text_str(&why));
    return false;
}

static bool refuse_isa(const char *word, err *e)
{
    ENDED_BY(text_free) text why = {0};
    isa_list(&why, NULL);
    fail(word, e, "one of %s expected", text_str(&why));
    return false;
}

static bool refuse_tier(const char *word, tier_kind k, err *e)
{
    const char *name = tier_name[k], *size = k >= TIER_L3 ? "(SIZE)" : "";
    return fail(word, e, "%s:N%s or %s:N%s=CORES+CORES, N from %d to %d, expected", name, size, name, size,
                k == TIER_L3 ? 0 : 1, MAX_CORE);
}

static bool read_word(machine *m, const char *word, const char **s, err *e)
{
    int64_t v;
    size_t n = strcspn(word, ":");
    *s = word + n + 1;
    if (n == 4 && memcmp(word, "core", 4) == 0)
        return read_cores(m, s) || fail(word, e, "core:N or core:N(0,1,...), N from 1 to %d, expected", MAX_CORE);
    if (n == 4 && memcmp(word, "line", 4) == 0) {
        if (figure_number(s, 1, MOST_LINE, &v))
            return m->line = (int)v, true;
        return fail(word, e, "line:1 to line:%d expected", MOST_LINE);
    }
    if (n == 3 && memcmp(word, "isa", 3) == 0) {
        char name[16];
        size_t length = strcspn(*s, " ");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), *s);
        *s += length;
        m->isa = isa_find(name);
        return m->isa || refuse_isa(word, e);
    }
    if (n == 3 && memcmp(word, "nta", 3) == 0) {
        *s += 2 * (m->nta = strncmp(*s, "l2", 2) == 0);
        return m->nta || fail(word, e, "nta:l2 expected");
    }
    if (n == 5 && memcmp(word, "rates", 5) == 0) {
        rates r;
        if (!rates_read(s, &r))
            return fail(word, e,
                        "rates:ISA(clock=N,...), all of them and within bounds, as doctor prints them, expected");
        return m->known[r.of - isa_table] = r, true;
    }
    for (int k = 0; k < N_TIER; k++)
        if (strlen(tier_name[k]) == n && memcmp(word, tier_name[k], n) == 0)
            return read_tier(&m->tier[k], (tier_kind)k, s) || refuse_tier(word, (tier_kind)k, e);
    return refuse_name(word, e);
}

static void set_defaults(machine *m)
{
    static const int64_t each[N_TIER] = {[TIER_L2] = 1 << 20, [TIER_L1D] = 32 << 10};
    m->line = 64;
    m->isa = isa_find("plain");
    for (int k = 0; k < N_TIER; k++)
        m->tier[k] = (tier){.n = k == TIER_L3 ? 0 : -1, .bytes = each[k], .of = {-1}}; /* -1: one, or one per core */
}

bool machine_parse(machine *m, const char *s, err *e)
{
    const char *given = s;
    set_defaults(m);
    while (*(s += strspn(s, " "))) {
        if (strncmp(s, "cpu:", 4) == 0) {
            ENDED_BY(text_free) text safe = {0};
            text_safe(&safe, s + 4);
            snprintf(m->cpu, sizeof m->cpu, "%s", text_str(&safe));
            break;
        }
        const char *word = s, *end = s;
        if (!strchr(s, ':'))
            return fail(word, e, "NAME:COUNT expected");
        if (!read_word(m, word, &end, e))
            return false;
        if (*end && *end != ' ')
            return fail(end, e, "a blank between words expected");
        s = end;
    }
    if (m->n_core == 0)
        return fail(given, e, "core:N expected");
    for (int k = 0; k < N_TIER; k++) {
        tier *r = &m->tier[k];
        if (r->n < 0)
            r->n = r->bytes > 0 ? m->n_core : 1;
        if (!deal(m, r, tier_name[k], e))
            return false;
    }
    return true;
}

static void print_size(text *t, int64_t bytes)
{
    const int shift = bytes % (1 << 20) == 0 ? 20 : bytes % (1 << 10) == 0 ? 10 : 0;
    text_add(t, "(%lld%sB)", (long long)(bytes >> shift), shift == 20 ? "M" : shift ? "K" : "");
}

/* Shares are written only where dealing evenly would give others. */
static void print_shares(text *t, const machine *m, const tier *r)
{
    int share[MAX_CORE] = {0};
    bool even = true;
    for (int c = 0; c < m->n_core; c++)
        share[r->of[c]]++;
    for (int i = 0; i < r->n; i++)
        even = even && share[i] == (i + 1) * m->n_core / r->n - i * m->n_core / r->n;
    for (int i = 0; i < r->n && !even; i++)
        text_add(t, "%s%d", i ? "+" : "=", share[i]);
}

void machine_print(text *t, const machine *m)
{
    for (int k = 0; k < N_TIER; k++) {
        const tier *r = &m->tier[k];
        text_add(t, "%s:%d", tier_name[k], r->n);
        if (r->n > 0 && r->bytes > 0)
            print_size(t, r->bytes);
        print_shares(t, m, r);
        text_add(t, " ");
    }
    text_add(t, "core:%d", m->n_core);
    bool plain = true;
    for (int i = 0; i < m->n_core; i++)
        plain = plain && m->os[i] == i;
    for (int i = 0; i < m->n_core && !plain; i++)
        text_add(t, "%s%d%s", i ? "," : "(", m->os[i], i + 1 < m->n_core ? "" : ")");
    text_add(t, " line:%d isa:%s", m->line, m->isa->name);
    if (m->nta)
        text_add(t, " nta:l2");
    for (int i = 0; i < MAX_ISA; i++)
        if (m->known[i].of)
            text_add(t, " "), rates_print(t, &m->known[i]);
    if (m->cpu[0])
        text_add(t, " cpu:%s", m->cpu);
}
