/* alternatives.h - another way to a value that an operation offers, weighed against what the model says. Only asks:
 * alternatives.c puts the other nodes in the place of those that are replaced. Nothing is changed or kept. */
#ifndef TS_ALTERNATIVES_H
#define TS_ALTERNATIVES_H
#include "schedule/plan/declined.h"
#include "schedule/plan/target.h"

/* Fewer operations, with what is gone through beside them, by the share that the operation asks for; and what is saved
 * is not spent on waiting for more weights. False where n offers none. What is not so goes into `no`, with the name of
 * the way, if n offers one. */
bool alternative_pays(const target *on, const node *n, declined *no);
#endif
