/* tree.h - the nodes of a model as a tree of their names, so that twelve equal layers are read once. Names are split at
 * dots and slashes, and their last part is left out; a node without such a name belongs to where its weights are, or to
 * where its operands were made. Siblings that differ in a number only and hold the same are printed
 * as one: "layer.0-11". */
#ifndef TS_TREE_H
#define TS_TREE_H
#include "cli/reply.h"

#include <stdio.h>

typedef struct branch branch;

/* nodes: the list of model/1. It must outlive the tree. */
branch *tree_make(const cJSON *nodes);
void tree_free(branch *root);
/* depth: levels to print; what lies below is summed. */
void tree_print(const branch *root, int depth, FILE *f, bool color);
#endif
