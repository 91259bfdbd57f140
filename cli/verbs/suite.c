/* suite.c - tessera suite: a fixed list of races. */
#include "bench/report/report.h"
#include "bench/suite.h"
#include "cli/args.h"
#include "cli/outfile.h"
#include "cli/outline.h"
#include "cli/results.h"
#include "cli/session.h"
#include "graph/base/err.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool show(const args *a, const char *json, ts_error *e)
{
    ts_error none = {0}; /* stopped before the first race */
    ENDED_BY(js_free) cJSON *view = report_suite_view(json, &none);
    const paper on = console_paper(&a->console);
    (void)e;
    outline_table(js_get(view, "rows"), NULL, &on, "");
    return true;
}

/* Lists are freed by run; their texts are argv's. */
static suite suite_of(const args *a, progress *p)
{
    const ts_options machine = session_options(a);
    suite s = {.each = {.target = machine.target,
                        .judge = args_text(a, "judge"),
                        .isa = machine.isa,
                        .cache_folder = machine.cache_folder,
                        .threads = machine.threads,
                        .as_written = machine.as_written,
                        .mem_limit = machine.mem_limit,
                        .python = args_text(a, "peer-python"),
                        .progress = progress_step,
                        .user = p},
               .quick = args_flag(a, "quick"),
               .keep = outfile_keep,
               .user = (void *)(uintptr_t)args_text(a, "out")};
    s.only = args_list(a, "only", &s.n_only);
    return s;
}

/* Peers that are not installed are left out; an interpreter that somebody names is to be there. */
static bool python_runs(const args *a, ts_error *e)
{
    const char *python = args_text(a, "peer-python");
    const pid_t child = python ? fork() : -1;
    int status = 1;
    if (child == 0)
        execlp(python, python, "-c", "", (char *)NULL), _exit(127);
    if (!python || (child > 0 && waitpid(child, &status, 0) == child && status == 0))
        return true;
    err_set(e, TS_USAGE, "suite: --peer-python %.500s does not run", python);
    return err_hint(e, "name a Python interpreter, or leave it out: it is python3 of PATH then");
}

static int run(const args *a, ts_error *e)
{
    const char *out = args_text(a, "out"), *page = args_text(a, "report"), *resume = args_text(a, "resume");
    char *earlier = NULL, *json = NULL;
    int signal = 0, code = TS_OK;
    if ((out && !outfile_check(out, e)) || (page && !outfile_check(page, e)) ||
        (resume && !(earlier = outfile_text(resume, RESULTS_MOST, e))) || !python_runs(a, e))
        return free(earlier), e->code;
    progress p = progress_open(&a->console);
    suite s = suite_of(a, &p);
    s.earlier = earlier;
    const bool ok = bench_suite(&s, &json, &signal, e);
    progress_close(&p);
    if (ok && results_publish(a, json, &(published){report_suite, show}, e) && suite_failed(json))
        code = TS_FAILED;
    free((void *)s.only);
    free(earlier), free(json);
    results_stop(a, e->code == TS_OK ? signal : 0);
    return code;
}

static const option options[] = {
    {"quick", 0, FLAG, NULL, "one short launch of each, on all cores, judged by target c: for a look", ONCE},
    {"only", 0, WORD, "GLOB", "races of that name, as in 'gpt2-*'; repeats", REPEATS},
    {"out", 'o', A_FILE, "FILE", "write suite/1 as JSON, after each race", ONCE},
    {"report", 0, A_FILE, "FILE", "write one HTML page", ONCE},
    {"resume", 0, A_FILE, "FILE", "races that FILE has, of the same options, are not measured again", ONCE},
    {"judge", 0, A_TARGET, "NAME", "target whose results count as right (default: plain f64 loops; for steps, c)",
     ONCE},
    {"peer-python", 0, A_FILE, "PATH", "the Python that runs peers (default: python3 of PATH)", ONCE},
    {0},
};
static const option_group group = {"Options", options, NULL};
static const option_group *const groups[] = {&group, &session_plan_options, NULL};

const verb verb_suite = {
    .name = "suite",
    .brief = "Time a fixed list of networks, beside other runtimes",
    .usage = "",
    .groups = groups,
    .examples = "tessera suite --quick # a short look at every race\n"
                "tessera suite -o new.json # stopped: the same with --resume new.json\n"
                "tessera suite --only 'bert*' --isa avx2 -o avx2.json",
    .details = "It needs no file: BERT, MiniLM, ResNet-50, GPT-2, steps of training and small layers are made when "
               "they are timed, with one thread and with one per core. ONNX Runtime, OpenVINO and PyTorch take part "
               "where they are installed. Exits with 1 where a race could not be run, or is INVALID. tessera compare "
               "holds two suites against each "
               "other.",
    .run = run,
};
