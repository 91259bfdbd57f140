/* optimizer.h - optimizers as recipes. One is a file of autodiff/optimizers with a record, which the build lists; its
 * update says in formulas what a step does to one parameter. Formulas are over p (the parameter), g (its gradient,
 * clipped), lr (the learning rate), t (the number of the step, from 1), the settings, and what was named before.
 * Numbers of no axes are computed in f64, whatever the parameter's dtype. Records are constant. A recipe lives while
 * one parameter is given its formulas; what it makes are the graph's nodes. */
#pragma once
#include "graph/ir/graph.h"

typedef struct recipe recipe; /* one parameter being given its formulas */

typedef struct optimizer {
    const char *name, *doc;
    const char *settings; /* with their usual values: "momentum=0.9 nesterov=0" */
    void (*update)(recipe *r);
} optimizer;
extern const optimizer *const optimizers[]; /* made by the build; ends with NULL */

/* name := the value of a formula: "m" := "beta1*m+(1-beta1)*g". For states and p the last one counts. */
void r_let(recipe *r, const char *name, const char *formula);
/* A state of the parameter, in its shape; with axes, in the shape of its mean over them. It starts as zeros. */
void r_state(recipe *r, const char *name);
void r_state_over(recipe *r, const char *name, int n, const int64_t *axes);
/* name := the mean of the value called `of` over axes, which stay with extent 1; n 0: over all, without axes. */
void r_mean(recipe *r, const char *name, const char *of, int n, const int64_t *axes);
double r_setting(const recipe *r, const char *name);
const type *r_type(const recipe *r); /* of the parameter */
