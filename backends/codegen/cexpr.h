/* cexpr.h - what statements compute and where they put it, until it is printed: a tree of operations as the language
 * spells them, over names, numbers and elements of memory. Operations of vectors say of which elements, and how many.
 * So what a kernel does can be counted where it is written (count.c). They live in the arena of their statements, and
 * are shared freely. */
#pragma once
#include "backends/codegen/binding.h"
#include "backends/codegen/library.h"
#include "graph/base/base.h"

typedef enum cexpr_kind {
    C_WORD,    /* text: a name, a literal, or what a language has for something */
    C_NUMBER,  /* number */
    C_SUM,     /* number, and each argument so many times: what indices and bounds are */
    C_FLOOR,   /* $0 / number, rounded down */
    C_POINTER, /* $0 + $1, elements of `number` bytes; text: the type that is made of it, or "" */
    C_ELEMENT, /* $1[$0], of memory or of registers */
    C_FORM,    /* text, in which $0, $1, ... stand for arguments */
    C_TILE     /* a call of tile number `load` with its arguments */
} cexpr_kind;

enum { IN_REGISTERS = -1 };

/* Operators on whole numbers, of which places and conditions are made: a < b, ... */
typedef enum whole_op {
    NO_WHOLE,
    W_NUMBER, /* C_WORD: it says `number` */
    W_LESS,
    W_LEAST, /* a >= b */
    W_SAME,
    W_MIN,
    W_MAX,
    W_BOTH,
    W_EITHER,
    W_REST,
    W_QUOTIENT, /* of what is never negative */
    W_TIMES,
    W_NOT,
    W_CAST, /* no other number */
    W_BITS, /* those that one of both has */
    /* Others: the place of an element, less $1 elements; $1 where $0 holds, else 0 or $2; $0 in pieces that change
     * places (slice.h) */
    W_ADDRESS,
    W_WHERE,
    W_SWIZZLED
} whole_op;

/* Forms that move some bytes at once: from the place $0 where $1 holds; to the place $0; to the address $0 from the
 * place $1 where $2 holds; a box of map number `bytes`, from where the last $ say; rows whose addresses $1 the first
 * `number` lanes of a warp give; what a unit reads for a warp of slices that lie well */
typedef enum moves { NO_MOVE, TAKES, PUTS, SENDS, BOXES, TAKES_ROWS, TAKES_SLICE } moves;

typedef struct cexpr cexpr;
struct cexpr {
    cexpr_kind kind;
    int n;                   /* arguments */
    int load;                /* C_ELEMENT: which operand of the stage it is of; IN_REGISTERS */
    instance of;             /* C_FORM: n elements at once; 0: of one */
    const char *text, *does; /* does: as tables call it, "fma"; NULL: it is no operation on values */
    moves moves;
    int bytes, stage; /* C_ELEMENT: of memory, so many, as that stage has it; 0: of registers */
    bool shared;      /* by the workers of a group alone */
    whole_op whole;   /* C_FORM: it is such an operator, of $0 and $1 */
    const cexpr *const *arg;
    const int64_t *times; /* C_SUM: by argument */
    int64_t number;
    bool below; /* C_FLOOR: below 0, too, it is rounded down; else that says the same as 0: no trip is left */
};

const cexpr *cexpr_word(arena *mem, const char *s);    /* a name, or a literal; s is copied */
const cexpr *cexpr_spelled(arena *mem, const char *s); /* what a language has for something: "share->part" */
const cexpr *cexpr_number(arena *mem, int64_t n);
const cexpr *cexpr_literal(arena *mem, const char *s, int64_t n); /* a number that is written so */
const cexpr *cexpr_element(arena *mem, const char *pointer, const cexpr *index, int load);
const cexpr *cexpr_at(arena *mem, const cexpr *pointer, const cexpr *index, int load); /* the same of any pointer */
typedef struct index_list { /* of an array in registers, the last one: those before it, NULL for none */
    const struct index_list *before;
    const cexpr *at;
} index_list;
const index_list *index_add(arena *mem, const index_list *before, const cexpr *at);
const cexpr *cexpr_indexed(arena *mem, const char *name, const index_list *all);
const cexpr *cexpr_pointer(arena *mem, const char *type, const cexpr *base, const cexpr *index, int bytes);
/* form lives as long as mem; "$0" alone is its argument */
const cexpr *cexpr_form(arena *mem, const char *form, int n, const cexpr *const *arg);
const cexpr *cexpr_one(arena *mem, const char *form, const cexpr *a);
const cexpr *cexpr_two(arena *mem, const char *form, const cexpr *a, const cexpr *b);
const cexpr *cexpr_list(arena *mem, const cexpr *all, const cexpr *more); /* of arguments; all NULL: the first one */
/* An operation on `of` elements at once: "f32x8_fma($0, $1, $2)" */
const cexpr *cexpr_lanes(arena *mem, const char *does, instance of, const char *form, int n, const cexpr *const *arg);

/* Whole numbers, as indices and bounds are; what is known of them is worked out at once */
const cexpr *cexpr_sum(arena *mem, int64_t number, int n, const cexpr *const *arg, const int64_t *times);
const cexpr *cexpr_plus(arena *mem, const cexpr *a, int64_t number);
const cexpr *cexpr_times(arena *mem, const cexpr *a, int64_t number);
const cexpr *cexpr_floor(arena *mem, const cexpr *a, int64_t by, bool below);
/* form: the same otherwise written, with as many arguments as that has */
const cexpr *cexpr_whole_as(arena *mem, whole_op does, const char *form, int n, const cexpr *const *arg);
const cexpr *cexpr_whole(arena *mem, whole_op does, const cexpr *a, const cexpr *b);
const cexpr *cexpr_least(arena *mem, const cexpr *a, const cexpr *b);
const cexpr *cexpr_most(arena *mem, const cexpr *a, const cexpr *b);
const cexpr *cexpr_both(arena *mem, const cexpr *a, const cexpr *b); /* a and b; a NULL: b */
const cexpr *cexpr_not(arena *mem, const cexpr *a);
const cexpr *cexpr_cast(arena *mem, const char *form, const cexpr *a); /* or brackets: the number is the same */
bool cexpr_known(const cexpr *x, int64_t *number);                     /* it is a number */
bool cexpr_same(const cexpr *a, const cexpr *b);
bool cexpr_in_memory(const cexpr *x);              /* an element that is not of registers */
bool cexpr_names(const cexpr *x);                  /* it is a name, or a number that stands as it is */
bool cexpr_over(const cexpr *x, const char *name); /* it may be another one where that variable is, or data are */
const cexpr *cexpr_tile(arena *mem, int number, int n, const cexpr *const *arg); /* a call of that tile */

void cexpr_print(text *t, const cexpr *x, binding asked); /* in brackets where it binds less tightly */
const char *cexpr_text(arena *mem, const cexpr *x);       /* the same as text, to stand alone */
