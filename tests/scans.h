/* scans.h - loops, for tests of who computes them: what a scan gives against the same trips written out. Graphs are of
 * a case and end with it, and so do the tensors and values that f is shown. */
#ifndef TS_TEST_SCANS_H
#define TS_TEST_SCANS_H
#include "tessera.h"

typedef struct scans_on {
    ts_options options;
    bool bits;  /* to the bit, else near */
    int slopes; /* gradients of so many orders, too */
} scans_on;
void scans_check(int n, const scans_on *on);
/* The same loops, with values for all inputs; f: what is to be done with each */
typedef struct scans_case {
    ts_graph *g;
    int n;
    const ts_tensor *out;
    int n_given;
    const ts_given *given;
} scans_case;
void scans_each(void (*f)(void *user, const char *name, const scans_case *c), void *user);
enum { SCANS_MOST = 32 }; /* outputs of a case, and slopes */
/* Slopes of the squares of all outputs, added up, with respect to the inputs of reals; how many */
int scans_slopes(const scans_case *c, ts_tensor slope[SCANS_MOST]);
void scans_same(const char *how, int n, ts_array *a, ts_array *b); /* have the same bits; both are freed */
/* Gradients over states that are kept of every so many trips, against those over all. */
void scans_check_keep(int64_t every, bool back, const ts_options *o);
/* What is said when an index of a trip is outside */
void scans_check_outside(const ts_options *o);
#endif
