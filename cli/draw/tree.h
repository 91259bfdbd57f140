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
/* depth: levels to print; what lies below is summed. */
/* Walks the tree from the root down. Of siblings that are printed as one only the first is entered, and `twin` tells of
 * every node of the others which node of the first it equals. Names of branches without anything of their own are
 * joined: "encoder.layer". Members may be NULL; without `twin` every sibling is entered. */
typedef struct tree_visitor {
    void *user;
    void (*enter)(void *user, const char *name, int times);
    void (*leave)(void *user);
    void (*node)(void *user, const cJSON *node);
    void (*twin)(void *user, const cJSON *node, const cJSON *first);
} tree_visitor;
double tree_elements(const cJSON *node);      /* of its value */
bool tree_like(const char *a, const char *b); /* equal but for the digits in names */
void tree_visit(const branch *root, const tree_visitor *v);
void tree_print(const branch *root, int depth, FILE *f, bool color);
