/* The measuring protocol on contestants that behave as told (tests/bench/fake.sh): right, wrong,
 * dying, hanging, refusing. */
#include "bench/bench.h"
#include "bench/report/report.h"
#include "graph/base/js.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char program[4096];

static void write_outputs(const scratch *s)
{
    static float off[][4] = {{1, -2, 3, 0.5f}, {1, -2, 3.01f, 0.5f}, {1, -2, 2.4f, 0.5f}, {1, -2, -3, 0.5f}};
    static const char *const name[] = {"right.npy", "wrong.npy", "coarse.npy", "unrelated.npy"};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        const ts_array a = {.dtype = TS_F32, .rank = 1, .dim = {4}, .data = off[i]};
        CHECK(ts_npy_write(scratch_in(s, name[i]), &a, NULL));
    }
    setenv("FAKE_DATA", s->path, 1);
}

static bench_options options_for(int n, const char *const *schemas)
{
    return (bench_options){.model = "imagined",
                           .n_schemas = n,
                           .schemas = schemas,
                           .threads = 1,
                           .launches = 3,
                           .min_time = 0.9,
                           .timeout = 20,
                           .program = program};
}

static cJSON *race_of(const bench_options *o, ts_error *e)
{
    char *text = NULL;
    bool ok = bench_run(o, &text, e);
    CHECK(ok == (text != NULL) && ok == (e->code == TS_OK));
    cJSON *v = text != NULL ? js_parse(text, "results", e) : NULL;
    free(text);
    return v;
}

static const cJSON *item(const cJSON *v, const char *list, int i)
{
    return cJSON_GetArrayItem(js_get(v, list), i);
}

static void test_measures(void)
{
    const char *const schemas[] = {"right", "folder/slower", "slow", "right"};
    bench_options o = options_for(4, schemas);
    ts_error e = {0};
    o.schemas = (const char *const[]){"right", "slower", "slow", "right"};
    cJSON *v = race_of(&o, &e);
    CHECK_TEXT(e.text, "");
    CHECK_TEXT(js_get_text(v, "format"), "results/1");
    CHECK(js_get_number(v, "environment/threads", 0) == 1 && js_get_number(v, "ceilings/fma_f32_gflops", 0) > 0);
    const char *const names[] = {"right", "slower", "slow", "right #2"};
    for (int i = 0; i < 4; i++) {
        const cJSON *c = item(v, "candidates", i);
        CHECK_TEXT(js_get_text(c, "name"), names[i]);
        CHECK_TEXT(js_get_text(c, "status"), "VALID");
        CHECK(cJSON_IsNull(js_get(c, "reason")));
        /* the slowest pass is 20 ms: 0.3 s a launch make 15 rounds */
        CHECK(js_get_number(c, "stats/n", 0) == 45 && cJSON_GetArraySize(js_get(c, "samples")) == 3);
        CHECK(js_get_number(c, "numerics/max_abs", -1) == 0 && js_get_number(c, "memory/peak_bytes", 0) > 1e5);
        CHECK(js_get_number(c, "memory/arena_bytes", 0) == 64);
        const cJSON *k = item(c, "kernels", 0);
        CHECK(fabs(js_get_number(k, "median_ns", 0) - 4e6) < 1 && js_get_number(k, "calls", 0) == 1);
        CHECK_TEXT(js_get_text(k, "bound"), "fma");
        double peak = js_get_number(item(v, "ceilings/units", cJSON_GetArraySize(js_get(v, "ceilings/units")) - 2),
                                    "gflops", NAN);
        CHECK(fabs(js_get_number(k, "peak_share", 0) - 1e6 / peak / 4e6) < 1e-9);
        CHECK_TEXT(js_get_text(item(c, "kernels", 1), "bound"), "read_gbs");
    }
    CHECK(fabs(js_get_number(item(v, "candidates", 0), "stats/median_ns", 0) - 1e7) < 3e4);
    const char *const verdicts[] = {"FASTER", "FASTER", "SAME", "FASTER", "SLOWER", "SLOWER"};
    const double ratios[] = {1.03, 2, 1, 2 / 1.03, 1 / 1.03, 0.5};
    CHECK(cJSON_GetArraySize(js_get(v, "comparisons")) == 6);
    for (int i = 0; i < 6; i++) {
        const cJSON *c = item(v, "comparisons", i);
        CHECK_TEXT(js_get_text(c, "verdict"), verdicts[i]);
        CHECK(fabs(js_get_number(c, "ratio", 0) / ratios[i] - 1) < 0.004);
        CHECK(js_get_number(c, "low", 9) <= js_get_number(c, "ratio", 0) &&
              js_get_number(c, "high", 0) >= js_get_number(c, "ratio", 9));
    }
    cJSON_Delete(v);
}

/* A disturbed sample is taken again; a round that is still disturbed counts for nobody; and where most rounds are, all
 * count, less what was waited: times are always told, and who is twice as fast is found. */
static void test_disturbed(void)
{
    const char *const schemas[] = {"right", "robbed", "lost"};
    bench_options o = options_for(2, schemas);
    ts_error e = {0};
    o.min_time = 3;
    cJSON *v = race_of(&o, &e);
    const cJSON *right = item(v, "candidates", 0), *robbed = item(v, "candidates", 1), *c = item(v, "comparisons", 0);
    const double rounds = js_get_number(v, "machine_state/rounds", 0), n = js_get_number(robbed, "stats/n", 0);
    CHECK_TEXT(js_get_text(v, "machine_state/state"), "busy");
    CHECK(rounds >= 90 && n == js_get_number(v, "machine_state/counted_rounds", 0) && n < rounds);
    CHECK(n + js_get_number(robbed, "stats/set_aside", 0) == rounds && js_get_number(robbed, "stats/retaken", 0) > 0);
    CHECK(js_get_number(right, "stats/n", 0) == n && js_get_number(c, "pairs", 0) == n); /* one set for all */
    CHECK(fabs(js_get_number(robbed, "stats/median_ns", 0) - 1e7) < 3e4);
    const cJSON *launch, *s, *flag;
    int aside = 0;
    cJSON_ArrayForEach(launch, js_get(right, "samples")) cJSON_ArrayForEach(s, launch)
        cJSON_ArrayForEach(flag, js_get(s, "flags")) aside += strcmp(flag->valuestring, "set_aside") == 0;
    CHECK(aside == rounds - n);
    cJSON_Delete(v);
    const char *const crowd[] = {"lost", "lost twice"};
    o.schemas = crowd;
    v = race_of(&o, &e);
    CHECK_TEXT(js_get_text(v, "machine_state/state"), "overloaded");
    char why[128];
    snprintf(why, sizeof why, "other programs left 0 of %.0f rounds alone, in 0 of 3 launches",
             js_get_number(v, "machine_state/rounds", 0));
    CHECK_TEXT(js_get_text(v, "machine_state/why"), why);
    CHECK_TEXT(js_get_text(item(v, "candidates", 0), "status"), "VALID");
    CHECK(fabs(js_get_number(item(v, "candidates", 0), "stats/median_ns", 0) / 1e7 - 1) < 0.01);
    CHECK_TEXT(js_get_text(item(v, "comparisons", 0), "verdict"), "FASTER");
    CHECK(fabs(js_get_number(item(v, "comparisons", 0), "ratio", 0) / 2 - 1) < 0.01);
    cJSON_Delete(v);
}

/* More launches follow the wanted ones while nothing is decided and there is time; one that is decided ends. */
static void test_open(void)
{
    const char *const apart[] = {"right", "slow"}, *const spread[] = {"restless", "restless too"};
    bench_options o = options_for(2, apart);
    ts_error e = {0};
    o.max_time = 5;
    cJSON *v = race_of(&o, &e);
    CHECK(cJSON_GetArraySize(js_get(item(v, "candidates", 0), "samples")) == o.launches);
    cJSON_Delete(v);
    o.schemas = spread;
    v = race_of(&o, &e);
    CHECK(cJSON_GetArraySize(js_get(item(v, "candidates", 0), "samples")) > o.launches);
    cJSON_Delete(v);
    o.max_time = 0;
    v = race_of(&o, &e);
    CHECK(cJSON_GetArraySize(js_get(item(v, "candidates", 0), "samples")) == o.launches);
    cJSON_Delete(v);
}

static void test_failures(void)
{
    const char *const schemas[] = {"right", "wrong", "crash", "late_crash", "babble", "unbuilt", "mute"};
    bench_options o = options_for(7, schemas);
    ts_error e = {0};
    cJSON *v = race_of(&o, &e);
    CHECK_TEXT(js_get_text(item(v, "candidates", 0), "status"), "VALID");
    const char *const reasons[] = {
        "",
        "wrong: output 0, element 2 is 3.00999999 and should be 3; off by 0.00333 of the largest, allowed 0.0001",
        "its process killed by signal 11 (Segmentation fault)",
        "its process killed by signal 6 (Aborted): died of age",
        "answered \"what a day\" to \"run 0 1\"",
        "cc: not found",
        "its process ended with code 9: something is broken here",
    };
    for (int i = 1; i < 7; i++) {
        const cJSON *c = item(v, "candidates", i);
        CHECK_TEXT(js_get_text(c, "status"), "INVALID");
        CHECK_TEXT(js_get_text(c, "reason"), reasons[i]);
        CHECK(cJSON_IsNull(js_get(c, "stats"))); /* no time */
    }
    CHECK(fabs(js_get_number(item(v, "candidates", 1), "numerics/max_rel", 0) - 0.01 / 3) < 1e-6);
    CHECK(cJSON_GetArraySize(js_get(v, "comparisons")) == 0);
    cJSON_Delete(v);
}

static void test_hang(void)
{
    const char *const schemas[] = {"hang", "right"};
    bench_options o = options_for(2, schemas);
    ts_error e = {0};
    o.timeout = 3; /* a shell that shares its processor with many starts late */
    o.launches = 1;
    cJSON *v = race_of(&o, &e);
    CHECK_TEXT(js_get_text(item(v, "candidates", 0), "reason"), "timeout: no answer to \"run 0 1\" in 3 s");
    char *hung = js_to_text(v, false);
    CHECK(bench_timed_out(hung)); /* tessera bench ends with 124 then */
    CHECK(strstr(hung, "\"1 launch: how much launches differ"));
    free(hung);
    CHECK_TEXT(js_get_text(item(v, "candidates", 1), "status"), "VALID");
    cJSON_Delete(v);
}

static void put_file(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL && fclose(f) == 0);
}

/* Of a model that rounds, results may be off by whole steps, and by what later steps make of them: they are raced, and
 * who is less accurate is said. */
static void test_rounding(void)
{
    const char *const schemas[] = {"right", "wrong", "coarse", "unrelated"};
    bench_options o = options_for(4, schemas);
    ts_error e = {0};
    char path[300], *markdown = NULL;
    put_file(getenv("FAKE_DATA"), "rounds");
    for (int i = 0; i < 2; i++) {
        o.tolerance = i ? 1e-3 : 0; /* one that is given is the only one */
        cJSON *v = race_of(&o, &e);
        const cJSON *wrong = item(v, "candidates", 1), *pair = item(v, "comparisons", 0);
        CHECK_TEXT(js_get_text(wrong, "status"), i ? "INVALID" : "VALID");
        CHECK(fabs(js_get_number(wrong, "numerics/max_rel", 0) - 0.01 / 3) < 1e-6);
        CHECK(js_get_number(wrong, "numerics/tolerance", 0) == (i ? 1e-3 : 1));
        CHECK(i == cJSON_IsNull(js_get(item(v, "candidates", 2), "stats"))); /* its time is shown */
        CHECK(!strncmp(js_get_text(item(v, "candidates", 3), "reason"), "wrong: output 0, element 2 is -3 and", 36));
        CHECK(i ||
              (js_get_number(pair, "a_error", 1) == 0 && fabs(js_get_number(pair, "b_error", 0) - 0.01 / 3) < 1e-6));
        char *text = js_to_text(v, false);
        CHECK(i == !strstr(text, "\"coarse is off by 20 % of the largest value: the model rounds to few bits again"));
        CHECK(report_markdown(text, &markdown, &e) &&
              (!i == !!strstr(markdown, "Not equally accurate: `right` is off by 0 "
                                        "of the largest value, `wrong` by 0.0033")));
        free(text), free(markdown), markdown = NULL;
        cJSON_Delete(v);
    }
    snprintf(path, sizeof path, "%s/rounds", getenv("FAKE_DATA"));
    unlink(path);
}

/* Peers: their own program, an ONNX file or a folder with one. */
static void test_peers(void)
{
    const char *const schemas[] = {"slow"}, *const peers[] = {"other"}, *folder = getenv("FAKE_DATA");
    bench_options o = options_for(1, schemas);
    ts_error e = {0};
    o.launches = 1;
    o.n_peers = 1;
    o.peers = peers;
    o.peers_folder = folder;
    o.python = program;
    put_file(folder, "other.py");
    put_file(folder, "model.onnx");
    o.model = folder;
    cJSON *v = race_of(&o, &e);
    CHECK_TEXT(e.text, "");
    const cJSON *p = item(v, "peers", 0), *c = item(v, "comparisons", 0);
    CHECK_TEXT(js_get_text(p, "name"), "other");
    CHECK_TEXT(js_get_text(p, "status"), "VALID");
    CHECK(fabs(js_get_number(p, "stats/median_ns", 0) - 1e7) < 3e4 && js_get(p, "kernels") == NULL);
    CHECK_TEXT(js_get_text(c, "a"), "slow");
    CHECK_TEXT(js_get_text(c, "b"), "other");
    CHECK_TEXT(js_get_text(c, "verdict"), "SLOWER");
    CHECK(fabs(js_get_number(c, "ratio", 0) - 0.5) < 0.002); /* time of b / time of a */
    cJSON_Delete(v);
}

static void test_mistakes(void)
{
    const char *const schemas[] = {"right", "refuses"};
    bench_options o = options_for(2, schemas);
    char path[600];
    ts_error e = {0};
    put_file(getenv("FAKE_DATA"), "refused"); /* found out before the reference is computed: nobody is to be opened */
    CHECK(race_of(&o, &e) == NULL && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "schema refuses: rule 2: no axis \"q\"");
    snprintf(path, sizeof path, "%s/refused", getenv("FAKE_DATA"));
    CHECK(unlink(path) == 0);
    const char *const peers[] = {"nobody"};
    ts_error f = {0};
    o = options_for(1, schemas);
    o.n_peers = 1;
    o.peers = peers;
    o.peers_folder = getenv("FAKE_DATA");
    CHECK(race_of(&o, &f) == NULL && f.code == TS_USAGE && strstr(f.text, "unknown peer \"nobody\"") != NULL);
    ts_error i = {0};
    put_file(o.peers_folder, "other.py");
    o.peers = (const char *const[]){"other"};
    CHECK(race_of(&o, &i) == NULL && strstr(i.text, "built-in model \"imagined\"") != NULL); /* to export for it */
    ts_error g = {0};
    o = options_for(1, schemas);
    o.threads = 4000;
    CHECK(race_of(&o, &g) == NULL && g.code == TS_USAGE && strstr(g.text, "4000 threads") != NULL);
    ts_error h = {0};
    o = options_for(1, schemas);
    o.program = "/nonexistent/tessera";
    CHECK(race_of(&o, &h) == NULL);
    CHECK_TEXT(h.text, "the reference, which every result is compared with: its process cannot be executed");
}

/* A peer that cannot run is found before anything is planned or timed. */
static void test_absent(void)
{
    const char *const schemas[] = {"right"}, *const peers[] = {"other"};
    bench_options o = options_for(1, schemas);
    char path[600];
    ts_error e = {0}, f = {0};
    o.n_peers = 1;
    o.peers = peers;
    o.peers_folder = o.model = getenv("FAKE_DATA");
    o.python = program;
    put_file(getenv("FAKE_DATA"), "absent");
    put_file(getenv("FAKE_DATA"), "refused"); /* nobody is opened */
    CHECK(race_of(&o, &e) == NULL && e.code == TS_USAGE);
    char want[5000];
    snprintf(
        want, sizeof want,
        "peer other cannot run with %s: the package other is not installed\n  hint: install what is missing for that "
        "interpreter, name another with --peer-python PATH, or leave --peer other out",
        program);
    CHECK_TEXT(e.text, want);
    o.python = "/nonexistent/python";
    CHECK(race_of(&o, &f) == NULL && f.code == TS_USAGE);
    CHECK(strstr(f.text, "peer other cannot run with /nonexistent/python: its process cannot be executed") != NULL);
    const char *const made[] = {"absent", "refused"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", getenv("FAKE_DATA"), made[i]);
        CHECK(unlink(path) == 0);
    }
}

/* A signal in the third launch: what was measured is kept, and a second race measures only the rest. */
static void test_resume(void)
{
    const char *const schemas[] = {"right", "stops"};
    bench_options o = options_for(2, schemas);
    char *text = NULL, path[600];
    ts_error e = {0}, f = {0}, g = {0}, h = {0};
    sigset_t term;
    signal(SIGTERM, SIG_DFL);
    sigemptyset(&term);
    put_file(getenv("FAKE_DATA"), "stop");
    CHECK(bench_run(&o, &text, &e) && text != NULL && e.code == TS_OK);
    cJSON *v = cJSON_Parse(text);
    CHECK(bench_stopped(text) == SIGTERM && js_get_number(v, "partial/wanted_launches", 0) == 3);
    CHECK(js_get_number(v, "partial/launches", 0) == 1);
    CHECK(cJSON_GetArraySize(js_get(item(v, "candidates", 1), "samples")) == 1);
    const double first = js_get_number(
        cJSON_GetArrayItem(cJSON_GetArrayItem(js_get(item(v, "candidates", 0), "samples"), 0), 0), "ns", 0);
    snprintf(path, sizeof path, "%s/stop", getenv("FAKE_DATA"));
    CHECK(unlink(path) == 0);
    o.resume = text;
    cJSON *w = race_of(&o, &f);
    CHECK_TEXT(f.text, "");
    const cJSON *launches = js_get(item(w, "candidates", 0), "samples");
    CHECK(js_get(w, "partial") == NULL && cJSON_GetArraySize(launches) == 3);
    CHECK(js_get_number(cJSON_GetArrayItem(cJSON_GetArrayItem(launches, 0), 0), "ns", 1) == first);
    CHECK(cJSON_GetArraySize(js_get(cJSON_GetArrayItem(js_get(item(w, "candidates", 0), "kernels"), 0), "launch_ns")) ==
          3);
    o.seed = 9;
    CHECK(race_of(&o, &g) == NULL);
    CHECK_TEXT(g.text,
               "--resume: seed was 0 and is 9\n  hint: a race goes on with the options, on the machine and with the "
               "model that it began with");
    char *whole = js_to_text(w, false);
    o.seed = 0;
    o.resume = whole;
    CHECK(race_of(&o, &h) == NULL);
    CHECK_TEXT(h.text, "--resume: these results are whole, there is nothing to go on with");
    free(whole), free(text), cJSON_Delete(v), cJSON_Delete(w);
}

static int folders_left(const char *base)
{
    DIR *d = opendir(base);
    int n = 0;
    for (const struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;)
        n += strncmp(entry->d_name, "tessera-bench-", 14) == 0;
    if (d != NULL)
        closedir(d);
    return n;
}

/* A signal while a contestant hangs: it takes its usual course, after everything is tidied up. */
static void test_signal(void)
{
    const char *const schemas[] = {"hang"};
    bench_options o = options_for(1, schemas);
    pid_t pid = fork();
    if (pid == 0) {
        char *text = NULL;
        ts_error e = {0};
        bench_run(&o, &text, &e);
        _exit(0);
    }
    int status = 0;
    sleep(2); /* about where it hangs; an earlier signal must do as well */
    kill(pid, SIGTERM);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

int main(void)
{
    const char *source = getenv("SOURCE");
    snprintf(program, sizeof program, "%s/tests/bench/fake.sh", source != NULL ? source : ".");
    scratch s = scratch_make();
    write_outputs(&s);
    setenv("TMPDIR", s.path, 1);
    test_measures();
    test_disturbed();
    test_open();
    test_failures();
    test_rounding();
    test_hang();
    test_peers();
    test_mistakes();
    test_absent();
    test_resume();
    test_signal();
    CHECK(folders_left(s.path) == 0);
    scratch_free(&s);
    return check_done();
}
