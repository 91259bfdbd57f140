/* stmt.h - statements of a kernel and of its tile functions, between the nest and the text. The generator builds them,
 * checks and counts walk them, one printer writes them through a dialect. What they compute, and where loops begin and
 * end, is trees, too (cexpr.h). Statements live in an arena; the texts given for them are copied there. */
#pragma once
#include "backends/codegen/cexpr.h"
#include "backends/codegen/dialect.h"

typedef enum stmt_kind {
    S_BLOCK,  /* what is in it, between braces if it gives names */
    S_STAGE,  /* what is in it copies a slice into scratch: `bytes` from `offset` on */
    S_LOOP,   /* name goes from `from` to before `to`, in steps of step */
    S_CHUNKS, /* name is each trip that this part comes to take, of `trips` in all; `to`: as many as that in this run */
    S_REPEAT, /* again and again until S_LEAVE; further rounds begin with place = value */
    S_IF,     /* value holds; other: what is done if not */
    S_LET,    /* name is value, of a type; in it are S_LETs of the same type. Without a value: to be stored to */
    S_CONSTANT, /* name is a number that stands in the program */
    S_TABLE,    /* name[] is value, whole numbers */
    S_STORE,    /* place = value */
    S_CALL,     /* of value */
    S_LEAVE,    /* the round's loop */
    S_RETURN,
    S_BARRIER, /* of the workers of a group */
    S_FETCH    /* the line at value, into space number `trips` */
} stmt_kind;

typedef enum opening { AS_IT_IS, WRITTEN_OUT, IN_LANES } opening; /* of a loop: how its trips are done */

typedef struct stmt stmt;
struct stmt {
    stmt_kind kind;
    const char *name, *type, *dims; /* dims: S_LET of an array, "[4][2]"; NULL: it is none */
    const cexpr *from, *to, *place, *value;
    const char *role; /* of a loop of a nest; NULL: one that the generator put there */
    /* It gives the trip of a loop of a nest, S_LET and S_CONSTANT until their block ends: of that stage, how many are
     * entered with it, 0: of none. S_LET: `to` is how many trips that are */
    int stage, depth;
    opening how;
    int64_t step, trips, together; /* step 0: 1; trips 0: not known; of a loop that is written out: so many, 0: all */
    int64_t offset, bytes;         /* S_LET: bytes of one value, of `trips` in all; 0: it is a place, or a count */
    double share;                  /* S_IF: of all times that it is asked, so often it holds; 0: not known */
    bool tight;                    /* one statement is in it, without braces */
    bool elements;                 /* a loop over those of a vector, one by one */
    bool divergent;                /* a test that not all workers of a group decide alike */
    stmt *first, *last, *other, *next, *up;
};

typedef struct code { /* where the next statement goes */
    arena *mem;
    stmt *at;
} code;

code code_begin(arena *mem);               /* in a block of its own, which is code.at */
stmt *code_add(code *c, stmt s);           /* at the end of what is open */
stmt *code_open(code *c, stmt s);          /* the same; what follows is in it */
void code_close(code *c);                  /* what was opened last */
void code_else(code *c, stmt *test);       /* what follows is done where the test, closed, does not hold */
void code_before(stmt *in, const code *c); /* puts all statements of c in front of those in `in` */
const char *code_keep(code *c, text *t);   /* the text, which is freed, for as long as statements live */
/* Short for one statement each */
void code_if(code *c, const cexpr *value); /* opens it */
stmt *code_let(code *c, const char *of, const char *name, const cexpr *value);
stmt *code_array(code *c, const char *of, const char *name, const char *dims); /* to be stored to; NULL: no array */
void code_also(code *c, const char *name, const cexpr *value);                 /* of the type of the S_LET before */
void code_store(code *c, const cexpr *to, const cexpr *value);
void code_call(code *c, const cexpr *value);

void stmt_print(text *t, const dialect *d, const stmt *in); /* what is in it, from t->depth on */
void stmt_lines(text *t, const char *lines); /* as they are, those cut that are longer than 120 columns */
int64_t stmt_copied(const stmt *in);         /* where the copies of all stages end, in bytes */
