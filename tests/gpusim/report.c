/* report.c - options, and the messages about what a kernel did wrong. */
#include "tests/gpusim/sim.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

options sim_opt;
int simcuda_report_count;
static char said[8192]; /* every message since simcuda_clear_reports() */

static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
            return true;
    return false;
}

int sim_whole(const char *s)
{
    return (int)strtol(s, NULL, 10);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

void sim_options_read(void)
{
    const char *c = getenv("SIMCUDA_CHECK"), *s;
    if (!c || !*c)
        c = "races,uninit,barriers";
    bool all = listed(c, "all");
    sim_opt.races = all || listed(c, "races");
    sim_opt.uninit_shared = sim_opt.uninit_global = all || listed(c, "uninit");
    sim_opt.barriers = all || listed(c, "barriers");
    sim_opt.global_races = all || listed(c, "global-races");
    sim_opt.keep_going = listed(c, "warn");
    sim_opt.workers = (int)number("SIMCUDA_THREADS", 1);
    if (sim_opt.workers < 1)
        sim_opt.workers = 1;
    if (sim_opt.workers > 16)
        sim_opt.workers = 16;
    if (sim_opt.global_races)
        sim_opt.workers = 1;
    s = getenv("SIMCUDA_ORDER");
    sim_opt.order = !s ? 0 : !strcmp(s, "reverse") ? -1 : sim_whole(s);
    s = getenv("SIMCUDA_STREAMS");
    sim_opt.eager = s && !strcmp(s, "eager");
    s = getenv("SIMCUDA_APPROX");
    sim_opt.perturb = s && !strcmp(s, "coarse");
    s = getenv("SIMCUDA_COUNTS");
    sim_opt.counts = s && *s;
    sim_opt.memory = number("SIMCUDA_MEMORY", 8ull << 30);
    sim_opt.max_steps = number("SIMCUDA_MAX_STEPS", 2000000000ull);
    sim_opt.verbose = (int)number("SIMCUDA_VERBOSE", 1);
}

void sim_note(const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%s%s", n ? "\n" : "", text);
    simcuda_report_count++;
    if (sim_opt.verbose)
        fprintf(stderr, "simcuda: %s\n", text);
}

/* Has this launch already reported the same thing about the same instruction? */
static bool seen_before(launch *l, const instruction *in, const char *fmt)
{
    for (int i = 0; i < l->nseen; i++)
        if (l->seen[i].in == in && l->seen[i].fmt == fmt)
            return true;
    if (l->nseen < MAX_REPORTS) {
        l->seen[l->nseen].in = in;
        l->seen[l->nseen++].fmt = fmt;
        return false;
    }
    return true;
}

void sim_report(warp *w, const instruction *in, int lane, check_code code, bool fatal, const char *fmt, ...)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    block *b = w->blk;
    launch *l = b->launch;
    char what[1024], where[512] = "";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (in && in->line && in->file >= 0 && in->file < w->fn->module->nfiles && w->fn->module->files[in->file])
        snprintf(where, sizeof where, " at %s:%d", w->fn->module->files[in->file], in->line);
    pthread_mutex_lock(&lock);
    if (!seen_before(l, in, fmt)) {
        unsigned t = (unsigned)lane_tid(w, lane), bx = l->block[0], by = l->block[1];
        sim_note("%s in kernel %s, block (%u,%u,%u) thread (%u,%u,%u)%s, PTX line %d", what, w->fn->name, b->ctaid[0],
                 b->ctaid[1], b->ctaid[2], t % bx, t / bx % by, t / (bx * by), where, in ? in->ptx_line : 0);
    }
    if (!sim_opt.keep_going || fatal)
        l->status = (int)code;
    bool give_up = fatal || ++l->reports > 1000;
    pthread_mutex_unlock(&lock);
    if (give_up)
        longjmp(b->escape, 1);
}

const char *simcuda_reports(void)
{
    return said;
}
void simcuda_clear_reports(void)
{
    said[0] = 0;
    simcuda_report_count = 0;
}
