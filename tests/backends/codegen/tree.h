/* tree.h - small trees for tests of passes. Statements from text, a line each, as stmt_print writes them in a language
 * made up here; and trips of loops, as they are written here. Expressions are numbers, MIN of two, or words. What is
 * read prints as it was. */
#ifndef TS_TEST_TREE_H
#define TS_TEST_TREE_H
#include "backends/codegen/trips.h"

extern const dialect made_up;
/* for (index i = A; i < B; i++) { | EACH(i, A, B, 1) {, of which each worker makes others | if (A) { | else { | {
 * | A = B; | MEET(); | CONST(i, A); | break; | A; | } */
stmt *tree_read(arena *mem, const char *s);
void tree_is(const stmt *in, const char *want); /* a check: what it prints */

/* m_0[0,4/5)x6(...): of five trips the first four, of six elements each; ! of a rest, ~ where a mask ends it, / where
 * each part has its own, + where they are of chunks; which trips there are: ? what is left, | whole steps, $ the last
 * one, % vectors; :3 as many are written out together, :lanes they are elements, {from..to} as texts say; * a loop that
 * stages share. What is around loops has the number of the first of them, or its own. */
strip *trips_read(emitter *m, tile_phase ph, const char *s);
const char *trips_text(const emitter *m, const strip *t); /* of the emitter's arena */
#endif
