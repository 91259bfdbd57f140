/* dot.h - the graph of a model as a picture: text in the language of Graphviz. */
#ifndef TS_DOT_H
#define TS_DOT_H
#include "cli/reply.h"

typedef struct fold {
    bool whole;         /* one box for every node of the graph, nothing folded */
    const char *expand; /* recipes whose names fit this pattern are not; NULL: all are */
} fold;
/* model: an object of model/1. A picture to look at: recipes (softmax, attention) and equal layers folded, cheap steps
 * in the boxes of what they follow, weights in those of their users. The text is for free(). */
char *dot_text(const cJSON *model, const fold *how);
/* The picture as SVG, by the program `dot`; for free(). NULL with e set when that is not installed or fails. */
char *dot_svg(const char *dot, ts_error *e);
#endif
