/* ptx.c - reads PTX text: declarations, statements, functions, modules. */
#include "tests/gpusim/ptx.h"

enum { MAX_PARAM = 512 }; /* 4096 bytes of addresses: what kernels take before CUDA 12.1 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- instructions ---- */
void emit(parser *P)
{
    P->code = grown(P->code, P->ncode, &P->cap_code, sizeof *P->code);
    instruction *in = &P->cur;
    in->line = P->loc_line;
    in->file = P->loc_file;
    in->ptx_line = P->line;
    if (P->nlist) {
        in->list = calloc((size_t)P->nlist, sizeof *in->list);
        memcpy(in->list, P->list, (size_t)P->nlist * sizeof *in->list);
        in->nlist = P->nlist;
    }
    P->code[P->ncode] = *in;
    for (int i = 0; i < P->npending; i++) {
        P->refs = grown(P->refs, P->nrefs, &P->cap_refs, sizeof *P->refs);
        P->pending[i].insn = P->ncode;
        P->refs[P->nrefs++] = P->pending[i];
    }
    P->ncode++;
    P->npending = P->nlist = 0;
    int guard = in->guard;
    memset(in, 0, sizeof *in);
    in->guard = guard;
}

void add_fixup(parser *P, const char *label, int table, int slot)
{
    P->fixups = grown(P->fixups, P->nfixups, &P->cap_fixups, sizeof *P->fixups);
    fixup *f = &P->fixups[P->nfixups++];
    name_copy(P, f->name, sizeof f->name, label);
    f->scope = P->scope;
    f->insn = P->ncode;
    f->table = table;
    f->slot = slot;
}

static int parse_align(parser *P, int align)
{
    while (token_is(P, ".align")) {
        token_next(P);
        align = sim_whole(P->tok);
        token_next(P);
    }
    return align;
}

/* Reads [dims] and returns the number of elements; 0 for an empty []. */
static uint64_t parse_dims(parser *P)
{
    uint64_t n = 1;
    while (token_accept(P, '[')) {
        if (token_accept(P, ']'))
            return 0;
        n *= strtoull(P->tok, NULL, 0);
        token_next(P);
        token_expect(P, ']');
    }
    return n;
}

static uint32_t round_up(uint32_t v, uint32_t a)
{
    return (v + a - 1) / a * a;
}

static void parse_initialiser(parser *P, uint8_t *out, value_type t, uint64_t count)
{
    int size = type_size(t);
    bool braces = token_accept(P, '{');
    uint64_t i = 0;
    do {
        while (token_accept(P, '{')) {}
        operand o;
        parse_operand(P, &o);
        uint64_t v = o.imm;
        if (o.kind == O_FLOAT && t == T_F32 && o.n != 4) {
            float f = (float)o.fval;
            v = 0;
            memcpy(&v, &f, 4);
        }
        if (o.kind == O_FLOAT && t == T_F64 && o.n != 8)
            memcpy(&v, &o.fval, 8);
        if (o.kind == O_SYM)
            v = o.sym->address + o.imm;
        else if (o.kind == O_NAME)
            parse_fail(P, "initialiser '%s' is not supported", o.name);
        if (i < count)
            memcpy(out + i++ * (uint64_t)size, &v, (size_t)size);
        while (token_accept(P, '}'))
            braces = false;
    } while (token_accept(P, ','));
    if (braces)
        token_expect(P, '}');
}

/* .shared/.global/.const/.local variable declarations */
static void parse_variable(parser *P, int space, bool external)
{
    int align = parse_align(P, 0), vec = 1;
    while (P->tk == 'w' && (strcmp(P->tok, ".v2") == 0 || strcmp(P->tok, ".v4") == 0)) {
        vec = P->tok[2] - '0';
        token_next(P);
    }
    align = parse_align(P, align);
    value_type t = type_from_name(P->tok + 1);
    if (t == T_NONE)
        parse_fail(P, "unsupported variable type %s", P->tok);
    token_next(P);
    do {
        char name[256];
        snprintf(name, sizeof name, "%s", P->tok);
        token_next(P);
        uint64_t count = parse_dims(P), size = count * (uint64_t)(type_size(t) * vec);
        uint32_t al = align ? (uint32_t)align : (uint32_t)type_size(t);
        bool module_scope = P->fn == NULL;
        symbol *s = add_symbol(module_scope ? &P->globals : &P->scope->syms, name, S_VAR);
        s->type = t;
        s->space = space;
        s->size = size;
        if (space == SP_LOCAL) {
            P->local_end = round_up(P->local_end, al < 16 ? 16 : al);
            s->address = P->local_end;
            P->local_end += (uint32_t)size + 16; /* a gap, never valid: see access.c */
        } else if (space == SP_SHARED) {
            s->address = ~0ull; /* placed when a kernel first uses it */
            s->count = 0;
            s->first = (int)al | (external ? 1 << 30 : 0);
        } else {
            s->address = mem_alloc(size ? size : 1);
            if (!s->address)
                parse_fail(P, "no device memory for %s", name);
            mem_mark_valid(s->address, size, 1);
            uint8_t *host = mem_host(s->address, size);
            memset(host, 0, size);
            if (token_accept(P, '='))
                parse_initialiser(P, host, t, count * (uint64_t)vec);
        }
    } while (token_accept(P, ','));
    token_expect(P, ';');
}

static value_type parse_parameter(parser *P, parameter *out)
{
    int align = 0, ptr = 0;
    if (token_is(P, ".param") || token_is(P, ".reg"))
        token_next(P);
    align = parse_align(P, align);
    value_type t = type_from_name(P->tok + 1);
    if (t == T_NONE)
        parse_fail(P, "unsupported parameter type %s", P->tok);
    token_next(P);
    while (P->tk == 'w' && P->tok[0] == '.') { /* .ptr .global .align 16 */
        ptr = 1;
        if (token_is(P, ".align"))
            token_next(P);
        token_next(P);
        if (P->tk == 'n')
            token_next(P);
    }
    (void)ptr;
    name_copy(P, out->name, sizeof out->name, P->tok);
    token_next(P);
    uint64_t n = parse_dims(P);
    out->size = (uint32_t)(n * (uint64_t)type_size(t));
    out->align = align ? (uint32_t)align : (uint32_t)type_size(t);
    return t;
}

static void parse_reg_decl(parser *P)
{
    if (P->tk == 'w' && (!strcmp(P->tok, ".v2") || !strcmp(P->tok, ".v4")))
        parse_fail(P, "vector registers are not supported");
    value_type t = type_from_name(P->tok + 1);
    if (t == T_NONE)
        parse_fail(P, "unsupported register type %s", P->tok);
    token_next(P);
    do {
        symbol *s = add_symbol(&P->scope->syms, P->tok, S_REG);
        token_next(P);
        s->type = t;
        if (token_accept(P, '<')) {
            s->count = sim_whole(P->tok);
            token_next(P);
            token_expect(P, '>');
        }
        int n = s->count ? s->count : 1;
        if (t == T_PRED) {
            s->first = (int)P->npred;
            P->npred += (uint32_t)n;
        } else
            for (int i = 0; i < n; i++) {
                int v = new_vreg(P, type_size(t));
                if (i == 0)
                    s->first = v;
            }
    } while (token_accept(P, ','));
    token_expect(P, ';');
}

static void parse_statement(parser *P);

static void parse_block(parser *P)
{
    push_scope(P);
    while (P->tk && P->tk != '}')
        parse_statement(P);
    token_expect(P, '}');
    P->scope = P->scope->up;
}

static void parse_call(parser *P, int guard)
{
    char names[2][8][256], callee[256];
    int n[2] = {0, 0};
    for (int part = 0; part < 3; part++) {
        if (part == 1) {
            snprintf(callee, sizeof callee, "%s", P->tok);
            token_next(P);
            if (!token_accept(P, ','))
                break;
            continue;
        }
        if (!token_accept(P, '(')) {
            if (part == 0)
                continue;
            break;
        }
        while (P->tk != ')') {
            if (n[part / 2] == 8)
                parse_fail(P, "too many call arguments");
            name_copy(P, names[part / 2][n[part / 2]++], 256, P->tok);
            token_next(P);
            token_accept(P, ',');
        }
        token_next(P);
        token_accept(P, ',');
    }
    token_skip(P, ';');
    function *f = find_func(P->m, callee);
    if (!f)
        parse_fail(P, "call of unknown function %s (indirect calls are not supported)", callee);
    P->cur.guard = guard;
    int idx;
    symbol *s;
    if (strcmp(callee, "vprintf") == 0 || strcmp(callee, "__assertfail") == 0) {
        for (int i = 0; i < n[1]; i++) {
            if (!(s = find_symbol(P, names[1][i], &idx)))
                parse_fail(P, "unknown argument %s", names[1][i]);
            P->list[P->nlist++] = (int32_t)s->address;
        }
        P->cur.op = callee[0] == 'v' ? op_print : op_assert;
        emit(P);
        return;
    }
    for (int i = 0; i < n[1]; i++) { /* triples: formal, actual, size */
        s = find_symbol(P, names[1][i], &idx);
        if (!s || s->kind != S_PARAM || i >= f->nparams)
            parse_fail(P, "unsupported call argument %s", names[1][i]);
        P->list[P->nlist++] = (int32_t)f->parameters[i].offset;
        P->list[P->nlist++] = (int32_t)s->address;
        P->list[P->nlist++] = (int32_t)f->parameters[i].size;
    }
    P->cur.kind = K_CALL;
    for (int i = 0; i < P->m->nfuncs; i++)
        if (P->m->funcs[i] == f)
            P->cur.target = i;
    emit(P);
    if (n[0]) {
        s = find_symbol(P, names[0][0], &idx);
        if (!s || s->kind != S_PARAM)
            parse_fail(P, "unsupported call result %s", names[0][0]);
        P->cur.guard = guard;
        P->cur.kind = K_PLAIN;
        P->cur.mode = 1;
        P->list[P->nlist++] = (int32_t)s->address;
        P->list[P->nlist++] = (int32_t)f->ret.offset;
        P->list[P->nlist++] = (int32_t)f->ret.size;
        extern void op_copy_local(warp *, const instruction *, uint32_t);
        P->cur.op = op_copy_local;
        emit(P);
    }
}

static void parse_statement(parser *P)
{
    char word[256];
    if (P->tk == '{') {
        token_next(P);
        parse_block(P);
        return;
    }
    if (token_accept(P, ';'))
        return;
    if (token_word(P, ".reg")) {
        parse_reg_decl(P);
        return;
    }
    if (P->tk == 'w' && strncmp(P->tok, ".reg.", 5) == 0) { /* ".reg.b16 x": no space between */
        memmove(P->tok, P->tok + 4, strlen(P->tok + 4) + 1);
        parse_reg_decl(P);
        return;
    }
    if (token_word(P, ".shared")) {
        parse_variable(P, SP_SHARED, false);
        return;
    }
    if (token_word(P, ".local")) {
        parse_variable(P, SP_LOCAL, false);
        return;
    }
    if (token_word(P, ".const")) {
        parse_variable(P, SP_CONST, false);
        return;
    }
    if (token_word(P, ".global")) {
        parse_variable(P, SP_GLOBAL, false);
        return;
    }
    if (token_word(P, ".param")) {
        parameter prm;
        value_type t = parse_parameter(P, &prm);
        symbol *s = add_symbol(&P->scope->syms, prm.name, S_PARAM);
        s->type = t;
        s->space = SP_LOCAL;
        s->size = prm.size;
        P->local_end = round_up(P->local_end, 16);
        s->address = P->local_end;
        P->local_end += prm.size;
        token_expect(P, ';');
        return;
    }
    if (token_word(P, ".loc")) {
        P->loc_file = sim_whole(P->tok);
        token_next(P);
        P->loc_line = sim_whole(P->tok);
        token_next(P);
        token_next(P);
        while (token_accept(P, ',')) { /* function_name X, inlined_at file line column */
            bool inlined = token_is(P, "inlined_at");
            token_next(P);
            int file = sim_whole(P->tok);
            token_next(P);
            if (inlined) {
                P->loc_file = file;
                P->loc_line = sim_whole(P->tok);
                token_next(P);
                token_next(P);
            } else if (token_accept(P, '+'))
                token_next(P);
        }
        return;
    }
    if (token_word(P, ".pragma")) {
        sscanf(P->tok, "used_bytes_mask %u", &P->used_bytes);
        token_skip(P, ';');
        return;
    }
    int guard = PRED_TRUE;
    if (token_accept(P, '@')) {
        bool neg = token_accept(P, '!');
        operand o = {0};
        parse_name(P, &o);
        if (o.kind != O_PRED)
            parse_fail(P, "guard is not a predicate");
        guard = o.reg ^ neg;
    }
    if (P->tk != 'w')
        parse_fail(P, "unexpected '%s'", P->tok);
    snprintf(word, sizeof word, "%s", P->tok);
    token_next(P);
    if (P->tk == ':') { /* label, or a branch-target table */
        token_next(P);
        P->labels = grown(P->labels, P->nlabels, &P->cap_labels, sizeof *P->labels);
        code_label *l = &P->labels[P->nlabels++];
        name_copy(P, l->name, sizeof l->name, word);
        l->scope = P->scope;
        l->pc = P->ncode;
        if (token_word(P, ".branchtargets")) {
            function *f = P->fn;
            int t = f->ntables++, k = 0;
            f->tables = reallocarray(f->tables, (size_t)f->ntables, sizeof *f->tables);
            f->table_length = reallocarray(f->table_length, (size_t)f->ntables, sizeof *f->table_length);
            f->tables[t] = calloc(1024, sizeof(int32_t));
            do {
                add_fixup(P, P->tok, t, k++);
                token_next(P);
            } while (token_accept(P, ',') && k < 1024);
            f->table_length[t] = k;
            l->pc = -1 - t;
            token_expect(P, ';');
        }
        return;
    }
    memset(&P->cur, 0, sizeof P->cur);
    P->cur.d = P->cur.a = P->cur.b = P->cur.c = P->cur.e = -1;
    P->nelems = P->npending = P->nlist = 0;
    P->cur.guard = guard;
    P->cur.used_bytes = P->used_bytes, P->used_bytes = 0;
    if (strncmp(word, "call", 4) == 0 && (word[4] == 0 || word[4] == '.')) {
        parse_call(P, guard);
        return;
    }
    operand o[12];
    int n = 0;
    if (P->tk != ';')
        do {
            if (n == 12)
                parse_fail(P, "too many operands");
            parse_operand(P, &o[n++]);
        } while (token_accept(P, ','));
    if (P->tk != ';')
        parse_fail(P, "expected ';' before '%s'", P->tok);
    decode(P, word, guard, o, n);
    token_next(P);
}

/* ---- functions ---- */
static void resolve_labels(parser *P)
{
    for (int i = 0; i < P->nfixups; i++) {
        fixup *f = &P->fixups[i];
        code_label *hit = NULL;
        for (scope *s = f->scope; s && !hit; s = s->up)
            for (int k = 0; k < P->nlabels; k++)
                if (P->labels[k].scope == s && strcmp(P->labels[k].name, f->name) == 0) {
                    hit = &P->labels[k];
                    break;
                }
        if (!hit)
            parse_fail(P, "undefined label %s", f->name);
        if (f->table >= 0)
            P->fn->tables[f->table][f->slot] = hit->pc;
        else
            P->code[f->insn].target = hit->pc < 0 ? -1 - hit->pc : hit->pc;
    }
    P->nfixups = P->nlabels = 0;
}

/* Compilers load whole vectors of which they need a part: nobody sees what the other elements hold. */
static void mark_unused(parser *P, int first_ref)
{
    bool *used = calloc((size_t)P->nvregs + 1, sizeof *used);
    for (int i = first_ref; i < P->nrefs; i++)
        used[P->refs[i].vreg] |= !P->refs[i].def;
    for (int i = first_ref; i < P->nrefs; i++) {
        const operand_reference *r = &P->refs[i];
        instruction *in = &P->code[r->insn];
        if (in->op == op_ld && in->count > 1 && r->def && r->list >= 0 && !used[r->vreg])
            in->unused |= (uint8_t)(1 << r->list);
    }
    free(used);
}

static void parse_function(parser *P, bool entry)
{
    parameter ret = {0};
    push_scope(P);
    if (token_accept(P, '(')) {
        parse_parameter(P, &ret);
        token_expect(P, ')');
    }
    char name[256];
    snprintf(name, sizeof name, "%s", P->tok);
    token_next(P);
    function *f = find_func(P->m, name);
    bool fresh = f == NULL;
    if (fresh) {
        f = calloc(1, sizeof *f);
        f->name = strdup(name);
        f->module = P->m;
        f->entry = entry;
        f->granule = 16;
        f->dynamic_shared = -1;
        f->dynamic_shared_limit = 48 * 1024;
        P->m->funcs = reallocarray(P->m->funcs, (size_t)(P->m->nfuncs + 1), sizeof *P->m->funcs);
        P->m->funcs[P->m->nfuncs++] = f;
        if (ret.size) {
            f->ret = ret;
            P->local_end = round_up(P->local_end, 16);
            f->ret.offset = P->local_end;
            P->local_end += ret.size;
        }
    }
    int n = 0;
    uint32_t offset = 0;
    parameter list[MAX_PARAM];
    if (token_accept(P, '(')) {
        while (P->tk != ')') {
            if (n == MAX_PARAM)
                parse_fail(P, "too many parameters");
            parse_parameter(P, &list[n]);
            if (entry) {
                offset = round_up(offset, list[n].align);
                list[n].offset = offset;
                offset += list[n].size;
            } else if (fresh) {
                P->local_end = round_up(P->local_end, 16);
                list[n].offset = P->local_end;
                P->local_end += list[n].size;
            } else
                list[n].offset = f->parameters[n].offset;
            n++;
            token_accept(P, ',');
        }
        token_next(P);
    }
    if (fresh) {
        f->parameters = calloc((size_t)(n + 1), sizeof *f->parameters);
        memcpy(f->parameters, list, (size_t)n * sizeof *list);
        f->nparams = n;
        f->parameter_size = offset;
    }
    for (int i = 0; i <= n; i++) { /* names may differ from the prototype's */
        parameter *q = i < n ? &list[i] : &ret;
        if (!q->size)
            continue;
        symbol *s = add_symbol(&P->scope->syms, q->name, S_PARAM);
        s->space = entry ? SP_PARAM : SP_LOCAL;
        s->size = q->size;
        s->address = i < n ? q->offset : f->ret.offset;
    }
    while (P->tk == 'w' && P->tok[0] == '.') { /* .maxntid 256, 1, 1 and the like */
        int *into = token_is(P, ".maxntid") ? f->maxntid : token_is(P, ".reqntid") ? f->reqntid : NULL, k = 0;
        bool counts = into || token_is(P, ".minnctapersm") || token_is(P, ".maxnreg") || token_is(P, ".maxclusterrank");
        token_next(P);
        if (into)
            into[0] = into[1] = into[2] = 1;
        while (counts && P->tk == 'n') {
            if (into && k < 3)
                into[k++] = sim_whole(P->tok);
            token_next(P);
            token_accept(P, ',');
        }
    }
    if (token_accept(P, ';')) {
        P->scope = P->scope->up;
        return;
    }
    if (f->defined)
        parse_fail(P, "%s is defined twice", name);
    f->defined = true;
    P->fn = f;
    P->nconsts = 0;
    int first_insn = P->ncode, first_ref = P->nrefs, first_vreg = P->nvregs;
    if (!entry) {
        f->return_slot = new_vreg(P, 4);
        P->vregs[f->return_slot].fixed = true;
    }
    f->ncode = first_insn;
    token_expect(P, '{');
    parse_block(P);
    P->cur = (instruction){.kind = entry ? K_EXIT : K_RET, .d = -1, .a = -1, .b = -1, .c = -1, .e = -1};
    emit(P); /* falling off the end returns */
    resolve_labels(P);
    mark_unused(P, first_ref);
    allocate_registers(P, f, first_insn, first_ref, first_vreg);
    P->fn = NULL;
    P->scope = P->scope->up;
}

static void parse_module(parser *P)
{
    token_next(P);
    while (P->tk) {
        if (token_word(P, ".version") || token_word(P, ".address_size"))
            token_next(P);
        else if (token_word(P, ".target")) {
            if (strncmp(P->tok, "sm_", 3) == 0)
                P->m->target_sm = sim_whole(P->tok + 3);
            do
                token_next(P);
            while (token_accept(P, ','));
        } else if (token_word(P, ".file")) {
            int id = sim_whole(P->tok);
            token_next(P);
            while (P->m->nfiles <= id) {
                P->m->files = reallocarray(P->m->files, (size_t)(P->m->nfiles + 1), sizeof(char *));
                P->m->files[P->m->nfiles++] = NULL;
            }
            if (!P->m->files[id])
                P->m->files[id] = strdup(P->tok);
            token_next(P);
            while (token_accept(P, ','))
                token_next(P);
        } else if (token_word(P, ".section"))
            token_skip(P, '}');
        else if (token_word(P, ".pragma"))
            token_skip(P, ';');
        else if (token_word(P, ".visible") || token_word(P, ".weak") || token_word(P, ".common")) {
        } else if (token_word(P, ".extern")) {
            if (token_word(P, ".shared"))
                parse_variable(P, SP_SHARED, true);
        } else if (token_word(P, ".entry"))
            parse_function(P, true);
        else if (token_word(P, ".func"))
            parse_function(P, false);
        else if (token_word(P, ".global"))
            parse_variable(P, SP_GLOBAL, false);
        else if (token_word(P, ".const"))
            parse_variable(P, SP_CONST, false);
        else if (token_word(P, ".shared"))
            parse_variable(P, SP_SHARED, false);
        else if (token_accept(P, ';') || token_accept(P, '}')) {
        } else
            parse_fail(P, "unexpected '%s'", P->tok);
    }
}

/* Of each kernel that has products of warpgroups: who else touches their sums */
static void watch_sums(parser *P, const row_reference *all)
{
    module *m = P->m;
    for (int i = 0; i < m->nfuncs; i++) {
        function *f = m->funcs[i];
        int first = 0, end = P->ncode;
        if (!f->wgmma)
            continue;
        for (int k = 0; k < m->nfuncs; k++)
            if (m->funcs[k]->defined && m->funcs[k]->ncode > f->ncode && m->funcs[k]->ncode < end)
                end = m->funcs[k]->ncode;
        while (first < P->nrefs && all[first].insn < f->ncode)
            first++;
        int n = first;
        while (n < P->nrefs && all[n].insn < end)
            n++;
        wgmma_find(f, P->code, n - first, all + first);
    }
}

/* Callees share one range of the register file; every kernel's rows follow it. */
static void link_module(parser *P)
{
    module *m = P->m;
    uint32_t end = 0;
    m->callee_npred = P->npred;
    m->callee_local_end = P->local_end + 16;
    for (int i = 0; i < m->nfuncs; i++) {
        function *f = m->funcs[i];
        if (f->entry || !f->defined)
            continue;
        f->reg_base = end;
        end += f->reg_end;
        f->reg_end = end;
    }
    m->callee_reg_end = end;
    for (int i = 0; i < m->nfuncs; i++) {
        function *f = m->funcs[i];
        if (f->entry) {
            f->reg_base = end;
            f->reg_end += end;
        }
        f->return_slot += (int32_t)f->reg_base;
        f->code = P->code;
        for (int k = 0; k < f->npresets; k++)
            f->presets[k].offset += f->reg_base;
    }
    row_reference *all = calloc((size_t)P->nrefs + 1, sizeof *all);
    for (int i = 0; i < P->nrefs; i++) { /* from virtual registers to rows */
        operand_reference *r = &P->refs[i];
        instruction *in = &P->code[r->insn];
        function *f = NULL;
        for (int k = 0; k < m->nfuncs; k++)
            if (m->funcs[k]->defined && r->insn >= m->funcs[k]->ncode && (!f || m->funcs[k]->ncode > f->ncode))
                f = m->funcs[k];
        int32_t at = (int32_t)f->reg_base + P->vregs[r->vreg].slot;
        if (r->list >= 0)
            in->list[r->list] = at;
        else
            memcpy((char *)in + r->offset, &at, 4);
        all[i] = (row_reference){r->insn, (uint32_t)at, r->def};
    }
    watch_sums(P, all);
    free(all);
    for (int i = 0; i < P->ncode; i++)
        if (P->code[i].kind == K_CALL && !m->funcs[P->code[i].target]->defined)
            parse_fail(P, "function %s is not defined", m->funcs[P->code[i].target]->name);
}

module *ptx_load(const char *text, char *log, size_t log_size)
{
    parser *P = calloc(1, sizeof *P);
    module *m = P->m = calloc(1, sizeof *m);
    P->text = P->p = text;
    P->line = 1;
    P->log = log;
    P->log_size = log_size;
    P->npred = 1;      /* predicate 0 is "true" */
    P->local_end = 16; /* local address 0 stays invalid */
    volatile bool ok = false;
    if (setjmp(P->fail) == 0) {
        parse_module(P);
        link_module(P);
        ok = true;
    }
    m->globals = P->globals;
    for (scope *s = P->scopes; s;) {
        scope *up = s->all;
        for (symbol *y = s->syms; y;) {
            symbol *nx = y->next;
            free(y->name);
            free(y);
            y = nx;
        }
        free(s);
        s = up;
    }
    free(P->vregs);
    free(P->refs);
    free(P->consts);
    free(P->labels);
    free(P->fixups);
    m->nglobals = P->ncode; /* number of instructions, for ptx_free */
    for (int i = 0; i < m->nfuncs && !ok; i++)
        m->funcs[i]->code = P->code;
    if (m->nfuncs == 0)
        free(P->code);
    free(P);
    if (!ok) {
        ptx_free(m);
        return NULL;
    }
    return m;
}

void ptx_free(module *m)
{
    if (!m)
        return;
    if (m->nfuncs) {
        instruction *code = m->funcs[0]->code;
        for (int i = 0; code && i < m->nglobals; i++)
            free(code[i].list);
        free(code);
    }
    for (int i = 0; i < m->nfuncs; i++) {
        function *f = m->funcs[i];
        for (int t = 0; t < f->ntables; t++)
            free(f->tables[t]);
        for (int t = 0; t < f->nshared; t++)
            free(f->shared[t].name);
        free(f->tables);
        free(f->table_length);
        free(f->presets);
        free(f->watch);
        free(f->shared);
        free(f->parameters);
        free(f->name);
        free(f);
    }
    for (symbol *s = m->globals; s;) {
        symbol *nx = s->next;
        if (s->space != SP_SHARED && s->address)
            mem_free(s->address);
        free(s->name);
        free(s);
        s = nx;
    }
    for (int i = 0; i < m->nfiles; i++)
        free(m->files[i]);
    free(m->files);
    free(m->funcs);
    free(m);
}

function *ptx_find(module *m, const char *name)
{
    function *f = find_func(m, name);
    return f && f->entry && f->defined ? f : NULL;
}

bool ptx_global(module *m, const char *name, uint64_t *addr, uint64_t *size)
{
    for (symbol *s = m->globals; s; s = s->next)
        if (s->space != SP_SHARED && strcmp(s->name, name) == 0) {
            *addr = s->address;
            *size = s->size;
            return true;
        }
    return false;
}
