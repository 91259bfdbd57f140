/* outside.h - the error of an index that is outside of its axis, the same from every back end: it names the value of
 * the plan's input that led there, its place and the rows there are; where none can be named, the axes that are
 * indexed. All is borrowed for the call: what the error says is a copy. */
#pragma once
#include "schedule/plan/plan.h"

/* It happened in that kernel, or in that node's definition: `found` says there what is known without the inputs. Always
 * false. input: as backend.run has them. */
bool outside_kernel(const plan *p, const kernel *k, void *const *input, err *e);
bool outside_node(const plan *p, const node *n, void *const *input, const err *found, err *e);
