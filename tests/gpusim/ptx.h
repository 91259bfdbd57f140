/* ptx.h - shared by the PTX reader (token.c, ptx.c), the decoder (operand.c, decode.c) and the register allocator
 * (regalloc.c). */
#ifndef SIM_PTX_H
#define SIM_PTX_H

#include "tests/gpusim/sim.h"

#include <setjmp.h>
#include <stdlib.h>

typedef enum { S_REG, S_VAR, S_PARAM } SymKind;
struct Symbol {
    char *name;
    SymKind kind;
    Type type;
    int count; /* registers: number in a %r<n> declaration, or 0 */
    int first; /* first virtual register or predicate */
    int space;
    uint64_t address, size;
    Symbol *next;
};

typedef struct Scope {
    struct Scope *up;
    Symbol *syms;
    struct Scope *all;
} Scope;

typedef struct {
    int insn, list, offset, vreg;
    bool def;
} Ref; /* list: -1, or element of Insn.list */
typedef struct {
    uint8_t width;
    bool fixed;
    int slot;
} VReg;

typedef enum { O_REG, O_PRED, O_IMM, O_FLOAT, O_VEC, O_ADDR, O_SYM, O_NAME, O_SREG, O_SINK } OpndKind;
typedef struct Opnd {
    OpndKind kind;
    int reg; /* virtual register, predicate operand or special register */
    bool neg;
    uint64_t imm;
    double fval;
    Symbol *sym;
    char name[256];
    int base;     /* addresses: register or -1 */
    int first, n; /* vectors: elements in Parser.elems */
    int second;   /* "p|q": second destination predicate operand, or -1 */
} Opnd;

typedef struct {
    char name[256];
    Scope *scope;
    int pc;
} Label;
typedef struct {
    char name[256];
    Scope *scope;
    int insn, table, slot;
} Fixup;

typedef struct Parser {
    const char *text, *p;
    int line, loc_line, loc_file;
    char tok[256];
    int tk;
    Module *m;
    Func *fn;
    Scope *scope, *scopes;
    Symbol *globals;
    Insn *code;
    int ncode, cap_code;
    VReg *vregs;
    int nvregs, cap_vregs;
    Ref *refs;
    int nrefs, cap_refs;
    struct {
        uint64_t value;
        int vreg;
        int8_t sreg;
        uint8_t width;
    } * consts;
    int nconsts, cap_consts;
    Label *labels;
    int nlabels, cap_labels;
    Fixup *fixups;
    int nfixups, cap_fixups;
    Opnd elems[160];
    int nelems;
    Ref pending[320];
    int npending; /* references of the instruction being decoded */
    int32_t list[160];
    int nlist;
    Insn cur;
    uint32_t used_bytes; /* that a pragma tells of the next instruction; 0: all */
    uint32_t local_end, npred;
    int first_vreg, first_insn, first_ref;
    jmp_buf fail;
    char *log;
    size_t log_size;
} Parser;

enum {
    SR_TID_X,
    SR_TID_Y,
    SR_TID_Z,
    SR_NTID_X,
    SR_NTID_Y,
    SR_NTID_Z,
    SR_CTAID_X,
    SR_CTAID_Y,
    SR_CTAID_Z,
    SR_NCTAID_X,
    SR_NCTAID_Y,
    SR_NCTAID_Z,
    SR_LANEID,
    SR_WARPID,
    SR_NWARPID,
    SR_LANEMASK_EQ,
    SR_LANEMASK_LE,
    SR_LANEMASK_LT,
    SR_LANEMASK_GE,
    SR_LANEMASK_GT,
    SR_DYNAMIC_SMEM,
    SR_TOTAL_SMEM,
    SR_ZERO,
    SR_ONE,
    SR_CLOCK,
    SR_CLOCK64,
    SR_GLOBALTIMER
};

void parse_fail(Parser *P, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
int new_vreg(Parser *P, int width);
int const_vreg(Parser *P, uint64_t value, int width);
int sreg_vreg(Parser *P, int sreg, int width);
Type type_from_name(const char *s);
int type_size(Type t);
void decode(Parser *P, char *mnemonic, int guard, Opnd *o, int n);
Func *find_func(Module *m, const char *name);
void add_fixup(Parser *P, const char *label, int table, int slot);
void emit(Parser *P);
void allocate_registers(Parser *P, Func *fn, int first_insn, int first_ref, int first_vreg);

/* token.c */
void token_next(Parser *P);
bool token_accept(Parser *P, int tk);
void token_expect(Parser *P, int tk);
bool token_is(Parser *P, const char *s);
bool token_word(Parser *P, const char *s);
void token_skip(Parser *P, int tk);
void name_copy(Parser *P, char *to, size_t size, const char *name);
Scope *push_scope(Parser *P);
Symbol *add_symbol(Symbol **list, const char *name, SymKind kind);
Symbol *find_symbol(Parser *P, const char *name, int *index);
void parse_name(Parser *P, Opnd *o);
void parse_operand(Parser *P, Opnd *o);

/* operand.c */
typedef struct {
    char *op;
    char *mod[16];
    int nmod;
    Type types[4];
    int ntypes;
} Mnemonic;
void add_ref(Parser *P, int32_t *field, int list, int vreg, bool is_def);
void use_width(Parser *P, int32_t *field, Opnd *o, Type t, int width);
int row_width(Type t);
void use(Parser *P, int32_t *field, Opnd *o, Type t);
void def_width(Parser *P, int32_t *field, Opnd *o, int width);
void def(Parser *P, int32_t *field, Opnd *o, Type t);
void list_item(Parser *P, Opnd *o, Type t, int width, bool is_def);
int list_all(Parser *P, Opnd *o, Type t, int width, bool is_def);
int pred_operand(Parser *P, Opnd *o);
void use_address(Parser *P, Opnd *o);
void note_access(Parser *P, int space, unsigned bytes);
bool has(const Mnemonic *k, const char *s);
void split(Mnemonic *k, char *s);
const char *type_name(Type t);
bool is_integer(Type t);
bool is_signed(Type t);
bool is_float(Type t);
int space_of(const Mnemonic *k);

/* The array, with room for one element more than n; *cap: for how many it has room */
static inline void *grown(void *array, int n, int *cap, size_t size)
{
    if (n < *cap)
        return array;
    *cap = *cap ? *cap * 2 : 64;
    return reallocarray(array, (size_t)*cap, size);
}
#endif
