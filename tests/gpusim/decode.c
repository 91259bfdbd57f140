/* decode.c - turns one parsed PTX statement into one instruction. */
#include "tests/gpusim/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void op_copy_local(warp *, const instruction *, uint32_t);
void op_nop(warp *, const instruction *, uint32_t);
void op_activemask(warp *, const instruction *, uint32_t);
void op_elect(warp *, const instruction *, uint32_t);

/* ---- instructions found by key in the tables of alu.c ---- */
static handler find_by_type(const char *stem, value_type t)
{
    char key[96];
    int bits = type_size(t) * 8;
    snprintf(key, sizeof key, "%s.%s", stem, type_name(t));
    handler h = alu_find(key);
    if (!h && is_integer(t)) {
        snprintf(key, sizeof key, "%s.i%d", stem, bits);
        h = alu_find(key);
    }
    if (!h) {
        snprintf(key, sizeof key, "%s.b%d", stem, bits);
        h = alu_find(key);
    }
    return h;
}

static void wrap_if_needed(parser *P, value_type t)
{
    instruction *in = &P->cur;
    bool relu_or_sat = in->flags & (F_SAT | F_RELU);
    if ((in->flags & F_FTZ) || in->rounding || relu_or_sat) {
        in->inner = in->op;
        in->op = op_wrapped;
        in->type = (uint8_t)t;
    }
}

static bool float_modifier(instruction *in, const char *s)
{
    static const char *names[] = {"rn", "rz", "rm", "rp"};
    for (int i = 0; i < 4; i++)
        if (strcmp(s, names[i]) == 0) {
            in->rounding = (uint8_t)i;
            return true;
        }
    if (strcmp(s, "ftz") == 0) {
        in->flags |= F_FTZ;
        return true;
    }
    if (strcmp(s, "relu") == 0) {
        in->flags |= F_RELU;
        return true;
    }
    return false;
}

static void decode_alu(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    value_type t = k->types[0];
    const char *op = k->op;
    char stem[96];
    snprintf(stem, sizeof stem, "%s", op);
    for (int i = 0; i < k->nmod; i++) {
        if (float_modifier(in, k->mod[i]))
            continue;
        if (strcmp(k->mod[i], "sat") == 0 && is_float(t)) {
            in->flags |= F_SAT;
            continue;
        }
        strncat(stem, ".", sizeof stem - strlen(stem) - 1);
        strncat(stem, k->mod[i], sizeof stem - strlen(stem) - 1);
    }
    if (k->ntypes == 2) { /* dp4a, slct */
        char two[128];
        snprintf(two, sizeof two, "%s.%s.%s", stem, type_name(t), type_name(k->types[1]));
        in->op = alu_find(two);
        if (!in->op) {
            snprintf(two, sizeof two, "%s.b%d.%s", stem, type_size(t) * 8, type_name(k->types[1]));
            in->op = alu_find(two);
        }
    } else
        in->op = find_by_type(stem, t);
    if (!in->op)
        parse_fail(P, "unsupported instruction %s.%s", stem, type_name(t));

    int dw = row_width(t), w[4] = {dw, dw, dw, dw};
    if (has(k, "wide")) {
        dw = type_size(t) == 4 ? 8 : 4;
        w[2] = dw;
    }
    if (!strcmp(op, "popc") || !strcmp(op, "clz") || !strcmp(op, "bfind"))
        dw = 4;
    if (!strcmp(op, "shl") || !strcmp(op, "shr"))
        w[1] = 4;
    if (!strcmp(op, "bfe"))
        w[1] = w[2] = 4;
    if (!strcmp(op, "bfi"))
        w[2] = w[3] = 4;
    if (!strcmp(op, "slct"))
        w[2] = 4;
    if (!strcmp(op, "lop3")) {
        if (n < 5 || o[4].kind != O_IMM)
            parse_fail(P, "lop3 needs an immediate table");
        in->imm = (int64_t)o[4].imm;
        n = 4;
    }
    if (!strcmp(op, "prmt") && k->nmod)
        parse_fail(P, "prmt modes are not supported");
    int32_t *src[4] = {&in->a, &in->b, &in->c, &in->e};
    def_width(P, &in->d, &o[0], dw);
    for (int i = 1; i < n; i++) {
        if (i > 4)
            parse_fail(P, "too many operands");
        if (!strcmp(op, "selp") && i == 3)
            in->c = pred_operand(P, &o[i]);
        else
            use_width(P, src[i - 1], &o[i], w[i - 1] == row_width(t) ? t : w[i - 1] == 8 ? T_U64 : T_U32, w[i - 1]);
    }
    wrap_if_needed(P, t);
    emit(P);
}

static void decode_mov(parser *P, mnemonic *k, operand *o)
{
    instruction *in = &P->cur;
    value_type t = k->types[0];
    if (t == T_PRED) {
        in->op = op_pred;
        in->d = o[0].reg;
        in->a = pred_operand(P, &o[1]);
        in->b = PRED_TRUE;
        emit(P);
        return;
    }
    if (o[0].kind == O_VEC || o[1].kind == O_VEC) { /* pack or unpack */
        in->mode = o[0].kind == O_VEC;
        in->size = (uint8_t)type_size(t);
        operand *vec = in->mode ? &o[0] : &o[1];
        if (type_size(t) > 8)
            parse_fail(P, "128-bit moves are not supported");
        list_all(P, vec, in->size / vec->n == 4 ? T_B32 : T_B16, 4, in->mode);
        if (in->mode)
            use_width(P, &in->a, &o[1], t, row_width(t));
        else {
            in->a = o[0].reg;
            if (o[0].kind != O_REG)
                parse_fail(P, "bad mov");
            add_ref(P, &in->a, -1, in->a, true);
        }
        in->op = op_pack;
        emit(P);
        return;
    }
    if (o[1].kind == O_SREG && o[1].reg >= SR_CLOCK) {
        in->op = op_clock;
        in->size = (uint8_t)type_size(t);
        in->mode = o[1].reg == SR_GLOBALTIMER;
        def(P, &in->d, &o[0], t);
        emit(P);
        return;
    }
    if (o[1].kind == O_NAME)
        parse_fail(P, "unknown symbol %s", o[1].name);
    in->op = find_by_type("mov", t);
    def(P, &in->d, &o[0], t);
    if (o[1].kind == O_SYM && o[1].sym->kind == S_PARAM && o[1].sym->space == SP_PARAM)
        in->op = row_width(t) == 8 ? in->op : NULL;
    if (!in->op)
        parse_fail(P, "unsupported mov");
    use(P, &in->a, &o[1], t);
    emit(P);
}

static void decode_setp(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    bool is_set = strcmp(k->op, "set") == 0;
    value_type t = k->types[is_set ? 1 : 0], ct = t == T_F16X2 ? T_F16 : t == T_BF16X2 ? T_BF16 : t;
    char key[64];
    if (k->nmod < 1)
        parse_fail(P, "comparison is missing");
    for (int i = 1; i < k->nmod; i++) {
        if (!strcmp(k->mod[i], "and"))
            in->mode = 1;
        else if (!strcmp(k->mod[i], "or"))
            in->mode = 2;
        else if (!strcmp(k->mod[i], "xor"))
            in->mode = 3;
        else if (!strcmp(k->mod[i], "ftz"))
            in->flags |= F_FTZ;
        else
            parse_fail(P, "unsupported comparison .%s", k->mod[i]);
    }
    snprintf(key, sizeof key, "%s.%s", k->mod[0], type_name(ct));
    in->cmp = cmp_find(key);
    if (!in->cmp)
        parse_fail(P, "unsupported comparison %s", key);
    use(P, &in->a, &o[1], t);
    use(P, &in->b, &o[2], t);
    in->c = n > 3 ? pred_operand(P, &o[3]) : PRED_TRUE;
    in->type2 = (uint8_t)t;
    if (is_set) {
        in->op = op_set;
        in->type = (uint8_t)k->types[0];
        def(P, &in->d, &o[0], k->types[0]);
    } else {
        in->op = op_setp;
        if (t == T_F16X2 || t == T_BF16X2)
            parse_fail(P, "setp on packed halves is not supported");
        in->d = o[0].kind == O_SINK ? -1 : pred_operand(P, &o[0]);
        in->e = o[0].second;
    }
    emit(P);
}

static void decode_cvt(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    value_type d = k->types[0], s = k->types[1];
    char key[96], mods[32] = "";
    bool plain = true;
    for (int i = 0; i < k->nmod; i++) {
        const char *x = k->mod[i];
        if (!strcmp(x, "rni"))
            in->mode = 1, plain = false;
        else if (!strcmp(x, "rzi"))
            in->mode = 2, plain = false;
        else if (!strcmp(x, "rmi"))
            in->mode = 3, plain = false;
        else if (!strcmp(x, "rpi"))
            in->mode = 4, plain = false;
        else if (!strcmp(x, "sat"))
            in->flags |= F_SAT, plain = plain && is_float(d);
        else if (!strcmp(x, "rna"))
            snprintf(mods, sizeof mods, ".rna");
        else if (float_modifier(in, x)) {
            if (x[0] == 'r' && x[1] != 'e' && type_size(s) == 4 && is_float(s) && d != T_F32 && d != T_F64)
                snprintf(mods, sizeof mods, ".%s", x);
        } else
            parse_fail(P, "unsupported conversion modifier .%s", x);
    }
    if (k->ntypes != 2)
        parse_fail(P, "unsupported conversion");
    snprintf(key, sizeof key, "cvt%s.%s.%s", mods, type_name(d), type_name(s));
    in->op = plain ? alu_find(key) : NULL;
    if (!in->op && n == 2) {
        if (type_size(d) > 8 || d == T_F16X2 || d == T_BF16X2 || s == T_F16X2)
            parse_fail(P, "unsupported conversion %s", key);
        in->op = op_cvt;
    }
    if (!in->op)
        parse_fail(P, "unsupported conversion %s", key);
    in->type = (uint8_t)d;
    in->type2 = (uint8_t)s;
    /* registers may be wider than the types */
    in->size = (uint8_t)(o[0].kind == O_REG ? P->vregs[o[0].reg].width : row_width(d));
    in->count = (uint8_t)(o[1].kind == O_REG ? P->vregs[o[1].reg].width : row_width(s));
    if (in->size != row_width(d) || in->count != row_width(s)) {
        if (n > 2)
            parse_fail(P, "unsupported conversion");
        in->op = op_cvt;
    }
    def_width(P, &in->d, &o[0], in->size);
    use_width(P, &in->a, &o[1], s, in->count);
    if (n > 2)
        use(P, &in->b, &o[2], s);
    if (in->flags & F_SAT && is_integer(d)) {
        if (in->op != op_cvt)
            in->op = op_cvt;
        emit(P);
        return;
    }
    if (in->rounding == 0 && !(in->flags & (F_FTZ | F_SAT | F_RELU))) {
        emit(P);
        return;
    }
    wrap_if_needed(P, d);
    emit(P);
}

static void decode_ldst(parser *P, mnemonic *k, operand *o, bool load)
{
    instruction *in = &P->cur;
    value_type t = k->types[0];
    operand *addr = load ? &o[1] : &o[0], *data = load ? &o[0] : &o[1];
    in->space = (uint8_t)space_of(k);
    if (in->space == SP_PARAM && (!P->fn->entry || (addr->sym && addr->sym->space == SP_LOCAL)))
        in->space = SP_LOCAL;
    if (in->space == SP_CONST)
        in->space = SP_GLOBAL;
    use_address(P, addr);
    in->size = (uint8_t)type_size(t);
    if (in->size == 16)
        parse_fail(P, "128-bit element types are not supported");
    if (is_signed(t))
        in->flags |= F_SIGNED;
    if (has(k, "volatile") || has(k, "relaxed") || has(k, "acquire") || has(k, "release"))
        in->flags |= F_VOLATILE;
    operand *first = data->kind == O_VEC ? &P->elems[data->first] : data;
    in->type2 = (uint8_t)(first->kind == O_REG ? P->vregs[first->reg].width : row_width(t));
    in->count = (uint8_t)list_all(P, data, t, in->type2, load);
    in->op = load ? op_ld : op_st;
    note_access(P, in->space, (unsigned)in->size * in->count);
    emit(P);
}

static void decode_atom(parser *P, mnemonic *k, operand *o, bool returns)
{
    static const char *ops[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};
    instruction *in = &P->cur;
    in->mode = 255;
    for (int i = 0; i < 10; i++)
        if (has(k, ops[i]))
            in->mode = (uint8_t)i;
    if (in->mode == 255 || k->ntypes != 1)
        parse_fail(P, "unsupported atomic operation");
    in->type = (uint8_t)k->types[0];
    in->size = (uint8_t)type_size(k->types[0]);
    in->space = (uint8_t)space_of(k);
    operand *rest = o + (returns ? 1 : 0);
    use_address(P, &rest[0]);
    in->d = -1;
    if (returns && o[0].kind != O_SINK)
        def(P, &in->d, &o[0], k->types[0]);
    use(P, &in->b, &rest[1], k->types[0]);
    if (in->mode == 7)
        use(P, &in->c, &rest[2], k->types[0]);
    in->op = op_atom;
    note_access(P, in->space, in->size);
    emit(P);
}

/* An address of 32 bits in the list: what is added to it */
static uint32_t list_address(parser *P, operand *o)
{
    if (o->kind != O_ADDR || o->base < 0 || o->sym || P->vregs[o->base].width != 4)
        parse_fail(P, "an address of shared memory in a register of 32 bits is expected");
    list_item(P, &(operand){.kind = O_REG, .reg = o->base}, T_U32, 4, false);
    return (uint32_t)o->imm;
}

/* [place], [source], bytes, [mbarrier]; or [place], [map, {coordinates}], [mbarrier] */
static void decode_bulk(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    const bool tensor = has(k, "tensor");
    P->fn->bulk = true;
    if (!has(k, "mbarrier::complete_tx::bytes") || !has(k, "global") || has(k, "multicast::cluster") ||
        has(k, "im2col") || n < 4 - tensor)
        parse_fail(P, "unsupported cp.async.bulk: from global into shared memory, with an mbarrier");
    for (int i = 0; i < k->nmod && tensor; i++)
        if (k->mod[i][1] == 'd' && !k->mod[i][2])
            in->mode = (uint8_t)(k->mod[i][0] - '0');
    use_address(P, &o[0]);
    if (in->flags & F_ADDR64 || o[1].kind != O_ADDR || o[1].base < 0 || P->vregs[o[1].base].width != 8 ||
        o[1].n != in->mode)
        parse_fail(P, "unsupported operands of cp.async.bulk");
    in->b = o[1].base;
    add_ref(P, &in->b, -1, in->b, false);
    in->target = (int32_t)o[1].imm;
    P->nlist = 0;
    in->used_bytes = list_address(P, &o[tensor ? 2 : 3]);
    if (!tensor)
        list_item(P, &o[2], T_U32, 4, false);
    for (int i = 0; i < in->mode; i++)
        list_item(P, &P->elems[o[1].first + i], T_U32, 4, false);
    in->op = op_bulk;
    note_access(P, SP_SHARED, 16);
    emit(P);
}

static void decode_mbarrier(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    const bool waits = has(k, "try_wait") || has(k, "test_wait"), returns = o[0].kind != O_ADDR;
    operand *rest = o + returns;
    const int more = n - returns - 1;
    P->fn->bulk = true;
    if (has(k, "complete_tx") || has(k, "pending_count") || has(k, "arrive_drop") || space_of(k) != SP_SHARED)
        parse_fail(P, "unsupported mbarrier operation");
    in->op = has(k, "init")    ? op_mbarrier_init
             : has(k, "inval") ? op_mbarrier_inval
             : waits           ? op_mbarrier_wait
                               : op_mbarrier_arrive;
    use_address(P, rest);
    in->b = -1;
    if (waits) {
        in->mode = has(k, "parity");
        in->d = pred_operand(P, &o[0]);
        use(P, &in->b, &rest[1], in->mode ? T_U32 : T_B64);
    } else {
        in->mode = (uint8_t)(has(k, "arrive") + 2 * has(k, "expect_tx"));
        if (returns)
            def(P, &in->d, &o[0], T_B64);
        if (more > 0)
            use(P, &in->b, &rest[1], T_U32);
    }
    note_access(P, SP_SHARED, 8);
    emit(P);
}

static void decode_cp_async(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    if (has(k, "commit_group")) {
        in->op = op_cp_commit;
        emit(P);
        return;
    }
    if (has(k, "wait_all") || has(k, "wait_group")) {
        in->op = op_cp_wait;
        if (has(k, "wait_all"))
            in->flags |= F_WAIT_ALL;
        else
            in->imm = (int64_t)o[0].imm;
        emit(P);
        return;
    }
    if (has(k, "bulk")) {
        decode_bulk(P, k, o, n);
        return;
    }
    if (has(k, "mbarrier") || has(k, "reduce"))
        parse_fail(P, "unsupported cp.async form .%s", k->mod[1]);
    in->op = op_cp_async;
    in->size = (uint8_t)o[2].imm;
    if (o[0].kind != O_ADDR || o[1].kind != O_ADDR || (in->size != 4 && in->size != 8 && in->size != 16))
        parse_fail(P, "unsupported cp.async");
    use_address(P, &o[0]); /* shared: a + imm */
    in->list = NULL;
    in->target = (int32_t)o[1].imm; /* global: b + target */
    if (o[1].sym || o[1].base < 0 || P->vregs[o[1].base].width != 8)
        parse_fail(P, "unsupported cp.async source");
    in->b = o[1].base;
    add_ref(P, &in->b, -1, in->b, false);
    in->c = -1;
    in->e = PRED_FALSE;
    if (n > 3 && o[3].kind == O_PRED)
        in->e = o[3].reg; /* ignore-src */
    else if (n > 3 && o[3].kind != O_ADDR && !(o[3].kind == O_REG && P->vregs[o[3].reg].width == 8))
        use_width(P, &in->c, &o[3], T_U32, 4);
    note_access(P, SP_SHARED, in->size);
    emit(P);
}

static void decode_barrier(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    int at = 0;
    in->d = -1;
    if (has(k, "warp")) {
        in->kind = K_WARPSYNC;
        in->op = op_warpsync;
        use_width(P, &in->b, &o[0], T_U32, 4);
        emit(P);
        return;
    }
    in->kind = K_BARRIER;
    if (has(k, "arrive"))
        in->flags |= F_ARRIVE;
    if (has(k, "red")) {
        in->flags |= F_RED;
        in->mode = has(k, "popc") ? 0 : has(k, "and") ? 1 : 2;
        if (in->mode == 0)
            def(P, &in->d, &o[0], T_U32);
        else
            in->d = pred_operand(P, &o[0]);
        in->e = pred_operand(P, &o[n - 1]);
        at = 1;
        n--;
    }
    if (n > at)
        use_width(P, &in->a, &o[at], T_U32, 4);
    else
        use_width(P, &in->a, &(operand){.kind = O_IMM}, T_U32, 4);
    in->b = -1;
    if (n > at + 1)
        use_width(P, &in->b, &o[at + 1], T_U32, 4);
    if (!strcmp(k->op, "barrier") && !has(k, "aligned"))
        in->flags |= F_MASKED; /* may be divergent */
    emit(P);
}

static void decode_warp_op(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    in->kind = K_WARPSYNC;
    in->d = in->e = -1;
    if (!strcmp(k->op, "shfl")) {
        in->mode = has(k, "up") ? 0 : has(k, "down") ? 1 : has(k, "bfly") ? 2 : 3;
        in->op = op_shfl;
        def(P, &in->d, &o[0], T_B32);
        in->e = o[0].second;
        use(P, &in->a, &o[1], T_B32);
        P->nlist = 0;
        list_item(P, &o[2], T_U32, 4, false);
        list_item(P, &o[3], T_U32, 4, false);
        use_width(P, &in->b, &o[4], T_U32, 4);
    } else if (!strcmp(k->op, "vote")) {
        in->mode = has(k, "ballot") ? 0 : has(k, "all") ? 1 : has(k, "any") ? 2 : 3;
        in->op = op_vote;
        if (in->mode == 0)
            def(P, &in->d, &o[0], T_B32);
        else
            in->d = pred_operand(P, &o[0]);
        in->e = pred_operand(P, &o[1]);
        use_width(P, &in->b, &o[2], T_U32, 4);
    } else if (!strcmp(k->op, "match")) {
        in->mode = has(k, "all");
        in->op = op_match;
        in->size = (uint8_t)type_size(k->types[0]);
        def(P, &in->d, &o[0], T_B32);
        in->e = o[0].second;
        use(P, &in->a, &o[1], k->types[0]);
        use_width(P, &in->b, &o[2], T_U32, 4);
    } else { /* redux */
        in->mode = has(k, "add") ? 0 : has(k, "min") ? 1 : has(k, "max") ? 2 : has(k, "and") ? 3 : has(k, "or") ? 4 : 5;
        in->op = op_redux;
        in->type = (uint8_t)k->types[0];
        def(P, &in->d, &o[0], T_B32);
        use(P, &in->a, &o[1], T_B32);
        use_width(P, &in->b, &o[2], T_U32, 4);
    }
    (void)n;
    emit(P);
}

static void decode_matrix(parser *P, mnemonic *k, operand *o)
{
    instruction *in = &P->cur;
    in->kind = K_WARPSYNC;
    in->flags |= F_ALL_LANES;
    if (!strcmp(k->op, "mma")) {
        int m, n, depth, used = 0;
        const char *shape = NULL;
        for (int i = 0; i < k->nmod; i++)
            if (sscanf(k->mod[i], "m%dn%dk%d%n", &m, &n, &depth, &used) == 3)
                shape = k->mod[i];
        if (!shape || k->ntypes != 4 || !has(k, "row") || !has(k, "col"))
            parse_fail(P, "unsupported mma");
        in->type = (uint8_t)k->types[1];  /* type of A and B */
        in->type2 = (uint8_t)k->types[0]; /* type of C and D */
        in->size = (uint8_t)depth;
        in->mode = (uint8_t)m;
        int w = k->types[0] == T_F64 ? 8 : 4, aw = k->types[1] == T_F64 ? 8 : 4;
        if (k->types[1] != k->types[2] || k->types[0] != k->types[3] || n != 8 || !(m == 16 || (m == 8 && aw == 8)))
            parse_fail(P, "unsupported mma shape %s", shape);
        in->d = list_all(P, &o[0], T_B32, w, true);
        in->a = list_all(P, &o[1], T_B32, aw, false);
        in->b = list_all(P, &o[2], T_B32, aw, false);
        list_all(P, &o[3], T_B32, w, false);
        in->op = op_mma;
    } else {
        in->op = op_ldmatrix;
        in->mode = !strcmp(k->op, "stmatrix");
        if (!has(k, "m8n8"))
            parse_fail(P, "unsupported %s shape", k->op);
        if (has(k, "trans"))
            in->flags |= F_TRANS;
        in->space = (uint8_t)space_of(k);
        use_address(P, &o[in->mode ? 0 : 1]);
        in->count = (uint8_t)list_all(P, &o[in->mode ? 1 : 0], T_B32, 4, !in->mode);
        note_access(P, SP_SHARED, 16);
    }
    emit(P);
}

/* D, descriptors of A and B in shared memory, scale-d, factors, and for halves which of them are turned */
static void decode_wgmma(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    int rows, columns, depth, used = 0;
    in->kind = K_WARPSYNC;
    in->flags |= F_ALL_LANES;
    P->fn->wgmma = true;
    in->op = has(k, "fence")          ? op_wgmma_fence
             : has(k, "commit_group") ? op_wgmma_commit
             : has(k, "wait_group")   ? op_wgmma_wait
                                      : op_wgmma;
    if (in->op == op_wgmma_wait)
        in->imm = (int64_t)o[0].imm;
    if (in->op != op_wgmma) {
        emit(P);
        return;
    }
    for (int i = 0; i < k->nmod; i++)
        if (sscanf(k->mod[i], "m%dn%dk%d%n", &rows, &columns, &depth, &used) == 3)
            in->count = (uint8_t)(columns / 8), in->size = (uint8_t)depth;
    const bool halves = k->ntypes == 3 && (k->types[1] == T_BF16 || k->types[1] == T_F16), turns = halves && n == 8;
    if (!used || k->types[0] != T_F32 || k->types[1] != k->types[2] || (!halves && k->types[1] != T_TF32) || n < 6 ||
        rows != 64 || columns < 8 || columns > 256 || columns % 8 || depth != (halves ? 16 : 8) || n != 6 + 2 * turns)
        parse_fail(P, "unsupported wgmma.mma_async: sums are f32, operands descriptors of bf16, f16 or tf32");
    if (o[4].imm != 1 || o[5].imm != 1)
        parse_fail(P, "factors of wgmma.mma_async are not supported");
    if (o[1].kind == O_VEC)
        parse_fail(P, "operands of wgmma.mma_async in registers are not supported");
    in->type = (uint8_t)k->types[1];
    in->mode = turns ? (uint8_t)(o[6].imm | o[7].imm << 1) : 0;
    for (int i = 0; i < o[0].n; i++) { /* read and written: in the list once */
        add_ref(P, NULL, P->nlist, P->elems[o[0].first + i].reg, false);
        list_item(P, &P->elems[o[0].first + i], T_F32, 4, true);
    }
    if (o[0].n != columns / 2)
        parse_fail(P, "wgmma.mma_async of %d columns has %d sums in a register, not %d", columns, columns / 2, o[0].n);
    use(P, &in->a, &o[1], T_B64);
    use(P, &in->b, &o[2], T_B64);
    in->e = pred_operand(P, &o[3]);
    note_access(P, SP_SHARED, 16);
    emit(P);
}

static void decode_cvta(parser *P, mnemonic *k, operand *o)
{
    instruction *in = &P->cur;
    int space = space_of(k);
    uint64_t window = space == SP_SHARED  ? SHARED_WINDOW
                      : space == SP_LOCAL ? LOCAL_WINDOW
                      : space == SP_PARAM ? PARAM_WINDOW
                                          : 0;
    if (k->types[0] != T_U64)
        parse_fail(P, "32-bit cvta is not supported");
    in->op = window == 0 ? alu_find("mov.b64") : alu_find(has(k, "to") ? "sub.i64" : "add.i64");
    def(P, &in->d, &o[0], T_U64);
    use(P, &in->a, &o[1], T_U64);
    if (window)
        use(P, &in->b, &(operand){.kind = O_IMM, .imm = window}, T_U64);
    emit(P);
}

static void decode_carry(parser *P, mnemonic *k, operand *o, int n)
{
    instruction *in = &P->cur;
    value_type t = k->types[0];
    bool mad = k->op[0] == 'm';
    in->op = op_carry;
    in->size = (uint8_t)type_size(t);
    if (has(k, "cc"))
        in->flags |= F_CC_OUT;
    if (k->op[strlen(k->op) - 1] == 'c')
        in->flags |= F_CC_IN;
    if (k->op[0] == 's')
        in->flags |= F_SUB;
    if (is_signed(t))
        in->flags |= F_SIGNED;
    in->mode = mad ? (has(k, "hi") ? 2 : 1) : 0;
    def(P, &in->d, &o[0], t);
    use(P, &in->a, &o[1], t);
    use(P, &in->b, &o[2], t);
    if (n > 3)
        use(P, &in->c, &o[3], t);
    emit(P);
}

static bool one_of(const char *s, const char *list) /* list: " a b c " */
{
    char pat[64];
    snprintf(pat, sizeof pat, " %s ", s);
    return strstr(list, pat) != NULL;
}

void decode(parser *P, char *word, int guard, operand *o, int n)
{
    mnemonic m, *k = &m;
    instruction *in = &P->cur;
    char full[256];
    (void)guard;
    snprintf(full, sizeof full, "%s", word);
    split(k, word);
    const char *op = k->op;
    if (!P->fn)
        parse_fail(P, "instruction outside a function");

    if (!strcmp(op, "mov") && n == 2)
        decode_mov(P, k, o);
    else if (!strcmp(op, "setp") || !strcmp(op, "set"))
        decode_setp(P, k, o, n);
    else if (!strcmp(op, "cvt"))
        decode_cvt(P, k, o, n);
    else if (!strcmp(op, "cvta"))
        decode_cvta(P, k, o);
    else if (!strcmp(op, "ld") || !strcmp(op, "ldu"))
        decode_ldst(P, k, o, true);
    else if (!strcmp(op, "st"))
        decode_ldst(P, k, o, false);
    else if (!strcmp(op, "bra")) {
        in->kind = K_BRANCH;
        add_fixup(P, o[0].name, -1, 0);
        emit(P);
    } else if (!strcmp(op, "brx")) {
        in->kind = K_SWITCH;
        use_width(P, &in->a, &o[0], T_U32, 4);
        add_fixup(P, o[1].name, -1, 0);
        emit(P);
    } else if (!strcmp(op, "ret") || !strcmp(op, "exit")) {
        in->kind = !strcmp(op, "exit") || P->fn->entry ? K_EXIT : K_RET;
        if (in->kind == K_RET) {
            in->a = P->fn->return_slot;
            add_ref(P, &in->a, -1, in->a, false);
        }
        emit(P);
    } else if (!strcmp(op, "bar") || !strcmp(op, "barrier")) {
        if (has(k, "cluster"))
            parse_fail(P, "clusters are not supported");
        decode_barrier(P, k, o, n);
    } else if (one_of(op, " shfl vote match redux ")) {
        if (!has(k, "sync"))
            parse_fail(P, "%s without .sync is not supported", op);
        decode_warp_op(P, k, o, n);
    } else if (!strcmp(op, "activemask")) {
        in->op = op_activemask;
        def(P, &in->d, &o[0], T_B32);
        emit(P);
    } else if (!strcmp(op, "elect")) {
        in->kind = K_WARPSYNC;
        in->op = op_elect;
        in->d = -1;
        if (o[0].kind == O_REG)
            def(P, &in->d, &o[0], T_B32);
        in->e = o[0].second;
        use_width(P, &in->b, &o[1], T_U32, 4);
        emit(P);
    } else if (!strcmp(op, "atom"))
        decode_atom(P, k, o, true);
    else if (!strcmp(op, "red")) {
        if (has(k, "async"))
            parse_fail(P, "red.async is not supported");
        decode_atom(P, k, o, false);
    } else if (!strcmp(op, "cp") && k->nmod && !strcmp(k->mod[0], "async"))
        decode_cp_async(P, k, o, n);
    else if (one_of(op, " ldmatrix stmatrix mma "))
        decode_matrix(P, k, o);
    else if (!strcmp(op, "wgmma"))
        decode_wgmma(P, k, o, n);
    else if (!strcmp(op, "mbarrier"))
        decode_mbarrier(P, k, o, n);
    else if (!strcmp(op, "fence") && ((has(k, "proxy") && has(k, "async")) || has(k, "mbarrier_init"))) {
        in->op = op_proxy_fence;
        emit(P);
    } else if (one_of(op, " membar fence nanosleep prefetch prefetchu griddepcontrol setmaxnreg discard applypriority "
                          "createpolicy ")) {
        if (!strcmp(op, "createpolicy")) {
            in->op = alu_find("mov.b64");
            def(P, &in->d, &o[0], T_U64);
            use(P, &in->a, &(operand){.kind = O_IMM}, T_U64);
        } else
            in->op = op_nop;
        emit(P);
    } else if (!strcmp(op, "trap") || !strcmp(op, "brkpt")) {
        in->op = op_trap;
        emit(P);
    } else if (one_of(op, " addc subc madc ") || has(k, "cc"))
        decode_carry(P, k, o, n);
    else if (!strcmp(op, "isspacep")) {
        in->op = op_isspace;
        in->space = (uint8_t)space_of(k);
        in->d = pred_operand(P, &o[0]);
        use(P, &in->a, &o[1], T_U64);
        emit(P);
    } else if (!strcmp(op, "testp")) {
        static const char *tests[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
        for (int i = 0; i < 6; i++)
            if (has(k, tests[i]))
                in->mode = (uint8_t)i;
        in->op = op_testp;
        in->type = (uint8_t)k->types[0];
        in->d = pred_operand(P, &o[0]);
        use(P, &in->a, &o[1], k->types[0]);
        emit(P);
    } else if (one_of(op, " and or xor not ") && k->types[0] == T_PRED) {
        in->op = op_pred;
        in->mode = op[0] == 'a' ? 1 : op[0] == 'o' ? 2 : op[0] == 'x' ? 3 : 4;
        in->d = pred_operand(P, &o[0]);
        in->a = pred_operand(P, &o[1]);
        in->b = n > 2 ? pred_operand(P, &o[2]) : PRED_TRUE;
        emit(P);
    } else if (k->ntypes && n >= 2)
        decode_alu(P, k, o, n);
    else
        parse_fail(P, "unsupported instruction %s", full);
}
