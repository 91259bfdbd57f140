/* operand.c - operands of a PTX statement as the registers and numbers of one instruction. */
#include "tests/gpusim/ptx.h"

#include <stdlib.h>
#include <string.h>

void add_ref(parser *P, int32_t *field, int list, int vreg, bool is_def)
{
    if (P->npending >= 320)
        parse_fail(P, "too many operands");
    P->pending[P->npending++] = (operand_reference){
        .list = list, .offset = field ? (int)((char *)field - (char *)&P->cur) : 0, .vreg = vreg, .def = is_def};
}

static uint64_t float_bits(const operand *o, value_type t)
{
    if (t == T_F64 || type_size(t) == 8) {
        uint64_t u;
        if (o->n == 8)
            return o->imm;
        memcpy(&u, &o->fval, 8);
        return u;
    }
    if (o->n == 4)
        return o->imm;
    float f = (float)o->fval;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Gives a shared variable its place in the kernel that uses it.  Every variable is
 * aligned as declared and no better, and followed by a red zone, so that misaligned
 * vectors and overruns show even where the real layout would hide them. */
enum { DYNAMIC_SHARED_BASE = 0x40000, RED_ZONE = 32 };
static uint64_t shared_address(parser *P, symbol *s)
{
    function *f = P->fn;
    if (!f || !f->entry)
        parse_fail(P, "shared variable %s used outside a kernel", s->name);
    uint32_t align = (uint32_t)(s->first & ~(1 << 30));
    if (s->first & 1 << 30) {
        uint32_t al = align < 16 ? 16 : align;
        f->dynamic_shared = (int32_t)(DYNAMIC_SHARED_BASE + al);
        return (uint64_t)f->dynamic_shared;
    }
    for (int i = 0; i < f->nshared; i++)
        if (strcmp(f->shared[i].name, s->name) == 0)
            return f->shared[i].offset;
    uint32_t at = f->shared_end ? f->shared_end : 64;
    at = (at + 2 * align - 1) / (2 * align) * (2 * align) + align;
    f->shared = reallocarray(f->shared, (size_t)(f->nshared + 1), sizeof *f->shared);
    f->shared[f->nshared++] = (shared_variable){strdup(s->name), at, (uint32_t)s->size};
    f->shared_static = (f->shared_static + align - 1) / align * align + (uint32_t)s->size;
    f->shared_end = at + (uint32_t)s->size + RED_ZONE;
    if (f->shared_end > DYNAMIC_SHARED_BASE)
        parse_fail(P, "kernel %s uses too much static shared memory", f->name);
    return at;
}

static uint64_t symbol_value(parser *P, symbol *s)
{
    if (s->kind == S_VAR && s->space == SP_SHARED)
        return shared_address(P, s);
    if (s->kind == S_PARAM && s->space == SP_PARAM)
        return s->address;
    return s->address;
}

/* The virtual register that holds the operand's value; width 4 or 8. */
static int value_vreg(parser *P, operand *o, value_type t, int width)
{
    switch (o->kind) {
    case O_REG: return o->reg;
    case O_IMM: return const_vreg(P, type_size(t) == 2 ? o->imm & 0xffff : o->imm, width);
    case O_FLOAT: return const_vreg(P, float_bits(o, t), width);
    case O_SYM: return const_vreg(P, symbol_value(P, o->sym) + o->imm, width);
    case O_SREG: return sreg_vreg(P, o->reg, width);
    default: parse_fail(P, "operand is not a value");
    }
}
void use_width(parser *P, int32_t *field, operand *o, value_type t, int width)
{
    int v = value_vreg(P, o, t, width);
    if (P->vregs[v].width != width)
        parse_fail(P, "operand has the wrong width");
    *field = v;
    add_ref(P, field, -1, v, false);
}
int row_width(value_type t)
{
    return type_size(t) == 8 ? 8 : 4;
}
void use(parser *P, int32_t *field, operand *o, value_type t)
{
    use_width(P, field, o, t, row_width(t));
}
void def_width(parser *P, int32_t *field, operand *o, int width)
{
    int v = o->kind == O_SINK ? new_vreg(P, width) : o->kind == O_REG ? o->reg : -1;
    if (v < 0)
        parse_fail(P, "destination is not a register");
    if (P->vregs[v].width != width)
        parse_fail(P, "destination has the wrong width");
    *field = v;
    add_ref(P, field, -1, v, true);
}
void def(parser *P, int32_t *field, operand *o, value_type t)
{
    def_width(P, field, o, row_width(t));
}

void list_item(parser *P, operand *o, value_type t, int width, bool is_def)
{
    int v = is_def ? (o->kind == O_SINK  ? new_vreg(P, width)
                      : o->kind == O_REG ? o->reg
                                         : -1)
                   : value_vreg(P, o, t, width);
    if (v < 0)
        parse_fail(P, "vector element is not a register");
    if (P->nlist == 160)
        parse_fail(P, "too many vector elements");
    P->list[P->nlist] = v;
    add_ref(P, NULL, P->nlist++, v, is_def);
}
/* Adds a register or every element of a vector to the instruction's list. */
int list_all(parser *P, operand *o, value_type t, int width, bool is_def)
{
    if (o->kind != O_VEC) {
        list_item(P, o, t, width, is_def);
        return 1;
    }
    for (int i = 0; i < o->n; i++)
        list_item(P, &P->elems[o->first + i], t, width, is_def);
    return o->n;
}

int pred_operand(parser *P, operand *o)
{
    if (o->kind == O_PRED)
        return o->reg;
    if (o->kind == O_IMM)
        return o->imm ? PRED_TRUE : PRED_FALSE;
    parse_fail(P, "operand is not a predicate");
}

void use_address(parser *P, operand *o)
{
    instruction *in = &P->cur;
    if (o->kind != O_ADDR)
        parse_fail(P, "operand is not an address");
    in->imm = (int64_t)o->imm + (o->sym ? (int64_t)symbol_value(P, o->sym) : 0);
    in->a = -1;
    if (o->base >= 0) {
        in->a = o->base;
        if (P->vregs[o->base].width == 8)
            in->flags |= F_ADDR64;
        add_ref(P, &in->a, -1, o->base, false);
    }
}

void note_access(parser *P, int space, unsigned bytes)
{
    if (space != SP_LOCAL && space != SP_PARAM && bytes < P->fn->granule)
        P->fn->granule = bytes;
}

/* ---- mnemonic ---- */

bool has(const mnemonic *k, const char *s)
{
    for (int i = 0; i < k->nmod; i++)
        if (strcmp(k->mod[i], s) == 0)
            return true;
    return false;
}
void split(mnemonic *k, char *s)
{
    memset(k, 0, sizeof *k);
    k->op = s;
    for (char *p = strchr(s, '.'); p;) {
        *p++ = 0;
        char *q = strchr(p, '.');
        if (q)
            *q = 0;
        value_type t = type_from_name(p);
        if (t != T_NONE && k->ntypes < 4)
            k->types[k->ntypes++] = t;
        else if (k->nmod < 16)
            k->mod[k->nmod++] = p;
        if (q)
            *q = '.';
        p = q;
    }
    for (int i = 0; i < k->nmod; i++) {
        char *d = strchr(k->mod[i], '.');
        if (d)
            *d = 0;
    }
}
const char *type_name(value_type t)
{
    static const char *names[] = {"none", "pred", "b8",   "b16",   "b32",    "b64", "u8",  "u16",
                                  "u32",  "u64",  "s8",   "s16",   "s32",    "s64", "f16", "bf16",
                                  "f32",  "f64",  "tf32", "f16x2", "bf16x2", "b128"};
    return names[t];
}
bool is_integer(value_type t)
{
    return t >= T_B8 && t <= T_S64;
}
bool is_signed(value_type t)
{
    return t >= T_S8 && t <= T_S64;
}
bool is_float(value_type t)
{
    return t >= T_F16 && t <= T_BF16X2;
}
int space_of(const mnemonic *k)
{
    for (int i = 0; i < k->nmod; i++) {
        if (strncmp(k->mod[i], "global", 6) == 0)
            return SP_GLOBAL;
        if (strncmp(k->mod[i], "shared", 6) == 0)
            return SP_SHARED;
        if (strcmp(k->mod[i], "local") == 0)
            return SP_LOCAL;
        if (strncmp(k->mod[i], "param", 5) == 0)
            return SP_PARAM;
        if (strcmp(k->mod[i], "const") == 0)
            return SP_CONST;
    }
    return SP_GENERIC;
}
