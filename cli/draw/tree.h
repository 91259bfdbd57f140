/* tree.h - the nodes of a model as a tree of their names, so that twelve equal layers are read once. Names are split at
 * dots and slashes, and their last part is left out; a node without such a name belongs to where its weights are, or to
 * where its operands were made. Siblings that differ in a number only and hold the same are printed as one:
 * "layer.0-11". A tree is its maker's until tree_free; it borrows the model and names in it. */
#pragma once
#include "graph/base/js.h"

#include <stdio.h>

typedef struct branch branch;

/* model: an object of model/1. It must outlive the tree. */
branch *tree_make(const cJSON *model);
void tree_free(branch *root);
/* The tree as frames, each in front of those within it. Names of branches without anything of their own are joined:
 * "encoder.layer". Folded, siblings that are printed as one are one frame, and their nodes twins. */
typedef struct frames {
    int n, cap;
    struct frame {
        char *name;
        int outer, times; /* outer: the one around it, -1: none */
    } * of;
    int *home; /* by id: the frame of a node; -1: none */
    int *twin; /* by id: the node of the first of equal layers, or itself */
} frames;
frames frames_make(const branch *root, int nodes, bool folded);
void frames_free(frames *f);
double tree_elements(const cJSON *node);                             /* of its value */
bool tree_like(const char *a, const char *b);                        /* equal but for the digits in names */
void tree_print(const branch *root, int depth, FILE *f, bool color); /* levels; what lies below is summed */
