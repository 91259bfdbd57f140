/* walk.h - going through the statements of a kernel as they are done, for those that look at what is read and written:
 * tiles where they are called, names as they were given, loops and conditions that are around. Integers become trees
 * over loops, lanes and what nobody knows, made once where they are named.
 *
 * The emitter is only read. What is made is of the walk's arena at that time; who is told may put another one in its
 * place for what a block has in it. */
#pragma once
#include "backends/codegen/emit.h"

enum { DEEP = 64 }; /* loops around a statement, at most */

typedef struct integer integer;
struct integer {
    enum { OF_NUMBER, OF_LOOP, OF_LANE, OF_SUM, OF_FLOOR, OF_WHOLE, OF_FN, OF_SWIZZLE, OF_TABLE, OF_DATA } kind;
    /* BASED: but for where memory begins; GUESSED: it has some OF_DATA in it, that counts as 0 */
    enum { SURE, BASED, GUESSED } known;
    int n;
    int64_t number, step; /* OF_LOOP: which; from one trip to the next */
    const char *base; /* where memory begins that it lies in, as far as it is known: a word nobody gave; NULL: none */
    const integer *from;  /* OF_LOOP: where it begins; NULL: at 0 */
    integer *const *arg;  /* OF_DATA: of which it is another number each time */
    const int64_t *times; /* OF_SUM: by argument */
    whole_op does;
    const fn *fn;
    uint64_t loops; /* that it depends on, as far as it is known */
    int round;      /* warp.c: when `at` was given to it; by lane */
    int64_t *at;
};
bool integer_same(const integer *a, const integer *b, const int *number); /* if loop i of a's is number[i] of b's */

typedef struct named { /* beside those in `up` */
    const struct named *up;
    const char *is;
    integer *value;
} named;

typedef struct said { /* an expression, by what names stand for there; x NULL: there is none */
    const cexpr *x;
    const named *names;
    integer *value;
} said;

typedef struct around { /* a loop, or a condition, around what is looked at */
    const struct around *up;
    const stmt *loop; /* NULL: a condition */
    said from, to, when;
    bool holds;  /* the condition, or not */
    bool copies; /* parts of a slice */
    bool meets;  /* for who is told of it: lanes wait for one another in the loop */
    int number;  /* of loops around it */
} around;

typedef struct access {                                            /* of memory */
    enum { OF_ELEMENT, OF_BLOCK, OF_BOX, OF_GROUP, OF_UNIT } kind; /* see walk.c */
    const cexpr *x;                                                /* the element; else the form */
    said when;                                                     /* then alone; x NULL: always */
    const cexpr *at;                                               /* where that is, in x's memory; NULL: as x says */
    bool written;
    int64_t bytes;
} access;

typedef struct walk walk;
typedef struct told {
    bool (*loops)(const walk *w, const stmt *s); /* s is a loop, whose trip its name is; NULL: loops are, and chunks */
    /* What is in s comes, or has come; of an S_LET what is behind. trips: it is a loop. NULL: nobody asks */
    void (*open)(walk *w, const stmt *s, around *trips), (*close)(walk *w, const stmt *s, const around *trips);
    void (*use)(walk *w, const access *a);
    void (*meet)(walk *w); /* at a barrier; NULL: nobody asks */
} told;
struct walk {
    const emitter *m;
    arena *mem;
    const told *to;
    void *user;
    const named *names;
    const around *around;
    int n_loop;  /* that are around */
    bool copies; /* it is in a copy of a slice */
};
void walk_statement(walk *w, const stmt *s); /* and what is in it */

integer *integer_of(walk *w, const cexpr *x);
integer *integer_place(walk *w, const cexpr *x); /* of an element, or a pointer: its address; of a sum: what it is */
void walk_name(walk *w, const char *is, integer *value); /* from here on */
