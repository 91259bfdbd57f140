/* dot.h - the graph of a model as a picture: text in the language of Graphviz. */
#ifndef TS_DOT_H
#define TS_DOT_H
#include "cli/reply.h"

/* model: an object of model/1. whole: one box for every node of the graph; else a picture to look
 * at: recipes (softmax, attention) and equal layers folded, weights in the boxes of their users. The text is for
 * free(). */
char *dot_text(const cJSON *model, bool whole);
/* The picture as SVG, by the program `dot`; for free(). NULL with e set when that is not installed or fails. */
char *dot_svg(const char *dot, ts_error *e);
#endif
