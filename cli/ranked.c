/* ranked.c - the table of bench --ranks: the model over shares of the batch, or its training step in shards. */
#include "cli/unraced.h"
#include "bench/bench.h"
#include "bench/ranked.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/shards.h"
#include "cli/train_options.h"
#include "graph/base/base.h"
#include "train/timed.h"

#include <stdlib.h>

static const char form[] = "{what} of {shards} shard[shards=1?|s], {ranks} rank[ranks=1?|s]: {p50_ns} (p90 {p90_ns}, "
                           "{count} of them); rank {slowest} works longest, "
                           "{spread:%.1f%} % longer than the quickest\n"
                           "[exchange_ns?exchange {exchange_ns}, of which {exposed_ns} in which nothing else is done\n]"
                           "{rows!>rank=rank|device=on|>p50_ns=own work|>p90_ns=p90|>waits_ns=waits}";

typedef struct contest {
    const args *args;
    ranks ranks;
    char machine[MACHINE_TEXT];
    ts_options options;
    int shards;
    timed_step step; /* --train */
    session session; /* else */
    shard_run run;
} contest;

static void tell_lost(void *user, const char *why)
{
    const contest *c = user;
    console_warn(&c->args->console, "%s", why);
}

static bool share_out(contest *c, ts_error *e)
{
    const int n = c->ranks.count, asked = (int)args_integer(c->args, "shards");
    c->shards = asked ? asked : n;
    if ((c->shards & (c->shards - 1)) == 0 && (n & (n - 1)) == 0 && n <= c->shards)
        return true;
    err_set(e, TS_USAGE, "%d process%s cannot share --shards %d", n, n == 1 ? "" : "es", c->shards);
    return err_hint(e, "both are powers of 2, with at least as many shards as processes");
}

static bool agree(const contest *c, ts_error *e)
{
    agreement all[] = {{"the program", ""}, {"the options", ""}};
    ENDED_BY(text_free) text said = {0};
    for (int i = 0; i < c->args->n_nouns; i++)
        text_add(&said, "%s\n", c->args->noun[i]);
    for (int i = 0; i < c->args->n_given; i++)
        text_add(&said, "--%s %s\n", c->args->given[i].option->name,
                 c->args->given[i].value ? c->args->given[i].value : "");
    ts_hash_bytes(text_str(&said), said.length, all[1].value);
    return ts_file_hash("/proc/self/exe", all[0].value, e) && ranks_agree(&c->ranks, COUNT(all), all, e);
}

/* ---- what is timed ---- */
static bool make_step(contest *c, ts_error *e)
{
    train_options w;
    option_make(&w);
    train_options_take(&w, c->args);
    w.shards = c->shards;
    cJSON *asked = option_json(&w);
    c->step.ranks = &c->ranks;
    const bool ok = option_fits(&w, e) && timed_open(&c->step, asked, args_noun(c->args, 0), e) &&
                    timed_draw(&c->step, (uint64_t)args_integer(c->args, "seed"), e) &&
                    timed_plan(&c->step, &c->options, e) && step_build(&c->step.step, e) && timed_begin(&c->step, e);
    cJSON_Delete(asked), option_free(&w);
    return ok;
}

static bool run_step(void *user, ranked_pass *out, ts_error *e)
{
    contest *c = user;
    step_result r = {0};
    const bool ok = timed_step_run(&c->step, &r, e);
    *out = (ranked_pass){r.exchanged, r.waited};
    return ok;
}

static bool make_pass(contest *c, ts_error *e)
{
    session *s = &c->session;
    if (!session_open(s, c->args, args_noun(c->args, 0), e) ||
        !session_fill(s, (uint64_t)args_integer(c->args, "seed"), e))
        return false;
    s->options = c->options;
    return shard_run_make(&c->run, s, c->shards, e);
}

static bool run_pass(void *user, ranked_pass *out, ts_error *e)
{
    contest *c = user;
    const int own = c->shards / c->ranks.count;
    (void)out;
    return shard_run_some(&c->run, c->ranks.rank * own, own, e);
}

static void add_devices(const contest *c, bool train, cJSON *rows)
{
    const char *own = train               ? ts_plan_device(c->step.step.plan)
                      : c->run.n_plan > 1 ? c->options.target
                                          : ts_plan_device(c->run.plan[0]);
    ENDED_BY(heap_free) char(*on)[RANKS_WORD] = heap_array((size_t)c->ranks.count, sizeof *on);
    ranks_words(&c->ranks, own, on);
    for (int i = 0; i < c->ranks.count; i++)
        js_text(cJSON_GetArrayItem(rows, i), "device", on[i]);
}

static cJSON *measure(contest *c, ts_error *e)
{
    const args *a = c->args;
    const bool train = args_flag(a, "train");
    cJSON *root = reply_make("ranked/1");
    js_put(root, "model:%s,what:%s,ranks:%d,shards:%d", args_noun(a, 0), train ? "a step" : "a pass", c->ranks.count,
           c->shards);
    const ranked r = {&c->ranks, args_count(a, "min-time") ? args_number(a, "min-time") : bench_usual.min_time,
                      train ? run_step : run_pass, c};
    const bool ok = ranks_machine(&c->ranks, &c->options, c->machine, e) &&
                    (train ? make_step(c, e) : make_pass(c, e)) && ranked_run(&r, root, e);
    if (ok)
        return add_devices(c, train, cJSON_GetObjectItem(root, "rows")), root;
    cJSON_Delete(root);
    return NULL;
}

bool ranked_bench(const args *a, ts_error *e)
{
    contest *c = heap_array(1, sizeof *c);
    c->args = a, c->options = session_options(a), c->ranks.lost = tell_lost, c->ranks.user = c;
    cJSON *root = NULL;
    bool ok = ranks_open(&c->ranks, e), together = false;
    if (ok && !(ok = share_out(c, e) && agree(c, e)))
        together = true;
    ok = ok && (root = measure(c, e));
    if (!ok && !together) {
        ranks_fail(&c->ranks, e);
        if (c->ranks.by)
            return false; /* what watches the other ranks lives on, until this process ends */
    }
    timed_close(&c->step);
    ranks_close(&c->ranks);
    const bool leads = c->ranks.rank == 0;
    progress_close(&c->session.progress);
    reply_done(a, root && leads, root, form);
    shard_run_free(&c->run), session_close(&c->session), free(c);
    if (!leads)
        *e = (ts_error){0};
    return ok || !leads;
}
