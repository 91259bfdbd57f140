/* declined.h - ways to compute a kernel that were weighed and not taken, each with both numbers that decided. They are
 * for people alone: no pass reads them. Lists lie in the plan's arena, in the order in which they were met; texts of
 * reasons are the program's own. */
#pragma once
#include "graph/ir/graph.h"

typedef struct reason { /* "results left for a register tile: 2, at least 4 expected" */
    const char *what;   /* NULL: there is none, it was taken or not asked for */
    double here, limit;
    const char *bound; /* of the limit: "at least", "at most"; NULL: what says it all */
} reason;
/* All give false, for the function that declines; r: NULL where nobody asks. */
bool reason_is(reason *r, const char *what);
bool reason_least(reason *r, const char *what, double here, double limit); /* expected, and not so */
bool reason_most(reason *r, const char *what, double here, double limit);

typedef struct declined {
    const node *node; /* whose kernel it would have changed */
    const node *with; /* what would have been computed there, too, or NULL */
    const char *way;  /* "inlining into", "Winograd"; with `with`, what is done to both */
    reason why;
    const struct declined *next;
} declined;
typedef struct declined_list {
    const declined *first;
    declined *last;
} declined_list;
void declined_add(arena *mem, declined_list *to, const declined *one); /* nothing without a reason */

typedef struct plan plan;
/* Lines, by kernel: what was declined there. */
void declined_print(const plan *p, text *lines);
