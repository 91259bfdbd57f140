/* boxes.h - which box of a picture stands for a node: recipes (softmax, attention) are one box, layers that are equal
 * are drawn once, what is made of weights alone is named by who reads it, and cheap steps that follow another one and
 * are its only readers stand in its box. Lists are of boxes until boxes_free; nodes are the model's. */
#pragma once
#include "cli/draw/dot.h"
#include "cli/draw/tree.h"

typedef struct boxes {
    int n;
    const cJSON **node;   /* by id */
    const cJSON **recipe; /* whose result a node is, or NULL */
    int *twin;            /* the node of the first of equal layers; itself */
    int *box;             /* of a node that is its own twin: whose box it stands in; -1: none */
    int *alike, *last;    /* of a node that is its own twin: how many it stands for, and the last of them */
    int *next;            /* the next step of the same box, by the steps' results; -1: no more */
} boxes;

/* model: an object of model/1; it must outlive the boxes. */
boxes boxes_make(const cJSON *model, const branch *tree, const fold *how);
void boxes_free(boxes *b);
int box_of(const boxes *b, int id);      /* -1: none */
int box_step(const boxes *b, int id);    /* the result of its recipe, or itself, in the first of equal layers */
double box_work(const boxes *b, int id); /* of one step, or recipe; FLOPs */
bool box_is_leaf(const cJSON *node);
bool box_is_weight(const cJSON *node); /* or another constant */
