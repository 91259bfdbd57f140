/* ptx.h - shared by the PTX reader (token.c, ptx.c), the decoder (operand.c, decode.c) and the register allocator
 * (regalloc.c). */
#ifndef SIM_PTX_H
#define SIM_PTX_H

#include "tests/gpusim/sim.h"

#include <setjmp.h>
#include <stdlib.h>

typedef enum { S_REG, S_VAR, S_PARAM } symbol_kind;
struct symbol {
    char *name;
    symbol_kind kind;
    value_type type;
    int count; /* registers: number in a %r<n> declaration, or 0 */
    int first; /* first virtual register or predicate */
    int space;
    uint64_t address, size;
    symbol *next;
};

typedef struct scope {
    struct scope *up;
    symbol *syms;
    struct scope *all;
} scope;

typedef struct {
    int insn, list, offset, vreg;
    bool def;
} operand_reference; /* list: -1, or element of the list of the instruction */
typedef struct {
    uint8_t width;
    bool fixed;
    int slot;
} virtual_register;

typedef enum { O_REG, O_PRED, O_IMM, O_FLOAT, O_VEC, O_ADDR, O_SYM, O_NAME, O_SREG, O_SINK } operand_kind;
typedef struct operand {
    operand_kind kind;
    int reg; /* virtual register, predicate operand or special register */
    bool neg;
    uint64_t imm;
    double fval;
    symbol *sym;
    char name[256];
    int base;     /* addresses: register or -1 */
    int first, n; /* vectors: elements in Parser.elems */
    int second;   /* "p|q": second destination predicate operand, or -1 */
} operand;

typedef struct {
    char name[256];
    scope *scope;
    int pc;
} code_label;
typedef struct {
    char name[256];
    scope *scope;
    int insn, table, slot;
} fixup;

typedef struct parser {
    const char *text, *p;
    int line, loc_line, loc_file;
    char tok[256];
    int tk;
    module *m;
    function *fn;
    scope *scope, *scopes;
    symbol *globals;
    instruction *code;
    int ncode, cap_code;
    virtual_register *vregs;
    int nvregs, cap_vregs;
    operand_reference *refs;
    int nrefs, cap_refs;
    struct {
        uint64_t value;
        int vreg;
        int8_t sreg;
        uint8_t width;
    } * consts;
    int nconsts, cap_consts;
    code_label *labels;
    int nlabels, cap_labels;
    fixup *fixups;
    int nfixups, cap_fixups;
    operand elems[160];
    int nelems;
    operand_reference pending[320];
    int npending; /* references of the instruction being decoded */
    int32_t list[160];
    int nlist;
    instruction cur;
    uint32_t used_bytes; /* that a pragma tells of the next instruction; 0: all */
    uint32_t local_end, npred;
    int first_vreg, first_insn, first_ref;
    jmp_buf fail;
    char *log;
    size_t log_size;
} parser;

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

void parse_fail(parser *P, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
int new_vreg(parser *P, int width);
int const_vreg(parser *P, uint64_t value, int width);
int sreg_vreg(parser *P, int sreg, int width);
value_type type_from_name(const char *s);
int type_size(value_type t);
void decode(parser *P, char *word, int guard, operand *o, int n);
function *find_func(module *m, const char *name);
void add_fixup(parser *P, const char *label, int table, int slot);
void emit(parser *P);
void allocate_registers(parser *P, function *fn, int first_insn, int first_ref, int first_vreg);

/* token.c */
void token_next(parser *P);
bool token_accept(parser *P, int tk);
void token_expect(parser *P, int tk);
bool token_is(parser *P, const char *s);
bool token_word(parser *P, const char *s);
void token_skip(parser *P, int tk);
void name_copy(parser *P, char *to, size_t size, const char *name);
scope *push_scope(parser *P);
symbol *add_symbol(symbol **list, const char *name, symbol_kind kind);
symbol *find_symbol(parser *P, const char *name, int *index);
void parse_name(parser *P, operand *o);
void parse_operand(parser *P, operand *o);

/* operand.c */
typedef struct {
    char *op;
    char *mod[16];
    int nmod;
    value_type types[4];
    int ntypes;
} mnemonic;
void add_ref(parser *P, int32_t *field, int list, int vreg, bool is_def);
void use_width(parser *P, int32_t *field, operand *o, value_type t, int width);
int row_width(value_type t);
void use(parser *P, int32_t *field, operand *o, value_type t);
void def_width(parser *P, int32_t *field, operand *o, int width);
void def(parser *P, int32_t *field, operand *o, value_type t);
void list_item(parser *P, operand *o, value_type t, int width, bool is_def);
int list_all(parser *P, operand *o, value_type t, int width, bool is_def);
int pred_operand(parser *P, operand *o);
void use_address(parser *P, operand *o);
void note_access(parser *P, int space, unsigned bytes);
bool has(const mnemonic *k, const char *s);
void split(mnemonic *k, char *s);
const char *type_name(value_type t);
bool is_integer(value_type t);
bool is_signed(value_type t);
bool is_float(value_type t);
int space_of(const mnemonic *k);

/* The array, with room for one element more than n; *cap: for how many it has room */
static inline void *grown(void *array, int n, int *cap, size_t size)
{
    if (n < *cap)
        return array;
    *cap = *cap ? *cap * 2 : 64;
    return reallocarray(array, (size_t)*cap, size);
}
#endif
