/* dot.h - the graph of a model as a picture: text in the language of Graphviz. Models are only read; texts are the
 * caller's to free.
 * The room:  tree (names), boxes (what stands for what) -> dot: nodes, steps_dot: steps of a file -> graphviz: SVG */
#pragma once
#include "cli/console.h"
#include "graph/base/js.h"

#include <stdio.h>

typedef struct fold {
    bool whole;         /* one box for every node of the graph, nothing folded */
    const char *expand; /* recipes whose names fit this pattern are not; NULL: all are */
} fold;
/* model: an object of model/1. A picture to look at: recipes (softmax, attention) and equal layers folded, cheap steps
 * in the boxes of what they follow, weights in those of their users. The text is for free(). */
char *dot_text(const cJSON *model, const fold *how, int *count); /* how many there are */
/* Of a model that is not bound: the steps of its file, graphs inside them (bodies of loops, branches) as frames. */
char *dot_steps_text(const cJSON *model, int *boxes);
/* What the pictures share: the first lines, up to the boxes; a name within quotes, safe for terminals and Graphviz. */
typedef struct legend {
    const char *color, *text; /* of boxes; NULL ends a list */
} legend;
void dot_begin(FILE *f, const char *title, const legend *l);
/* Bounds the search for short arrows: of many boxes its last per cent takes minutes. Before the end of the text. */
void dot_hurry(FILE *f, int count);
void dot_name(FILE *f, const char *name);
void dot_type(FILE *f, const cJSON *value); /* "f32 [batch, 768]", without a shape where there is none */
/* The picture as SVG, by the program `dot`; for free(). NULL with e set when that is not installed or fails. p is told
 * of the progress. */
char *dot_svg_text(const char *dot, int boxes, progress *p, ts_error *e);
