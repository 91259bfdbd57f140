/* calibration.c - finds, measures and keeps rates. One entry for each machine as its line of text says it, instruction
 * set and processor: a home may be shared by several. */
#include "backends/c/calibration.h"
#include "backends/c/cpu.h"
#include "backends/cache/cache.h"

#include <string.h>

static const double LOCK_WAIT = 3; /* seconds for which another process may be measuring */

typedef struct finding {
    machine *m;
    const isa *of;
    digest key;
    cache *kept;
    rates before; /* of: NULL where nothing is kept */
} finding;

static digest key_of(const machine *m, const isa *of)
{
    hasher *h = hash_open();
    ENDED_BY(text_free) text line = {0}, features = {0};
    machine bare = *m;
    memset(bare.known, 0, sizeof bare.known);
    machine_print(&line, &bare);
    cpu_features(&features);
    hash_text(h, "rates/3");
    hash_text(h, text_str(&line));
    hash_text(h, text_str(&features));
    hash_text(h, of->name);
    return hash_close(h);
}

static bool look(finding *f)
{
    ENDED_BY(text_free) text kept = {0};
    rates r;
    const bool there = cache_get(f->kept, &f->key, &kept);
    const char *s = text_str(&kept);
    if (there && word_is("rates", s, strcspn(s, ":")) && (s += 6, rates_read(&s, &r)) && !*s && r.of == f->of)
        f->before = f->m->known[f->of - isa_table] = r;
    else if (there)
        cache_remove(f->kept, &f->key);
    return f->before.of != NULL;
}

/* What is kept will do: other work did not disturb it, or would do so again. */
static bool will_do(finding *f)
{
    return look(f) && (!f->before.disturbed || !machine_quiet(f->m));
}

static bool keep(finding *f)
{
    ENDED_BY(text_free) text word = {0};
    rates_print(&word, &f->m->known[f->of - isa_table]);
    cache_remove(f->kept, &f->key); /* what is there first stays, else */
    cache_put(f->kept, &f->key, word.s, word.length);
    return look(f);
}

static bool measure(finding *f, phases *p)
{
    double measured[N_RATE];
    phases_done(p, PHASE_PLAN);
    bool disturbed;
    const bool ok = machine_calibrate(f->m, f->of, measured, &disturbed);
    if (ok) {
        rates *r = &f->m->known[f->of - isa_table];
        *r = rates_stepped(f->of, measured, f->before.of && !f->before.disturbed ? &f->before : NULL);
        r->disturbed = disturbed;
    }
    phases_done(p, PHASE_CALIBRATION);
    return ok;
}

static bool measure_again(finding *f, const text *notes, err *e)
{
    if (!measure(f, NULL)) {
        err_set(e, TS_FAILED, "the rates of this machine cannot be measured: no threads, or no memory for it");
        return err_hint(e, "plans are decided by rates derived from its instruction set meanwhile");
    }
    if (keep(f))
        return true;
    err_set(e, TS_FILES, "the rates of this machine were measured and cannot be kept: %s",
            notes->length ? text_str(notes) : "there is no cache");
    return err_hint(e, "name a folder that can be written with --cache-dir");
}

bool calibration_find(machine *m, const machine_options *asked, rates_wanted how, err *e)
{
    const settings env = settings_read();
    ENDED_BY(text_free) text notes = {0};
    finding f = {.m = m, .of = machine_isa(m, asked->isa, e)};
    if (!f.of || !isa_includes(isa_of_host(), f.of))
        return f.of != NULL;
    if (!cache_open(&f.kept, asked->cache_folder, &env, &notes, e))
        return false;
    f.key = key_of(m, f.of);
    bool ok = true;
    if (how == RATES_KEPT)
        look(&f);
    else if (how == RATES_AGAIN || !will_do(&f)) {
        const int lock = cache_lock(f.kept, &f.key, LOCK_WAIT); /* below 0: what cannot be locked cannot be kept */
        if (how == RATES_AGAIN)
            ok = measure_again(&f, &notes, e);
        else if (lock >= 0 && (!look(&f) || f.before.disturbed) && measure(&f, asked->phases))
            keep(&f);
        cache_unlock(lock);
    }
    cache_close(f.kept);
    return ok;
}

bool calibration_print(const machine_options *asked, rates_wanted how, text *word, err *e)
{
    machine m;
    const isa *of;
    if (!machine_load(&m, NULL, e) || !(of = machine_isa(&m, asked->isa, e)) || !calibration_find(&m, asked, how, e))
        return false;
    if (m.known[of - isa_table].of)
        rates_print(word, &m.known[of - isa_table]);
    return true;
}
