/* vexpr.c - values of vectors: what a loop over lanes computes for several neighbours at once, each part in the shape
 * that the pass says (shapes.c). Truth is a mask: -1 or 0, in whole numbers of 4 bytes. */
#include "backends/codegen/vectors.h"

#include <string.h>

typedef struct form { /* of a function: ~ is what the element's operations begin with, #T, #U, #M types */
    const char *fn, *real, *whole;
} form;
static const form forms[] = {
    {"add", "($0 + $1)", "(#T)((#U)$0 + (#U)$1)"},
    {"sub", "($0 - $1)", "(#T)((#U)$0 - (#U)$1)"},
    {"mul", "($0 * $1)", "(#T)((#U)$0 * (#U)$1)"},
    {"div", "($0 / $1)", NULL},
    {"fma", "~fma($0, $1, $2)", NULL},
    {"neg", "(-$0)", "(#T)(-(#U)$0)"},
    {"abs", "~abs($0)", NULL},
    {"max", "~max($0, $1)", "~blend((#M)($0 > $1), $0, $1)"},
    {"min", "~min($0, $1)", "~blend((#M)($0 < $1), $0, $1)"},
    {"above", "~above($0, $1)", NULL},
    {"near", "(($0 + ~splat(12582912.0f)) - $1)", NULL},
    {"sqrt", "~sqrt($0)", NULL},
    {"floor", "~floor($0)", "$0"},
    {"ceil", "~ceil($0)", "$0"},
    {"round", "~rint($0)", "$0"},
    {"trunc", "~trunc($0)", "$0"},
    {"stop", "$0", "$0"},
    {"isnan", "(#M)($0 != $0)", NULL},
    {"lt", "(#M)($0 < $1)", "(#M)($0 < $1)"},
    {"le", "(#M)($0 <= $1)", "(#M)($0 <= $1)"},
    {"eq", "(#M)($0 == $1)", "(#M)($0 == $1)"},
    {"ne", "(#M)($0 != $1)", "(#M)($0 != $1)"},
    {"bitand", NULL, "($0 & $1)"},
    {"bitor", NULL, "($0 | $1)"},
    {"bitxor", NULL, "($0 ^ $1)"},
    {"bitnot", NULL, "(~$0)"},
    {"shr", NULL, "($0 >> $1)"},
};
static const form truths[] = {
    /* of masks */
    {"and", NULL, "($0 & $1)"}, {"or", NULL, "($0 | $1)"},    {"not", NULL, "(~$0)"},
    {"ne", NULL, "($0 ^ $1)"},  {"eq", NULL, "(~($0 ^ $1))"}, {"stop", NULL, "$0"},
};

/* ---- elements ---- */
bool vector_kind(const emitter *m, dtype d, element *e)
{
    static const element whole[2][4] = {{E_U8, E_U16, E_U32, E_U64}, {E_I8, E_I16, E_I32, E_I64}};
    const int bytes = ts_dtype_bytes(d);
    if (d == TS_BOOL)
        *e = E_I32;
    else if (dtype_class(d) == D_REAL)
        *e = d == TS_F64 || m->p->reference ? E_F64 : E_F32;
    else if (dtype_small(d))
        return false;
    else
        *e = whole[dtype_signed(d)][bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
    return true;
}

element vector_kind_of(const emitter *m, dtype d)
{
    element e = E_F32;
    MUST(vector_kind(m, d, &e));
    return e;
}

int64_t vector_bytes(const emitter *m, element e)
{
    return (int64_t)element_bytes(e) * m->tile.vectors.n;
}

const char *vector_type(emitter *m, element e)
{
    callees_lanes(m->out.uses, m->d, "type", (instance){e, m->tile.vectors.n});
    return arena_format(m->mem, "%sx%d", element_name(e), m->tile.vectors.n);
}

const cexpr *vector_call(emitter *m, element e, const char *does, const char *args, const cexpr *const *arg)
{
    const instance of = {e, m->tile.vectors.n};
    int n = 0;
    for (const char *s = args; *s; s++)
        n += *s == '$';
    callees_lanes(m->out.uses, m->d, does, of);
    return cexpr_lanes(m->mem, does, of, arena_format(m->mem, "%sx%d_%s%s", element_name(e), of.n, does, args), n, arg);
}

const cexpr *vector_one(emitter *m, element e, const char *does, const cexpr *a)
{
    return vector_call(m, e, does, "($0)", &a);
}

const cexpr *vector_splat(emitter *m, element e, const cexpr *a)
{
    return vector_one(m, e, "splat", a);
}

const cexpr *vector_load(emitter *m, element e, const cexpr *place)
{
    return vector_call(m, e, "load", "(&$0)", &place);
}

void vector_store(emitter *m, element e, const cexpr *place, const cexpr *value)
{
    code_call(&m->out.code, vector_call(m, e, "store", "(&$0, $1)", (const cexpr *const[]){place, value}));
}

/* Elements of another kind, by conversion */
const cexpr *vector_of(emitter *m, element to, element from, const cexpr *x)
{
    return to == from ? x : vector_one(m, to, "of", x);
}

const cexpr *vector_name(emitter *m, element e, const cexpr *value)
{
    const char *name = arena_format(m->mem, "v%d", m->tile.vectors.names++);
    code_let(&m->out.code, arena_format(m->mem, "const %s", vector_type(m, e)), name, value)->bytes = vector_bytes(m,
                                                                                                                   e);
    return cexpr_word(m->mem, name);
}

/* A function of the library, called as it is for vectors: "exp_x8($0)" for "exp(" or "exp($0)"; noted */
const cexpr *vector_function(emitter *m, const char *spelled, int n, const cexpr *const *arg)
{
    const instance of = {E_F32, m->tile.vectors.n};
    const char *name = arena_format(m->mem, "%.*s", (int)strcspn(spelled, "("), spelled);
    callees_lanes(m->out.uses, m->d, name, of);
    return cexpr_lanes(m->mem, name, of, arena_format(m->mem, n > 1 ? "%s_x%d($0, $1)" : "%s_x%d($0)", name, of.n), n,
                       arg);
}

/* ---- operations ---- */
const affine *vector_place(emitter *m, const expr *x)
{
    return affine_of(&m->sp, x, m->tile.made ? m->tile.plain : m->here.axis);
}

static bool in_bits(emitter *m, const expr *x, int bits) /* a shift by it leaves something */
{
    int64_t low, high;
    if (x_count(x, X_LOAD))
        return false;
    affine_range(&m->sp, vector_place(m, x_uncast(x)), &low, &high);
    return low >= 0 && high < bits;
}

const char *vector_form(emitter *m, const expr *x)
{
    const dtype d = x->arg[0]->dtype;
    const bool real = dtype_class(d) == D_REAL;
    const form *all = d == TS_BOOL ? truths : forms;
    element e;
    for (int i = 0; i < (d == TS_BOOL ? COUNT(truths) : COUNT(forms)); i++) {
        const char *own = real ? all[i].real : all[i].whole;
        if (!own || strcmp(all[i].fn, x->fn->name))
            continue;
        const bool fits = vector_kind(m, d, &e) &&
                          (!x_is_call(x, "shr") || in_bits(m, x->arg[1], 8 * element_bytes(e)));
        return fits ? own : NULL;
    }
    return NULL;
}

const char *vector_library(emitter *m, const expr *x)
{
    const writer w = emit_writer(m);
    if (dtype_class(x->dtype) != D_REAL || x->fn->result != R_SAME)
        return NULL;
    const char *name = cstyle_spelled(&w, x);
    const size_t n = strcspn(name, "(");
    return name[n] && callees_have(m->d, name, n, (instance){E_F32, m->tile.vectors.n}) ? name : NULL;
}

/* ---- writing ---- */
static const cexpr *uniform(emitter *m, const expr *x) /* of all elements the same */
{
    writer one = emit_writer(m);
    return vector_splat(m, vector_kind_of(m, x->dtype),
                        cexpr_one(m->mem, x->dtype == TS_BOOL ? "-($0)" : "$0", cstyle_expr(&one, x)));
}

const char *vector_each_open(emitter *m)
{
    vector_loop *v = &m->tile.vectors;
    const int n_var = m->sp.n;
    const char *each = arena_format(m->mem, "each%d", v->names++);
    emit_written_out(m, each, v->count)->elements = true;
    v->at = vector_go(m, v->axis, affine_var(&m->sp, var_add(&m->sp, each, 0, v->count - 1)), 1), v->n_var = n_var;
    return v->each = each;
}

void vector_each_close(emitter *m)
{
    vector_loop *v = &m->tile.vectors;
    code_close(&m->out.code);
    vector_back(m, v->axis, v->at);
    m->sp.n = v->n_var, v->each = NULL;
}

/* One element after the other, by the text of one */
static void put_each(writer *w, const expr *x, const char *name)
{
    emitter *m = w->user;
    const stage_state was = m->stage;
    const char *each = vector_each_open(m);
    m->stage.states = w->states, m->stage.state = index_add(m->mem, w->state, cexpr_word(m->mem, each));
    writer one = emit_writer(m);
    const cexpr *value = value_shaped(m, &one, x);
    code_store(&m->out.code, cexpr_element(m->mem, name, cexpr_word(m->mem, each), IN_REGISTERS),
               cexpr_one(m->mem, x->dtype == TS_BOOL ? "-($0)" : "$0", value));
    vector_each_close(m);
    m->stage.states = was.states, m->stage.state = was.state;
}

/* To be stored to: zeros until then, as compilers do not see that all elements are. */
static const char *name_elements(emitter *m, element e)
{
    const char *name = arena_format(m->mem, "e%d", m->tile.vectors.names++);
    code_let(&m->out.code, vector_type(m, e), name, vector_splat(m, e, cexpr_word(m->mem, "0")))->bytes = vector_bytes(
        m, e);
    return name;
}

static const cexpr *apart(writer *w, const expr *x)
{
    emitter *m = w->user;
    const char *name = name_elements(m, vector_kind_of(m, x->dtype));
    put_each(w, x, name);
    return cexpr_word(m->mem, name);
}

static element natural(element e)
{
    const int bytes = element_bytes(e);
    return bytes == 8 ? E_U64 : bytes == 4 ? E_U32 : bytes == 2 ? E_U16 : E_U8;
}

/* The form of a function of vectors, as tables have it */
static const cexpr *form_term(emitter *m, element e, const char *does, const char *as, const cexpr *const *arg)
{
    const instance of = {e, m->tile.vectors.n};
    text t = {0};
    int n = 0;
    for (const char *s = as; *s; s++)
        if (*s == '#')
            text_add(&t, "%s", vector_type(m, *++s == 'T' ? e : *s == 'M' ? element_mask(e) : natural(e)));
        else if (*s == '~' && s[1] >= 'a' && s[1] <= 'z') {
            const char *called = arena_format(m->mem, "%.*s", (int)strcspn(s + 1, "("), s + 1);
            callees_lanes(m->out.uses, m->d, called, of);
            text_add(&t, "%sx%d_%s", element_name(e), of.n, called);
            s += strlen(called);
        } else {
            text_bytes(&t, s, 1);
            n = *s == '$' ? (int)int_max(n, s[1] - '0' + 1) : n;
        }
    return cexpr_lanes(m->mem, does, of, code_keep(&m->out.code, &t), n, arg);
}

static const cexpr *const *arguments_of(writer *w, const expr *x)
{
    const cexpr **arg = arena_array(w->mem, MAX_ARG, sizeof *arg);
    for (int i = 0; i < x->n; i++)
        arg[i] = vector_expr(w, x->arg[i]);
    return arg;
}

static const cexpr *operation(writer *w, const expr *x)
{
    emitter *m = w->user;
    const dtype d = x->arg[0]->dtype;
    const element e = vector_kind_of(m, d);
    const cexpr *all = form_term(m, e, x->fn->name, vector_form(m, x), arguments_of(w, x));
    return x->dtype == TS_BOOL && d != TS_BOOL ? vector_of(m, E_I32, element_mask(e), all) : all;
}

/* Whether comparison c holds at both ends of the vector; with "!$0", at none */
static const cexpr *at_ends(emitter *m, const expr *c, const char *as)
{
    const vector_loop *v = &m->tile.vectors;
    writer one = emit_writer(m);
    const cexpr *first = cstyle_expr(&one, c);
    const position was = vector_go(m, v->axis, affine_const(&m->sp, v->count - 1), 1);
    const cexpr *last = cstyle_expr(&one, c);
    vector_back(m, v->axis, was);
    return cexpr_both(m->mem, cexpr_one(m->mem, as, first), cexpr_one(m->mem, as, last));
}

/* Whether all comparisons of c hold at both ends; else whether some holds at neither */
static const cexpr *by_ends(emitter *m, const expr *c, bool hold)
{
    if (x_is_call(c, "and"))
        return cexpr_whole(m->mem, hold ? W_BOTH : W_EITHER, by_ends(m, c->arg[0], hold), by_ends(m, c->arg[1], hold));
    return at_ends(m, c, hold ? "$0" : "!$0");
}

static void store_branch(const writer *w, const char *name, const expr *x)
{
    emitter *m = w->user;
    writer own = *w; /* what is named in a branch is not there behind it */
    own.up = w;
    code_store(&m->out.code, cexpr_word(m->mem, name), value_shaped(m, &own, x));
}

/* Opens the test; what follows is done where it does not hold. */
static void branch(writer *w, const cexpr *test, const char *name, const expr *x)
{
    emitter *m = w->user;
    stmt *at = code_open(&m->out.code, (stmt){.kind = S_IF, .value = test});
    store_branch(w, name, x);
    code_close(&m->out.code);
    code_else(&m->out.code, at);
}

static const cexpr *blend(writer *w, const expr *x)
{
    emitter *m = w->user;
    const element e = vector_kind_of(m, x->dtype);
    const cexpr *mask = vector_of(m, element_mask(e), E_I32, vector_expr(w, x->arg[0])), *a = vector_expr(w, x->arg[1]);
    return vector_call(m, e, "blend", "($0, $1, $2)", (const cexpr *const[]){mask, a, vector_expr(w, x->arg[2])});
}

static const cexpr *branches(writer *w, const expr *x)
{
    emitter *m = w->user;
    writer one = emit_writer(m);
    const cexpr *test = cstyle_expr(&one, x->arg[0]);
    const char *name = name_elements(m, vector_kind_of(m, x->dtype));
    branch(w, test, name, x->arg[1]);
    store_branch(w, name, x->arg[2]);
    code_close(&m->out.code);
    return cexpr_word(m->mem, name);
}

static const cexpr *branches_by_ends(writer *w, const expr *x)
{
    emitter *m = w->user;
    const char *name = name_elements(m, vector_kind_of(m, x->dtype));
    branch(w, by_ends(m, x->arg[0], true), name, x->arg[1]);
    branch(w, by_ends(m, x->arg[0], false), name, x->arg[2]);
    put_each(w, x, name);
    code_close(&m->out.code), code_close(&m->out.code);
    return cexpr_word(m->mem, name);
}

static const cexpr *place(emitter *m, const expr *x) /* the loop's own number, in each element */
{
    const affine *at = vector_place(m, x);
    if (m->tile.made)
        emit_passed(m, at);
    return vector_one(m, vector_kind_of(m, x->dtype), "count", emit_index(m, at));
}

static const cexpr *registers(const writer *w, const expr *x)
{
    emitter *m = w->user;
    return x->kind == X_FOLD   ? value_acc(m, NULL)
           : x->kind == X_SCAN ? cexpr_word(m->mem, "folded")
                               : cstyle_state(w, x->axis);
}

static const cexpr *neighbours(emitter *m, const expr *x)
{
    const int load = emit_number(m, x);
    const cexpr *turned = turn_element(m, load);
    return turned ? turned : vector_read(m, source_dtype(m, load), emit_element(m, load));
}

static const cexpr *write(writer *w, const expr *x, shape how)
{
    emitter *m = w->user;
    switch (how) {
    case SPREAD: return uniform(m, x);
    case HELD: return registers(w, x);
    case NEIGHBOURS: return neighbours(m, x);
    case PLACES: return place(m, x);
    case CONVERTED: return vector_cast(m, x->dtype, x->arg[0], vector_expr(w, x->arg[0]));
    case OPERATION: return operation(w, x);
    case FUNCTION: return vector_function(m, vector_library(m, x), x->n, arguments_of(w, x));
    case BLEND: return blend(w, x);
    case BRANCH: return branches(w, x);
    case BRANCH_BY_ENDS: return branches_by_ends(w, x);
    case ONE:
    case APART: break;
    }
    return apart(w, x);
}

const cexpr *vector_expr(writer *w, const expr *x)
{
    emitter *m = w->user;
    value_part *q = cstyle_part(w, x);
    if (q && q->name)
        return q->name;
    const cexpr *all = write(w, x, q ? (shape)q->how : shape_of(m, x));
    if (!q || q->held || q->uses < 2)
        return all;
    return q->name = vector_name(m, vector_kind_of(m, x->dtype), all);
}

/* ---- what a fold combines ---- */
static const char *combining(emitter *m, const fn *f, dtype d)
{
    const expr arg = {.kind = X_STATE, .dtype = d}, *const args[] = {&arg, &arg};
    const expr x = {.kind = X_CALL, .dtype = d, .fn = f, .n = 2, .arg = args};
    return f->arity == 2 && (f->result == R_SAME || d == TS_BOOL) ? vector_form(m, &x) : NULL;
}

bool vector_combines(emitter *m, const fn *f, dtype d)
{
    return combining(m, f, d) != NULL;
}

const cexpr *vector_combine(emitter *m, const cexpr *a, const cexpr *b)
{
    const fn *by = m->stage.fold->fn;
    const dtype d = m->stage.fold->dtype;
    return form_term(m, vector_kind_of(m, d), by->name, combining(m, by, d), (const cexpr *const[]){a, b});
}

const cexpr *vector_down(emitter *m, dtype d, const cexpr *value, const cexpr *by)
{
    return vector_call(m, vector_kind_of(m, d), "down", "($0, $1)", (const cexpr *const[]){value, by});
}

const cexpr *vector_dot(emitter *m, const cexpr *acc)
{
    const dot_form *f = m->p->on->dot;
    int load[2];
    MUST(nest_dots(m->s, f, m->tile.vectors.axis, load));
    const cexpr *a = emit_element(m, load[0]), *b = emit_element(m, load[1]),
                *each = vector_call(m, E_I32, "word", "(&$0)", &a),
                *lanes = vector_call(m, E_I32, f->n == 4 ? "load" : "pairs", "(&$0)", &b);
    return vector_call(m, E_I32, f->n == 4 ? "dot4" : "dot2", "($0, $1, $2)", (const cexpr *const[]){acc, each, lanes});
}
