/* sites_find.c - devices by their names, as commands and rules have them: NAME, NAME:NUMBER of a back end that
 * numbers them, or NAME:PART of one that is parted. */
#include "backends/sites.h"

#include <stdlib.h>
#include <string.h>

static bool unknown(const char *what, err *e)
{
    ENDED_BY(text_free) text have = {0};
    for (const backend *const *b = backends; *b; b++)
        if ((*b)->spans) {
            text_add(&have, "%s%s%s", have.length ? ", " : "", (*b)->name, (*b)->numbered ? ":0" : "");
            if ((*b)->parted)
                text_add(&have, ", %s:numa0, %s:cores0-3", (*b)->name, (*b)->name);
        }
    err_set(e, TS_BAD_INPUT, "no device \"%.60s\"", what);
    return err_hint(e, "devices of plans over several are: %s", text_str(&have));
}

/* "NAME:1": 1; "NAME": the turn-th of those alike */
static bool read_number(const backend *by, const char *name, int turn, int *out, err *e)
{
    const char *digits = strchr(name, ':');
    const int alike = turn && by->numbered && !digits ? by->present->alike() : 0;
    *out = alike ? turn % alike : 0;
    if (!digits)
        return true;
    const size_t n = strspn(++digits, "0123456789");
    if (!n || digits[n] || n > 4) {
        err_set(e, TS_BAD_INPUT, "device \"%.60s\": \"%.60s\" is no number of a device", name, digits);
        return err_hint(e, "the first one is %.*s0", (int)(digits - name), name);
    }
    *out = (int)strtol(digits, NULL, 10);
    return true;
}

/* by: that back end, of which the machine is asked for; NULL: the one of that name. */
static bool find_device(site_search *s, const backend *by, const char *name, const machine_options *asked, site *out,
                        err *e)
{
    const char *colon = strchr(name, ':');
    const size_t n = colon ? (size_t)(colon - name) : strlen(name);
    for (const backend *const *b = backends; !by && *b; b++)
        by = word_is((*b)->name, name, n) || ((*b)->older && word_is((*b)->older, name, n)) ? *b : NULL;
    if (!by || (colon && !by->numbered && !by->parted))
        return unknown(name, e);
    machine_options own = *asked;
    own.part = colon && by->parted ? colon + 1 : NULL;
    if (!own.part && !read_number(by, name, asked->device, &own.device, e))
        return false;
    *out = (site){.name = by->numbered ? arena_format(s->mem, "%s:%d", by->name, own.device)
                          : own.part   ? arena_format(s->mem, "%s:%s", by->name, own.part)
                                       : by->name,
                  .by = by->name,
                  .own = by,
                  .takes_all = !by->takes_kernel,
                  .apart = own.part || (by->spans && by->spans->wait),
                  .on = by->target(s->mem, &own, e)};
    const int64_t most = size_named(s->limits, out->name);
    out->most = most ? most : size_named(s->limits, "");
    return out->on != NULL;
}

static machine_options plain_of(const site_search *s) /* of devices that the machine is not asked of */
{
    return (machine_options){.isa = s->asked.isa, .threads = s->asked.threads, .device = s->asked.device};
}

static bool find(void *user, const char *name, site *out, err *e)
{
    site_search *s = user;
    const machine_options plain = plain_of(s);
    return find_device(s, NULL, name, &plain, out, e);
}

static bool takes(void *user, const site *s, const kernel *k, err *e)
{
    const backend *by = sites_backend(s);
    (void)user;
    return !by->takes_kernel || by->takes_kernel(s->on, k, e);
}

void sites_search(site_search *s, arena *mem, const machine_options *asked, const char *limits)
{
    *s = (site_search){.mem = mem,
                       .asked = *asked,
                       .limits = limits,
                       .finder = {.find = find, .takes = takes, .otherwise = "c", .user = s}};
}

static bool read_one(site_search *s, const char *name, site *out, int n, err *e)
{
    const machine_options plain = plain_of(s);
    const backend *by = backend_find(arena_format(s->mem, "%.*s", (int)strcspn(name, ":"), name), e);
    if (!by ||
        (n == MAX_SITE && !err_set(e, TS_USAGE, "device \"%.60s\" is number %d of one plan, at most %d expected", name,
                                   n + 1, MAX_SITE)) ||
        !find_device(s, by, name, n && by != sites_backend(&out[0]) ? &plain : &s->asked, &out[n], e))
        return false;
    for (int i = 0; i < n; i++)
        if (!strcmp(out[i].name, out[n].name))
            return err_set(e, TS_USAGE, "device %s is named twice", out[n].name);
    return true;
}

int sites_read(site_search *s, const char *targets, site *out, err *e)
{
    int n = 0;
    for (const char *at = targets;; at++) {
        const size_t length = strcspn(at, ",");
        if (!read_one(s, arena_format(s->mem, "%.*s", (int)length, at), out, n, e))
            return 0;
        n++, at += length;
        if (!*at)
            return n;
    }
}
