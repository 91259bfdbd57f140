/* fused.h - what operators of com.microsoft share: images with channels last. Nodes are the graph's; NULL of a NULL
 * operand. */
#pragma once
#include "graph/ir/rule.h"

/* [batch, space..., channel] -> [batch, channel, space...]; back: the other way */
const node *fused_channels(graph *g, const node *x, bool back);
