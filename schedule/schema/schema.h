/* schema.h - tiling/1 files: an ordered list of rules, match -> loops, layouts. The first rule whose match fits a
 * kernel decides. A schema is read-only once loaded and lives in the arena given; it is untrusted text.
 *
 * The room:  schema, rule: files, read    match: what a rule is for    choose: loops by them    notes: what was
 *            refused, or never used    schemas: those that come with the library */
#pragma once
#include "schedule/plan/plan.h"

enum { MAX_RULE_LOOPS = 16, MAX_RULE_DIMS = 16, MAX_RULE_OPS = 32, MAX_RULE_TARGETS = 8, RULE_SHARES = 32 };
typedef struct dim_test { /* "n": ">=768", "64..512", "%48==0", "128" */
    const char *axis;
    int64_t low, high, multiple; /* inclusive; multiple 0: any */
} dim_test;
typedef struct rule_layout {
    const char *operand; /* "a", "b", ... as in loops; "matmul2.b" of a stage */
    size_t stage;        /* bytes of that stage's name; 0: it names none */
    int load;            /* which of the stage's loads it is; MAX_LOADS: its result */
    const char *text;    /* "n/48 k n" */
    bool tiles;          /* a step of it is the tile of the guess: "n/tile" */
} rule_layout;
typedef struct rule {
    const char *name;
    /* Where it and its loops stand, to start messages with: "bert.json:14:16 (/rules/0/loops)" */
    const char *place, *loops_place;
    int n_op;
    const char *op[MAX_RULE_OPS]; /* operation or group; none: any */
    const char *glob;             /* of a label, or of what is read or written; NULL: any */
    const char *stage;            /* glob of the stage that it is for; NULL: for kernels, and what the name reaches */
    const char *dtype;            /* NULL: any */
    int n_target;
    const char *target[MAX_RULE_TARGETS]; /* back ends, or kinds of machines; none: any */
    const char *target_place;             /* as place */
    int n_dim;
    dim_test dim[MAX_RULE_DIMS];
    int n_loops;
    const char *loops[MAX_RULE_LOOPS]; /* alternatives, tried in order; "guess" is one */
    int n_layout;
    rule_layout layout[MAX_STAGING];
    bool fuse, optional;             /* fuse: "auto"; else "none" */
    bool whole;                      /* masked: "compute"; else "skip" */
    bool tells_way, takes_way;       /* "alternative": an algebraic one is taken where there is one, or is not */
    bool tells_recompute, recompute; /* of operations, not of kernels: recompute.h */
    int shares;                      /* of RULE_SHARES, of the bytes of what fits, most bytes by flop first; 0: all */
    const char *reuse;               /* NULL, "auto" or "none": the result has memory of its own */
    bool tells_blocks;               /* of operations, too */
    int64_t blocks;                  /* elements of a block; 0: the axis is walked whole */
    const char *compute;             /* NULL, "f32" or "tf32"; others are refused by name */
    const char *site, *site_place;   /* the device that "place" names, NULL: none; where that stands */
} rule;
typedef struct schema {
    const char *name;   /* as it calls itself, else its file's name */
    const char *source; /* path or "built in" */
    int n_rule;
    rule *rule;
    const bool *aside; /* by rule: it is for another target; NULL: none is */
    char hash[65];     /* SHA-256 of the rules as they count, after extends and override */
} schema;

typedef struct schema_use { /* who is to follow the rules: a back end, and the kind of machine that it plans for */
    const char *by, *kind;
    const char *const *known; /* all names of these, to tell a wrong one; ends with NULL. NULL: not to be told */
    const graph *g;           /* whose custom operations rules may name; NULL: those of the table only */
} schema_use;
/* what: a path (contains '/' or ends in .json), or the name of a built-in schema of the target; NULL or
 * "guess": no rules. */
bool schema_load(arena *mem, const char *what, const schema_use *by, schema *out, err *e);
char *schema_text(const char *name, const char *by, err *e);        /* of a built-in one, as its file has it; yours */
void schema_set_aside(arena *mem, schema *s, const schema_use *by); /* finds schema.aside anew */
/* The first rule from `start` on that fits kernel k, or -1. dims are those of the main stage, shared axes included. */
int schema_match(const schema *s, const kernel *k, int start);
/* The same for a stage of a kernel of several: rules for that stage, or that name what it alone has. */
int schema_match_stage(const schema *s, const kernel *k, int which, int start);
/* The same, from the first rule on, for an operation or group called so within a kernel; only "fuse" is said of it. */
int schema_match_part(const schema *s, const char *name, const node *result);
bool schema_fits(const rule *r, const kernel *k);
bool schema_fits_stage(const rule *r, const kernel *k, int which); /* op, dims and dtype do, whatever its name */
bool schema_fits_part(const rule *r, const char *name, const node *result);
bool schema_about_kernels(const rule *r); /* it says more than "place", "reuse" or "recompute" */
/* The first rule with a "place" that fits kernel k, or stage `which` of it, or an operation or group so called within a
 * kernel; or -1. It need say nothing else, and then decides no loops. */
int schema_place(const schema *s, const kernel *k);
int schema_place_stage(const schema *s, const kernel *k, int which);
int schema_place_part(const schema *s, const char *name, const node *result);
/* The first rule with "reuse" that fits kernel k, or -1; one without conditions fits copies and transfers, too. */
int schema_reuse(const schema *s, const kernel *k);
/* The first rule with "blocks" that fits an operation or group so called; else the first that has loops for it, which
 * are meant for all of it, or -1. */
int schema_blocks(const schema *s, const char *name, const node *result);
/* A rule makes a kernel of an operation or group so called, or places it. */
bool schema_parts(const schema *s, const char *name, const node *result);
bool schema_has_op(const rule *r, const char *name); /* it is for such an operation, or for any */
int schema_misses(const rule *r, const kernel *k);   /* conditions that k fails; -1: it is another operation */
/* Kernel k, or a stage of it (-1: the whole), cannot have the loops that rule `at` gives it. */
void schema_refuse(plan *p, int at, const kernel *k, int which, const char *why);
/* Lines of warnings: what was refused, and what is followed instead; kernels alike in one line. */
void schema_refused(const plan *p, text *out);
/* Lines of warnings: rules that no kernel of the plan uses, with the nearest kernels' ops and dims. used: by rule. */
void schema_unused(const schema *s, const plan *p, const bool *used, text *out);

/* choose.c: the loops of one kernel, by rules or guessed. Every candidate that was refused leaves its reason in the
 * kernel's notes, so that explain can tell all of them. */
void choose_tiles(plan *p, kernel *k); /* stage.tile, by the guess; loops are to be chosen after that */
/* used: 1 + MAX_STAGES of them: the rule that decides the kernel, then those that decide its stages; NULL: none. */
bool choose_loops(plan *p, kernel *k, const rule **used, err *e);
