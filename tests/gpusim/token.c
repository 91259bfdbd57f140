/* token.c - reads PTX text: words, names in their scopes, operands. */
#include "tests/gpusim/ptx.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors and tokens ---- */
void parse_fail(parser *P, const char *fmt, ...)
{
    char msg[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    if (P->log && P->log_size)
        snprintf(P->log, P->log_size, "PTX line %d: %s", P->line, msg);
    longjmp(P->fail, 1);
}

static bool word_char(const char *p)
{
    return isalnum((unsigned char)*p) || *p == '_' || *p == '$' || *p == '%' || *p == '.';
}

/* Token kinds: 0 end, 'w' word, 'n' number, 's' string, or the punctuation character. */
void token_next(parser *P)
{
    const char *p = P->p;
    for (;;) {
        if (*p == '\n')
            P->line++, p++;
        else if (isspace((unsigned char)*p))
            p++;
        else if (p[0] == '/' && p[1] == '/')
            while (*p && *p != '\n')
                p++;
        else if (p[0] == '/' && p[1] == '*') {
            while (*p && !(p[0] == '*' && p[1] == '/')) {
                if (*p == '\n')
                    P->line++;
                p++;
            }
            if (*p)
                p += 2;
        } else
            break;
    }
    size_t n = 0;
    if (!*p)
        P->tk = 0;
    else if (*p == '"') {
        for (p++; *p && *p != '"'; p++)
            if (n < sizeof P->tok - 1)
                P->tok[n++] = *p;
        if (*p)
            p++;
        P->tk = 's';
    } else if (word_char(p)) {
        P->tk = isdigit((unsigned char)*p) ? 'n' : 'w';
        while (word_char(p) || (p[0] == ':' && p[1] == ':') || (p[0] == ':' && p[-1] == ':')) {
            if (n < sizeof P->tok - 1)
                P->tok[n++] = *p;
            p++;
        }
    } else {
        P->tk = *p;
        P->tok[n++] = *p++;
    }
    P->tok[n] = 0;
    P->p = p;
}
bool token_accept(parser *P, int tk)
{
    if (P->tk != tk)
        return false;
    token_next(P);
    return true;
}
void token_expect(parser *P, int tk)
{
    if (!token_accept(P, tk))
        parse_fail(P, "expected '%c' before '%s'", tk, P->tok);
}
bool token_is(parser *P, const char *s)
{
    return P->tk == 'w' && strcmp(P->tok, s) == 0;
}
bool token_word(parser *P, const char *s)
{
    if (!token_is(P, s))
        return false;
    token_next(P);
    return true;
}
void token_skip(parser *P, int tk)
{
    while (P->tk && P->tk != tk)
        token_next(P);
    token_next(P);
}

void name_copy(parser *P, char *to, size_t size, const char *name)
{
    if (strlen(name) >= size)
        parse_fail(P, "name %.40s... is too long", name);
    memcpy(to, name, strlen(name) + 1);
}

/* ---- types ---- */
static const struct {
    const char *name;
    value_type type;
    int size;
} type_names[] = {
    {"pred", T_PRED, 4},  {"b8", T_B8, 1},   {"b16", T_B16, 2},   {"b32", T_B32, 4},     {"b64", T_B64, 8},
    {"u8", T_U8, 1},      {"u16", T_U16, 2}, {"u32", T_U32, 4},   {"u64", T_U64, 8},     {"s8", T_S8, 1},
    {"s16", T_S16, 2},    {"s32", T_S32, 4}, {"s64", T_S64, 8},   {"f16", T_F16, 2},     {"bf16", T_BF16, 2},
    {"f32", T_F32, 4},    {"f64", T_F64, 8}, {"tf32", T_TF32, 4}, {"f16x2", T_F16X2, 4}, {"bf16x2", T_BF16X2, 4},
    {"b128", T_B128, 16},
};
value_type type_from_name(const char *s)
{
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (strcmp(type_names[i].name, s) == 0)
            return type_names[i].type;
    return T_NONE;
}
int type_size(value_type t)
{
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (type_names[i].type == t)
            return type_names[i].size;
    return 0;
}

/* ---- symbols ---- */
scope *push_scope(parser *P)
{
    scope *s = calloc(1, sizeof *s);
    s->up = P->scope;
    s->all = P->scopes;
    P->scopes = s;
    return P->scope = s;
}
symbol *add_symbol(symbol **list, const char *name, symbol_kind kind)
{
    symbol *s = calloc(1, sizeof *s);
    s->name = strdup(name);
    s->kind = kind;
    s->next = *list;
    return *list = s;
}
symbol *find_symbol(parser *P, const char *name, int *index)
{
    size_t length = strlen(name), stem = length;
    while (stem > 0 && isdigit((unsigned char)name[stem - 1]))
        stem--;
    int number = stem < length ? sim_whole(name + stem) : -1;
    for (scope *sc = P->scope; sc; sc = sc->up)
        for (symbol *s = sc->syms; s; s = s->next) {
            if (s->count == 0 && strcmp(s->name, name) == 0) {
                *index = 0;
                return s;
            }
            if (s->count && number >= 0 && number < s->count && strlen(s->name) == stem &&
                memcmp(s->name, name, stem) == 0) {
                *index = number;
                return s;
            }
        }
    for (symbol *s = P->globals; s; s = s->next)
        if (strcmp(s->name, name) == 0) {
            *index = 0;
            return s;
        }
    return NULL;
}

int new_vreg(parser *P, int width)
{
    P->vregs = grown(P->vregs, P->nvregs, &P->cap_vregs, sizeof *P->vregs);
    P->vregs[P->nvregs] = (virtual_register){.width = (uint8_t)(width == 8 ? 8 : 4), .slot = -1};
    return P->nvregs++;
}
static int preset_vreg(parser *P, uint64_t value, int width, int sreg)
{
    width = width == 8 ? 8 : 4;
    if (width == 4 && sreg < 0)
        value &= 0xffffffffu;
    for (int i = P->nconsts - 1; i >= 0; i--)
        if (P->consts[i].value == value && P->consts[i].width == width && P->consts[i].sreg == sreg)
            return P->consts[i].vreg;
    P->consts = grown(P->consts, P->nconsts, &P->cap_consts, sizeof *P->consts);
    int v = new_vreg(P, width);
    P->vregs[v].fixed = true;
    P->consts[P->nconsts].value = value;
    P->consts[P->nconsts].vreg = v;
    P->consts[P->nconsts].sreg = (int8_t)sreg;
    P->consts[P->nconsts++].width = (uint8_t)width;
    return v;
}
int const_vreg(parser *P, uint64_t value, int width)
{
    return preset_vreg(P, value, width, -1);
}
int sreg_vreg(parser *P, int sreg, int width)
{
    return preset_vreg(P, 0, width, sreg);
}

function *find_func(module *m, const char *name)
{
    for (int i = 0; i < m->nfuncs; i++)
        if (strcmp(m->funcs[i]->name, name) == 0)
            return m->funcs[i];
    return NULL;
}

/* ---- operands ---- */
static const struct {
    const char *name;
    int id;
} sreg_names[] = {
    {"%tid.x", SR_TID_X},
    {"%tid.y", SR_TID_Y},
    {"%tid.z", SR_TID_Z},
    {"%ntid.x", SR_NTID_X},
    {"%ntid.y", SR_NTID_Y},
    {"%ntid.z", SR_NTID_Z},
    {"%ctaid.x", SR_CTAID_X},
    {"%ctaid.y", SR_CTAID_Y},
    {"%ctaid.z", SR_CTAID_Z},
    {"%nctaid.x", SR_NCTAID_X},
    {"%nctaid.y", SR_NCTAID_Y},
    {"%nctaid.z", SR_NCTAID_Z},
    {"%laneid", SR_LANEID},
    {"%warpid", SR_WARPID},
    {"%nwarpid", SR_NWARPID},
    {"%lanemask_eq", SR_LANEMASK_EQ},
    {"%lanemask_le", SR_LANEMASK_LE},
    {"%lanemask_lt", SR_LANEMASK_LT},
    {"%lanemask_ge", SR_LANEMASK_GE},
    {"%lanemask_gt", SR_LANEMASK_GT},
    {"%dynamic_smem_size", SR_DYNAMIC_SMEM},
    {"%total_smem_size", SR_TOTAL_SMEM},
    {"%smid", SR_ZERO},
    {"%nsmid", SR_ONE},
    {"%gridid", SR_ZERO},
    {"%clock", SR_CLOCK},
    {"%clock64", SR_CLOCK64},
    {"%globaltimer", SR_GLOBALTIMER},
    {"%cluster_ctarank", SR_ZERO},
    {"%cluster_nctarank", SR_ONE},
};

static void parse_number(parser *P, operand *o, bool neg)
{
    const char *s = P->tok;
    if (s[0] == '0' && (s[1] == 'f' || s[1] == 'F') && strlen(s) == 10) {
        uint32_t u = (uint32_t)strtoul(s + 2, NULL, 16);
        float f;
        memcpy(&f, &u, 4);
        o->kind = O_FLOAT;
        o->fval = f;
        o->imm = u;
        o->n = 4;
    } else if (s[0] == '0' && (s[1] == 'd' || s[1] == 'D') && strlen(s) == 18) {
        o->imm = strtoull(s + 2, NULL, 16);
        memcpy(&o->fval, &o->imm, 8);
        o->kind = O_FLOAT;
        o->n = 8;
    } else if (strchr(s, '.') && !(s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))) {
        o->fval = strtod(s, NULL);
        o->kind = O_FLOAT;
        o->n = 0;
    } else {
        o->imm = strtoull(s, NULL, 0);
        o->kind = O_IMM;
    }
    if (neg) {
        o->imm = o->kind == O_IMM ? 0 - o->imm : o->imm;
        o->fval = -o->fval;
        o->n = o->kind == O_FLOAT ? 0 : o->n;
    }
    token_next(P);
}

void parse_name(parser *P, operand *o)
{
    int index;
    name_copy(P, o->name, sizeof o->name, P->tok);
    if (strcmp(P->tok, "_") == 0) {
        o->kind = O_SINK;
        token_next(P);
        return;
    }
    symbol *s = find_symbol(P, P->tok, &index);
    o->kind = O_NAME;
    if (s && s->kind == S_REG) {
        o->kind = s->type == T_PRED ? O_PRED : O_REG;
        o->reg = s->type == T_PRED ? (s->first + index) * 2 : s->first + index;
    } else if (s) {
        o->kind = O_SYM;
        o->sym = s;
    } else if (P->tok[0] == '%') {
        for (size_t i = 0; i < sizeof sreg_names / sizeof *sreg_names; i++)
            if (strcmp(sreg_names[i].name, P->tok) == 0) {
                o->kind = O_SREG;
                o->reg = sreg_names[i].id;
            }
        if (o->kind == O_NAME)
            parse_fail(P, "unknown register %s", P->tok);
    } else if (strcmp(P->tok, "WARP_SZ") == 0) {
        o->kind = O_IMM;
        o->imm = LANES;
    }
    token_next(P);
}

void parse_operand(parser *P, operand *o)
{
    memset(o, 0, sizeof *o);
    o->base = o->second = -1;
    if (token_accept(P, '{')) {
        enum { MOST = 160 };
        operand *tmp = calloc(MOST, sizeof *tmp);
        int n = 0;
        do {
            if (n == MOST)
                parse_fail(P, "vector operand too long");
            parse_operand(P, &tmp[n++]);
        } while (token_accept(P, ','));
        token_expect(P, '}');
        o->kind = O_VEC;
        o->first = P->nelems;
        o->n = n;
        if (P->nelems + n > MOST)
            parse_fail(P, "too many operands");
        memcpy(&P->elems[P->nelems], tmp, (size_t)n * sizeof *tmp);
        P->nelems += n;
        free(tmp);
    } else if (token_accept(P, '[')) {
        operand base;
        parse_operand(P, &base);
        o->kind = O_ADDR;
        if (base.kind == O_REG)
            o->base = base.reg;
        else if (base.kind == O_SYM) /* with the displacement that stood behind it */
            o->sym = base.sym, o->imm = base.imm;
        else if (base.kind == O_IMM)
            o->imm = base.imm;
        else
            parse_fail(P, "unsupported address '%s'", base.name);
        while (P->tk == '+' || P->tk == '-') {
            bool neg = P->tk == '-';
            token_next(P);
            if (token_accept(P, '-'))
                neg = !neg;
            operand d = {0};
            if (P->tk != 'n')
                parse_fail(P, "expected a displacement");
            parse_number(P, &d, neg);
            o->imm += d.imm;
        }
        if (token_accept(P, ',')) { /* of a tensor: the map, and coordinates */
            operand place;
            parse_operand(P, &place);
            o->first = place.first;
            o->n = place.n;
        }
        token_expect(P, ']');
    } else if (token_accept(P, '!')) {
        parse_name(P, o);
        if (o->kind != O_PRED)
            parse_fail(P, "'!' needs a predicate");
        o->reg ^= 1;
    } else if (token_accept(P, '-')) {
        if (P->tk != 'n')
            parse_fail(P, "expected a number");
        parse_number(P, o, true);
    } else if (P->tk == 'n') {
        parse_number(P, o, false);
    } else if (P->tk == 'w') {
        parse_name(P, o);
        if (token_accept(P, '|')) {
            operand q = {0};
            parse_name(P, &q);
            o->second = q.kind == O_PRED ? q.reg : -1;
        }
        if (o->kind == O_SYM && P->tk == '+') { /* symbol+offset as a value */
            token_next(P);
            operand d = {0};
            parse_number(P, &d, false);
            o->imm = d.imm;
        }
    } else
        parse_fail(P, "unexpected '%s'", P->tok);
}
