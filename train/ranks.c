/* ranks.c - recursive halving and doubling over any collective: who adds what to what is fixed by ranks alone. */
#include "train/ranks.h"

#include "graph/base/base.h"
#include "graph/base/clock.h"
#include "graph/base/js.h"
#include "train/collective.h"

#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- who started this process ---- */
/* How many processes a kind of mpirun started, by a variable that it sets, and who speaks to it; NULL: none did */
static const char *library_of(long *count)
{
    const char *open_mpi = env_text("OMPI_COMM_WORLD_SIZE"), *mpich = env_text("PMI_SIZE");
    *count = open_mpi ? strtol(open_mpi, NULL, 10) : mpich ? strtol(mpich, NULL, 10) : 1;
    return open_mpi ? "collective-ompi-c.so" : mpich ? "collective-mpich.so" : NULL;
}

int ranks_started(void)
{
    long count;
    library_of(&count);
    return (int)count;
}

/* Beside the command, as it is built, or where it is installed. */
static void *library_open(const char *name)
{
    static const char *const folders[] = {".", COLLECTIVES};
    char own[3000], path[4096];
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = 0;
    char *slash = strrchr(own, '/');
    for (int i = 0; slash && i < 2; i++) {
        *slash = 0;
        snprintf(path, sizeof path, "%s/%s/%s", own, folders[i], name);
        void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* Open MPI's own parts look for its names there */
        if (library)
            return library;
    }
    return NULL;
}

/* The one that was built for the MPI which started this process, or for whichever was there then; else what any serves
 * that has the standard interface for binaries. */
static void *library_find(const char *name)
{
    void *own = library_open(name), *library = own ? own : library_open("collective-mpi.so");
    return library || !dlopen("libmpi_abi.so.0", RTLD_NOW | RTLD_GLOBAL) ? library : library_open("collective-abi.so");
}

static bool no_library(const char *name, ts_error *e)
{
    const char *why = dlerror();
    err_set(e, TS_TOOLCHAIN, "this process is one of several, and %s cannot be opened, nor the standard's: %.300s",
            name, why ? why : "");
    return err_hint(e,
                    "build Tessera where that MPI's headers are (libopenmpi-dev, libmpich-dev), take an MPI that has "
                    "libmpi_abi.so.0, or start one process");
}

/* Its own MPI alone knows the others. */
static bool not_its_own(ranks *r, long started, ts_error *e)
{
    err_set(e, TS_TOOLCHAIN, "this process is one of %ld, and its MPI knows of %d: another MPI started it", started,
            r->count);
    r->by->close(), r->by = NULL;
    return err_hint(e, "start it by the mpirun of the MPI that it finds");
}

/* What was said last passes through whoever started this process, and he ends soon. */
static void stop_all(const collective *by, int code)
{
    usleep(200000);
    by->stop(code);
}

/* A process that ends before its time takes all others with it. */
static void end_all(int code, void *of)
{
    const collective *by = *(const collective **)of;
    free(of);
    if (by)
        stop_all(by, code ? code : TS_FAILED);
}

/* ---- signs of life: of processes around the ring, of the thread that works within each ---- */
/* Seconds, of those in which this process runs: who is stopped himself, with all others or not, blames nobody. A span
 * between two signs may be as long as three that were seen. */
static const double SILENT = 6, BETWEEN = 0.25;
enum { SPANS = 2 };

typedef struct pulse {
    atomic_uint beats;
    atomic_llong step;      /* 0: it works at something else */
    const char *_Atomic at; /* NULL: it is not judged */
} pulse;

void ranks_judge(const ranks *r, int64_t step)
{
    if (r->pulse)
        atomic_store(&r->pulse->step, step);
    ranks_lives(r);
}

void ranks_works(const ranks *r, const char *at)
{
    if (r->pulse)
        atomic_store(&r->pulse->at, at);
    ranks_judge(r, 0);
}

void ranks_lives(const ranks *r)
{
    if (r->pulse)
        atomic_fetch_add_explicit(&r->pulse->beats, 1, memory_order_relaxed);
}

/* The first thread waits for a disk, which may take its time. */
static bool waits_for_disk(void)
{
    char line[512], state = 0;
    FILE *f = fopen("/proc/self/stat", "r");
    const char *name_end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (name_end)
        sscanf(name_end + 1, " %c", &state);
    if (f)
        fclose(f);
    return state == 'D';
}

static double cpu_seconds(clockid_t of)
{
    struct timespec t = {0};
    clock_gettime(of, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Any thread but this one, since last it did; a compiler has limits of its own. */
static bool runs(double *since)
{
    static const double LEAST = 1e-3; /* seconds; less is what libraries do in their sleep */
    siginfo_t info;
    const double now = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    if (now - *since < LEAST && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return false;
    *since = now;
    return true;
}

static void end_by(const ranks *r, const char *why)
{
    r->lost(r->user, why);
    stop_all(r->by, TS_FAILED);
}

static void end_still(const ranks *r, double still, long long step, const char *at)
{
    char line[200], number[40];
    snprintf(number, sizeof number, "step %lld", step);
    snprintf(line, sizeof line, "rank %d has stood still for %.0f s in %s, and waits for no other rank: all end",
             r->rank, still, step ? number : at);
    end_by(r, line);
}

static void *watch(void *of)
{
    ranks *r = of;
    const int left = (r->rank + r->count - 1) % r->count, right = (r->rank + 1) % r->count;
    double silent = 0, still = 0, longest = 0, ran_at = 0, before = seconds_now();
    for (unsigned seen = 0; !r->ends; usleep((useconds_t)(1e6 * BETWEEN))) {
        const double now = seconds_now(), ran = fmin(now - before, 2 * BETWEEN);
        const unsigned beats = atomic_load(&r->pulse->beats);
        const long long step = atomic_load(&r->pulse->step);
        const char *at = atomic_load(&r->pulse->at);
        const bool lives = beats != seen || (!step && (!at || runs(&ran_at)));
        char line[160];
        longest = step && lives ? fmax(longest, still) : longest;
        silent = r->by->beat(right, left) ? 0 : silent + ran, still = lives ? 0 : still + ran;
        before = now, seen = beats;
        if (silent >= SILENT) {
            snprintf(line, sizeof line,
                     "rank %d has not answered for %.0f s (stopped, or its machine is gone): all end", left, SILENT);
            end_by(r, line);
        } else if (still >= SILENT + (step ? SPANS * longest : 0) && !waits_for_disk())
            end_still(r, still, step, at);
    }
    return NULL;
}

bool ranks_open(ranks *r, ts_error *e)
{
    long count;
    const char *name = library_of(&count);
    r->rank = 0, r->count = 1, r->by = NULL, r->pulse = NULL;
    if (!name || count < 2)
        return true;
    void *library = library_find(name);
    if (!library || !(r->by = dlsym(library, COLLECTIVE_RECORD)))
        return no_library(name, e);
    r->pulse = heap_array(1, sizeof *r->pulse);
    if (!r->by->open(&r->rank, &r->count, &r->pulse->beats))
        return err_set(e, TS_TOOLCHAIN, "this MPI cannot be used by several threads (MPI_THREAD_MULTIPLE)");
    if (r->count != count)
        return not_its_own(r, count, e);
    r->ends_by = heap_array(1, sizeof *r->ends_by);
    if (on_exit(end_all, r->ends_by) != 0 || pthread_create(&r->watch, NULL, watch, r) != 0)
        return err_memory(e, 0, "a thread that watches the other ranks");
    *r->ends_by = r->by, r->watched = true;
    return true;
}

void ranks_close(ranks *r)
{
    if (!r->by)
        return;
    char *all = heap_array((size_t)r->count, 1);
    ranks_spread(r, all, (size_t)r->count); /* nobody goes while another one still works */
    free(all);
    r->ends = true;
    if (r->watched)
        pthread_join(r->watch, NULL);
    *r->ends_by = NULL;
    r->by->close();
    free(r->pulse);
    r->by = NULL, r->pulse = NULL;
}

void ranks_fail(const ranks *r, ts_error *e)
{
    static const double A_WHILE = 2; /* seconds */
    if (!r->by)
        return;
    for (const double from = seconds_now(); r->rank && seconds_now() - from < A_WHILE;)
        usleep(10000); /* signals cut a longer sleep short */
    err_in(e, "rank %d", r->rank);
}

int ranks_devices(const ranks *r)
{
    int n = 1;
    for (const char *at = r->devices; at && (at = strchr(at, ',')); at++)
        n++;
    return n;
}

/* ---- vectors ---- */
int ranks_piece(const ranks *r, int rank)
{
    int p = 0;
    for (int bit = 1; bit < r->count; bit <<= 1)
        p = 2 * p + ((rank & bit) != 0);
    return p;
}

enum { AT_ONCE = 1 << 20 }; /* elements of a message of sums */

typedef struct round_trip { /* with whom, and the bytes that go each way */
    int with;
    size_t bytes;
} round_trip;
enum { MOST_ROUND = 30 };

/* Of sums, halves of halves: with the neighbour first. Spreading goes backwards. */
static int find_rounds(const ranks *r, size_t bytes, round_trip out[MOST_ROUND])
{
    int n = 0;
    for (int bit = 1; bit < r->count; bit <<= 1)
        out[n++] = (round_trip){r->rank ^ bit, bytes /= 2};
    return n;
}

double ranks_seconds(const ranks *r, size_t bytes, const network *by)
{
    round_trip all[MOST_ROUND];
    double seconds = 0;
    for (int i = find_rounds(r, bytes, all) - 1; i >= 0; i--)
        seconds += ceil((double)all[i].bytes / (AT_ONCE * sizeof(float))) * by->latency +
                   (double)all[i].bytes / by->bandwidth;
    return seconds;
}

/* Of two partners the lower one keeps the lower half. */
bool ranks_sum(const ranks *r, float *v, int64_t n, ts_error *e)
{
    round_trip all[MOST_ROUND];
    const int rounds = find_rounds(r, (size_t)n * sizeof *v, all);
    float *came = r->count > 1 ? calloc(AT_ONCE, sizeof *came) : NULL;
    if (r->count > 1 && !came)
        return err_memory(e, AT_ONCE * sizeof *came, "what another rank sends");
    for (int k = 0; k < rounds; k++) {
        const int with = all[k].with;
        n = (int64_t)(all[k].bytes / sizeof *v);
        float *keep = r->rank > with ? v + n : v;
        const float *give = r->rank > with ? v : v + n;
        for (int64_t i = 0; i < n; i += AT_ONCE) {
            const int64_t m = n - i < AT_ONCE ? n - i : AT_ONCE;
            const size_t bytes = (size_t)m * sizeof *v;
            r->by->exchange(r->channel, with, give + i, bytes, with, came, bytes);
            for (int64_t at = 0; at < m; at++)
                keep[i + at] += came[at];
        }
        v = keep;
    }
    free(came);
    return true;
}

void ranks_spread(const ranks *r, void *v, size_t bytes)
{
    round_trip all[MOST_ROUND];
    int held = ranks_piece(r, r->rank); /* in units of a round's bytes */
    for (int k = find_rounds(r, bytes, all) - 1; k >= 0; k--, held /= 2) {
        const size_t n = all[k].bytes;
        char *own = (char *)v + (size_t)held * n, *other = (char *)v + (size_t)(held ^ 1) * n;
        r->by->exchange(r->channel, all[k].with, own, n, all[k].with, other, n);
    }
}

void ranks_collect(const ranks *r, const float *piece, int64_t n, int64_t from, int64_t to, float *out)
{
    for (int i = 0; i < r->count; i++) {
        const int64_t first = ranks_piece(r, i) * n, a = from > first ? from : first,
                      b = to < first + n ? to : first + n;
        const size_t bytes = a < b ? (size_t)(b - a) * sizeof *out : 0;
        if (bytes && r->rank == i && i == 0)
            memcpy(out + (a - from), piece + (a - first), bytes);
        else if (r->rank == i)
            r->by->exchange(r->channel, 0, piece + (a - first), bytes, 0, NULL, 0);
        else if (r->rank == 0)
            r->by->exchange(r->channel, i, NULL, 0, i, out + (a - from), bytes);
    }
}

void ranks_take(const ranks *r, void *said, size_t n)
{
    ENDED_BY(heap_free) char *all = heap_array((size_t)r->count, n);
    if (r->rank == 0)
        memcpy(all, said, n);
    ranks_spread(r, all, (size_t)r->count * n);
    memcpy(said, all, n); /* the piece of rank 0 is the first */
}

void ranks_words(const ranks *r, const char *own, char (*out)[RANKS_WORD])
{
    ENDED_BY(heap_free) char(*all)[RANKS_WORD] = heap_array((size_t)r->count, sizeof *all);
    snprintf(all[ranks_piece(r, r->rank)], sizeof *all, "%s", own);
    ranks_spread(r, all, (size_t)r->count * sizeof *all);
    for (int rank = 0; rank < r->count; rank++)
        memcpy(out[rank], all[ranks_piece(r, rank)], sizeof *out);
}

/* Its number among the ranks of its host */
static int number_here(const ranks *r)
{
    ENDED_BY(heap_free) char(*host)[RANKS_WORD] = heap_array((size_t)r->count, sizeof *host);
    char own[RANKS_WORD] = "";
    int n = 0;
    gethostname(own, sizeof own - 1);
    ranks_words(r, own, host);
    for (int rank = 0; rank < r->rank; rank++)
        n += strcmp(host[rank], own) == 0;
    return n;
}

/* ---- agreement ---- */
bool ranks_machine(const ranks *r, ts_options *o, char machine[MACHINE_TEXT], ts_error *e)
{
    if (!r->by)
        return true;
    o->device = number_here(r);
    ts_graph *g = ts_graph_make();
    const ts_tensor x = ts_input(g, "x", TS_F32, 0, NULL);
    ts_plan *p = o->machine ? NULL : ts_plan_of(g, 1, &x, 0, NULL, o, e); /* any plan says what it is for */
    ENDED_BY(heap_free) char *facts = p ? ts_plan_json(p, e) : NULL;
    ENDED_BY(js_free) cJSON *root = facts ? js_parse(facts, "a plan", e) : NULL;
    const bool ok = o->machine || root;
    if (ok) {
        snprintf(machine, MACHINE_TEXT, "%s", root ? js_get_text(root, "machine") : o->machine);
        ranks_take(r, machine, MACHINE_TEXT);
        o->machine = *machine ? machine : NULL;
    }
    ts_plan_free(p), ts_graph_free(g);
    return ok;
}

bool ranks_fine(const ranks *r, bool ok, ts_error *e)
{
    if (!r->by)
        return ok;
    ENDED_BY(heap_free) ts_error *all = heap_array((size_t)r->count, sizeof *all);
    all[ranks_piece(r, r->rank)] = ok ? (ts_error){0} : *e;
    ranks_spread(r, all, (size_t)r->count * sizeof *all);
    for (int rank = 0; rank < r->count; rank++)
        if (all[ranks_piece(r, rank)].code) {
            *e = all[ranks_piece(r, rank)];
            return err_in(e, "rank %d", rank);
        }
    return true;
}

static bool differs(const agreement *all, const agreement *own, const agreement *other, int rank, ts_error *e)
{
    err_set(e, TS_USAGE, "rank %d has %s '%s', and rank 0 has '%s'", rank, all->what, other->value, own->value);
    return err_hint(e, "start the same program with the same arguments and the same files on all of them");
}

bool ranks_agree(const ranks *r, int n, const agreement *all, ts_error *e)
{
    if (!r->by)
        return true;
    const size_t row = (size_t)n * sizeof *all;
    /* [piece][what]; of other ranks the values alone count */
    ENDED_BY(heap_free) agreement *table = heap_array((size_t)r->count, row);
    memcpy(table + ranks_piece(r, r->rank) * n, all, row);
    ranks_spread(r, table, (size_t)r->count * row);
    bool ok = true;
    for (int rank = 1; ok && rank < r->count; rank++)
        for (int i = 0; ok && i < n; i++) {
            const agreement *other = table + ranks_piece(r, rank) * n + i;
            ok = strncmp(other->value, table[i].value, AGREED) == 0 || differs(&all[i], &table[i], other, rank, e);
        }
    return ok;
}
