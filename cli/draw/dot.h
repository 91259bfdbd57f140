/* dot.h - the graph of a model as a picture: text in the language of Graphviz. */
#ifndef TS_DOT_H
#define TS_DOT_H
#include "cli/reply.h"

#include <stdio.h>

typedef struct fold {
    bool whole;         /* one box for every node of the graph, nothing folded */
    const char *expand; /* recipes whose names fit this pattern are not; NULL: all are */
} fold;
/* model: an object of model/1. A picture to look at: recipes (softmax, attention) and equal layers folded, cheap steps
 * in the boxes of what they follow, weights in those of their users. The text is for free(). */
char *dot_text(const cJSON *model, const fold *how);
/* Of a model that is not bound: the steps of its file, graphs inside them (bodies of loops, branches) as frames. */
char *dot_steps(const cJSON *model);
/* What the pictures share: the first lines, up to the boxes; a name within quotes, safe for terminals and Graphviz. */
void dot_begin(FILE *f, const char *title);
void dot_name(FILE *f, const char *name);
/* The picture as SVG, by the program `dot`; for free(). NULL with e set when that is not installed or fails. */
char *dot_svg(const char *dot, ts_error *e);
#endif
