/* tree.h - statements from text, a line each, as stmt_print writes them in a language made up here: small trees for
 * tests of passes. Expressions are numbers, MIN of two, or words. What is read prints as it was. */
#ifndef TS_TEST_TREE_H
#define TS_TEST_TREE_H
#include "backends/codegen/stmt.h"

extern const dialect made_up;
/* for (index i = A; i < B; i++) { | EACH(i, A, B, 1) {, of which each worker makes others | if (A) { | else { | {
 * | A = B; | MEET(); | CONST(i, A); | break; | A; | } */
stmt *tree_read(arena *mem, const char *s);
void tree_is(const stmt *in, const char *want); /* a check: what it prints */
#endif
