/* concurrent.c - the table of bench --concurrent: one request at a time on all threads, then N at a time. */
#include "cli/unraced.h"
#include "bench/bench.h"
#include "bench/concurrent.h"
#include "cli/say.h"
#include "cli/session.h"

static const char form[] = "{rows!>requests=requests|>threads=threads of each|>count=passes|>per_second=per second|"
                           ">p50_ns=p50|>p90_ns=p90|>p99_ns=p99}";

bool concurrent_bench(const args *a, ts_error *e)
{
    session s = {0};
    cJSON *root = reply_make("concurrent/1"), *rows;
    js_text(root, "model", args_noun(a, 0));
    rows = js_array(root, "rows");
    bool ok = session_open(&s, a, args_noun(a, 0), e) && session_fill(&s, (uint64_t)args_integer(a, "seed"), e);
    concurrent c = {.model = s.model, .options = s.options, .value = s.value, .n_inputs = s.n_inputs, .requests = 1};
    c.seconds = args_count(a, "min-time") ? args_number(a, "min-time") : bench_usual.min_time;
    ok = ok && concurrent_run(&c, rows, e);
    c.requests = (int)args_integer(a, "concurrent");
    ok = ok && (c.requests == 1 || concurrent_run(&c, rows, e));
    progress_close(&s.progress);
    reply_done(a, ok, root, form);
    session_close(&s);
    return ok;
}
