/* fixture.h - made-up but plausible results/1 documents, the same bits on every machine. Texts are the caller's, to
 * free. */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

/* bert: two schemas and a peer, decided. same, undecided: the same two, closer. invalid: the second one is wrong, a
 * peer absent. large: 300 kernels x 4 candidates with long runs. hostile: names that attack every format. bare: the
 * required fields and no more. single: one candidate. NULL for any other name; free() the text. */
char *fixture_make(const char *name);

/* Every name that fixture_make knows; NULL past the end. */
const char *fixture_name(int i);
#endif
