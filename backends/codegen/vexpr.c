/* vexpr.c - expressions over vectors: what a loop over lanes computes for several neighbours at once. Each part of an
 * expression is the same for all of them, and then written as for one and put into each element; or it differs, and is
 * a vector: a load of neighbours, an operation of the vectors of its arguments, a function that the library has for
 * vectors. What is none of these is computed for one element after another. Truth is a mask: -1 or 0, in whole numbers
 * of 4 bytes. */
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

/* ---- what differs from element to element ---- */
static bool varies(const emitter *m, const expr *x)
{
    const int axis = m->tile.vectors.axis;
    bool any = false;
    switch (x->kind) {
    case X_LIT:
    case X_SIZE: return false;
    case X_AXIS: return x->axis == axis;
    case X_STATE: return true;
    case X_FOLD:
    case X_SCAN: return !(m->s->folds >> axis & 1);
    default: break;
    }
    for (int i = 0; i < x->n && !any; i++)
        any = varies(m, x->arg[i]);
    return any;
}

static bool by_data(const expr *x) /* some load is from where data say, which is tested */
{
    bool any = x_checks(x);
    for (int i = 0; i < x->n && !any; i++)
        any = (x->kind == X_LOAD && x_count(x->arg[i], X_LOAD) > 0) || by_data(x->arg[i]);
    return any;
}

static bool on_place(const expr *x) /* it mentions an axis, not only elements, or what was summed up */
{
    bool any = x->kind == X_AXIS;
    for (int i = 0; i < x->n && x->kind != X_LOAD && !x_folds(x) && !any; i++)
        any = on_place(x->arg[i]);
    return any;
}

/* What a condition guards may be computed where it does not hold. Within the bound of an extent all lies in memory. */
static bool harmless(const emitter *m, const expr *condition, const expr *x)
{
    const bool bound = m->tile.there && x_same(condition, m->tile.there);
    return !by_data(x) && (bound || !on_place(condition) || x_count(x, X_LOAD) == 0);
}

/* ---- choices by place ---- */
static const affine *place_of(emitter *m, const expr *x)
{
    return affine_of(&m->sp, x, m->tile.made ? m->tile.plain : m->here.axis);
}

static bool moves_evenly(emitter *m, const expr *place) /* by the same number from element to element */
{
    const int axis = m->tile.vectors.axis, own[] = {var_add(&m->sp, "", 0, m->tile.vectors.n - 1), axis};
    const affine *along = affine_var(&m->sp, own[0]);
    const position was = vector_go(m, axis, along, 1);
    const affine *at = place_of(m, place);
    vector_back(m, axis, was);
    const bool even = !affine_uses(affine_add(&m->sp, at, along, -affine_coef(at, own[0])), vector_moves, (void *)own);
    m->sp.n--;
    return even;
}

/* Comparisons of places, all of which are to hold: where one does not at either end of a vector, it does nowhere; where
 * all do at both ends, they do everywhere. */
static bool by_ends(emitter *m, const expr *c)
{
    if (x_is_call(c, "and"))
        return by_ends(m, c->arg[0]) && by_ends(m, c->arg[1]);
    return (x_is_call(c, "lt") || x_is_call(c, "le")) && dtype_class(c->arg[0]->dtype) != D_REAL &&
           !x_count(c, X_LOAD) && moves_evenly(m, c->arg[0]) && moves_evenly(m, c->arg[1]);
}

/* One of both is computed for all elements of most vectors. */
static bool takes_sides(emitter *m, const expr *x)
{
    const expr *c = x->arg[0];
    return varies(m, c) && !(harmless(m, c, x->arg[1]) && harmless(m, c, x->arg[2])) && by_ends(m, c);
}

static bool in_bits(const emitter *m, const expr *x, int bits) /* a shift by it leaves something */
{
    int64_t low, high;
    emitter *at = (emitter *)m;
    if (x_count(x, X_LOAD))
        return false;
    affine_range(&at->sp, place_of(at, x_uncast(x)), &low, &high);
    return low >= 0 && high < bits;
}

static const form *form_of(const emitter *m, const expr *x)
{
    const bool truth = x->arg[0]->dtype == TS_BOOL;
    const form *all = truth ? truths : forms;
    element e;
    for (int i = 0; i < (truth ? COUNT(truths) : COUNT(forms)); i++) {
        const bool real = dtype_class(x->arg[0]->dtype) == D_REAL;
        if (!strcmp(all[i].fn, x->fn->name) && (real ? all[i].real : all[i].whole) != NULL)
            return vector_kind(m, x->arg[0]->dtype, &e) &&
                           (strcmp(all[i].fn, "shr") || in_bits(m, x->arg[1], 8 * element_bytes(e)))
                       ? &all[i]
                       : NULL;
    }
    return NULL;
}

/* The library's function for vectors that stands for call x: bytes of its name; 0: there is none */
static size_t library_name(const emitter *m, const expr *x, const char **name)
{
    const writer w = emit_writer((emitter *)m);
    if (dtype_class(x->dtype) != D_REAL || x->fn->result != R_SAME)
        return 0;
    *name = cstyle_spelled(&w, x);
    const size_t n = strcspn(*name, "(");
    return (*name)[n] && callees_have(m->d, *name, n, (instance){E_F32, m->tile.vectors.n}) ? n : 0;
}

static bool loads(emitter *m, const expr *x)
{
    const int load = emit_number(m, x);
    const dtype d = source_dtype(m, load);
    const char *wrap = cstyle_load(m->mem, m->d, NULL, d);
    element e;
    return vector_kind(m, d, &e) &&
           (*wrap == '$' || callees_have(m->d, wrap, strcspn(wrap, "("), (instance){E_F32, m->tile.vectors.n})) &&
           (m->tile.turned.of[load] || vector_runs(m, load, m->tile.vectors.axis, m->tile.vectors.count));
}

/* Whether x is a vector of what its arguments are. */
static bool direct(emitter *m, const expr *x)
{
    const char *name;
    element e;
    switch (x->kind) {
    case X_LOAD: return loads(m, x);
    case X_AXIS:
    case X_STATE:
    case X_FOLD:
    case X_SCAN: return true;
    case X_CAST: return vector_casts(m, x->dtype, x->arg[0]->dtype);
    case X_CALL:
        if (x_is_choice(x))
            return vector_kind(m, x->dtype, &e) &&
                   (!varies(m, x->arg[0]) || takes_sides(m, x) ||
                    (harmless(m, x->arg[0], x->arg[1]) && harmless(m, x->arg[0], x->arg[2])));
        if (x->fn->result == R_BOOL && x->fn->real == NULL && x->n > 1 && !harmless(m, x->arg[0], x->arg[1]))
            return false;
        return form_of(m, x) || library_name(m, x, &name);
    default: return false;
    }
}

static bool only_moves(const expr *x) /* elements, whichever */
{
    x = x_uncast(x);
    return x->kind == X_LOAD || x->kind == X_LIT || (x_is_choice(x) && only_moves(x->arg[1]) && only_moves(x->arg[2]));
}

bool vector_gains(emitter *m, const expr *x, bool runs)
{
    const expr *bare = x_uncast(x);
    if (!varies(m, x))
        return runs;
    return direct(m, x) && (!only_moves(x) || !varies(m, bare) || (direct(m, bare) && runs));
}

/* ---- writing ---- */
typedef struct vwriter {
    emitter *m;
    const char *states, *state; /* before and behind the number of a state */
    int n;
    struct {
        const expr *x;
        int uses;
        const cexpr *name;
    } known[96];
} vwriter;

static const cexpr *write(vwriter *w, const expr *x);

static const cexpr *uniform(vwriter *w, const expr *x) /* of all elements the same */
{
    emitter *m = w->m;
    writer one = emit_writer(m);
    return vector_splat(m, vector_kind_of(m, x->dtype),
                        cexpr_one(m->mem, x->dtype == TS_BOOL ? "-($0)" : "$0", cstyle_expr(&one, x)));
}

const char *vector_each_open(emitter *m)
{
    vector_loop *v = &m->tile.vectors;
    const int n_var = m->sp.n;
    const char *each = arena_format(m->mem, "each%d", v->names++);
    emit_written_out(m, each, v->count);
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
static void put_each(vwriter *w, const expr *x, const char *name)
{
    emitter *m = w->m;
    const stage_state was = m->stage;
    const char *each = vector_each_open(m);
    m->stage.states = w->states, m->stage.state = arena_format(m->mem, "%s[%s]", w->state, each);
    writer one = emit_writer(m);
    cstyle_temporaries(&one, &m->out.code, x);
    code_store(&m->out.code, cexpr_element(m->mem, name, cexpr_word(m->mem, each), IN_REGISTERS),
               cexpr_one(m->mem, x->dtype == TS_BOOL ? "-($0)" : "$0", cstyle_expr(&one, x)));
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

static const cexpr *apart(vwriter *w, const expr *x)
{
    emitter *m = w->m;
    const char *name = name_elements(m, vector_kind_of(m, x->dtype));
    put_each(w, x, name);
    return cexpr_word(m->mem, name);
}

static element natural(element e)
{
    const int bytes = element_bytes(e);
    return bytes == 8 ? E_U64 : bytes == 4 ? E_U32 : bytes == 2 ? E_U16 : E_U8;
}

static const cexpr *form_term(emitter *m, element e, const form *f, bool real, const cexpr *const *arg)
{
    const instance of = {e, m->tile.vectors.n};
    text t = {0};
    int n = 0;
    for (const char *s = real ? f->real : f->whole; *s; s++)
        if (*s == '#')
            text_add(&t, "%s", vector_type(m, *++s == 'T' ? e : *s == 'M' ? element_mask(e) : natural(e)));
        else if (*s == '~' && s[1] >= 'a' && s[1] <= 'z') {
            const char *does = arena_format(m->mem, "%.*s", (int)strcspn(s + 1, "("), s + 1);
            callees_lanes(m->out.uses, m->d, does, of);
            text_add(&t, "%sx%d_%s", element_name(e), of.n, does);
            s += strlen(does);
        } else {
            text_bytes(&t, s, 1);
            n = *s == '$' ? (int)int_max(n, s[1] - '0' + 1) : n;
        }
    return cexpr_lanes(m->mem, f->fn, of, code_keep(&m->out.code, &t), n, arg);
}

static const char *written(const form *f, dtype d)
{
    return dtype_class(d) == D_REAL ? f->real : f->whole;
}

static const cexpr *by_form(vwriter *w, const expr *x, const form *f)
{
    emitter *m = w->m;
    const dtype d = x->arg[0]->dtype;
    const element e = vector_kind_of(m, d);
    const cexpr *arg[MAX_ARG] = {NULL};
    for (int i = 0; i < x->n; i++)
        arg[i] = write(w, x->arg[i]);
    const cexpr *all = form_term(m, e, f, dtype_class(d) == D_REAL, arg);
    return x->dtype == TS_BOOL && d != TS_BOOL ? vector_of(m, E_I32, element_mask(e), all) : all;
}

/* Whether comparison c holds, or not, at both ends of the vector */
static const cexpr *at_ends(emitter *m, const expr *c, const char *both)
{
    const vector_loop *v = &m->tile.vectors;
    writer one = emit_writer(m);
    const cexpr *first = cstyle_expr(&one, c);
    const position was = vector_go(m, v->axis, affine_const(&m->sp, v->count - 1), 1);
    const cexpr *last = cstyle_expr(&one, c);
    vector_back(m, v->axis, was);
    return cexpr_two(m->mem, both, first, last);
}

static const cexpr *all_hold(emitter *m, const expr *c)
{
    return x_is_call(c, "and") ? cexpr_two(m->mem, "($0 && $1)", all_hold(m, c->arg[0]), all_hold(m, c->arg[1]))
                               : at_ends(m, c, "($0 && $1)");
}

static const cexpr *none_holds(emitter *m, const expr *c)
{
    return x_is_call(c, "and") ? cexpr_two(m->mem, "($0 || $1)", none_holds(m, c->arg[0]), none_holds(m, c->arg[1]))
                               : at_ends(m, c, "(!$0 && !$1)");
}

static void store_branch(vwriter *w, const char *name, const expr *x)
{
    const vwriter was = *w; /* what is named in a branch is not there behind it */
    code_store(&w->m->out.code, cexpr_word(w->m->mem, name), write(w, x));
    *w = was;
}

/* Opens the test; what follows is done where it does not hold. */
static void branch(vwriter *w, const cexpr *test, const char *name, const expr *x)
{
    emitter *m = w->m;
    stmt *at = code_open(&m->out.code, (stmt){.kind = S_IF, .value = test});
    store_branch(w, name, x);
    code_close(&m->out.code);
    code_else(&m->out.code, at);
}

static const cexpr *choice(vwriter *w, const expr *x)
{
    emitter *m = w->m;
    const element e = vector_kind_of(m, x->dtype);
    const expr *c = x->arg[0];
    const bool sides = takes_sides(m, x);
    if (varies(m, c) && !sides) {
        const cexpr *mask = vector_of(m, element_mask(e), E_I32, write(w, c)), *a = write(w, x->arg[1]);
        return vector_call(m, e, "blend", "($0, $1, $2)", (const cexpr *const[]){mask, a, write(w, x->arg[2])});
    }
    if (sides) {
        const char *name = name_elements(m, e);
        branch(w, all_hold(m, c), name, x->arg[1]);
        branch(w, none_holds(m, c), name, x->arg[2]);
        put_each(w, x, name);
        code_close(&m->out.code), code_close(&m->out.code);
        return cexpr_word(m->mem, name);
    }
    writer one = emit_writer(m);
    const cexpr *test = cstyle_expr(&one, c);
    const char *name = name_elements(m, e);
    branch(w, test, name, x->arg[1]);
    store_branch(w, name, x->arg[2]);
    code_close(&m->out.code);
    return cexpr_word(m->mem, name);
}

static const cexpr *call(vwriter *w, const expr *x)
{
    emitter *m = w->m;
    const form *f = form_of(m, x);
    const char *name;
    const cexpr *arg[MAX_ARG] = {NULL};
    if (x_is_choice(x))
        return choice(w, x);
    if (f)
        return by_form(w, x, f);
    library_name(m, x, &name);
    for (int i = 0; i < x->n; i++)
        arg[i] = write(w, x->arg[i]);
    return vector_function(m, name, x->n, arg);
}

static const cexpr *place(vwriter *w, const expr *x) /* the loop's own number, in each element */
{
    emitter *m = w->m;
    const affine *at = place_of(m, x);
    if (m->tile.made)
        emit_passed(m, at);
    return vector_one(m, vector_kind_of(m, x->dtype), "count", emit_index(m, at));
}

static const cexpr *write_new(vwriter *w, const expr *x)
{
    emitter *m = w->m;
    if (!direct(m, x))
        return apart(w, x);
    switch (x->kind) {
    case X_AXIS: return place(w, x);
    case X_CAST: return vector_cast(m, x->dtype, x->arg[0], write(w, x->arg[0]));
    case X_CALL: return call(w, x);
    case X_FOLD: return value_acc(m, NULL);
    case X_SCAN: return cexpr_word(m->mem, "folded");
    case X_STATE: return cexpr_word(m->mem, arena_format(m->mem, "%s%d%s", w->states, x->axis, w->state));
    default: {
        const int load = emit_number(m, x);
        const cexpr *turned = turn_element(m, load);
        return turned ? turned : vector_read(m, source_dtype(m, load), emit_element(m, load));
    }
    }
}

static int known(const vwriter *w, const expr *x)
{
    int i = 0;
    while (i < w->n && w->known[i].x != x)
        i++;
    return i;
}

static const cexpr *write(vwriter *w, const expr *x)
{
    emitter *m = w->m;
    const int i = known(w, x);
    if (i < w->n && w->known[i].name)
        return w->known[i].name;
    if (!varies(m, x))
        return uniform(w, x);
    const cexpr *all = write_new(w, x);
    if (i == w->n || w->known[i].uses < 2 || x->kind == X_STATE || x_folds(x))
        return all;
    return w->known[i].name = vector_name(m, vector_kind_of(m, x->dtype), all);
}

/* How often each part is asked for, outside of branches */
static void count(vwriter *w, const expr *x)
{
    const int i = known(w, x);
    if (!varies(w->m, x))
        return;
    if (i < w->n) {
        w->known[i].uses++;
        return;
    }
    if (w->n < COUNT(w->known))
        w->known[w->n].x = x, w->known[w->n].name = NULL, w->known[w->n++].uses = 1;
    const bool branches = x_is_choice(x) && (!varies(w->m, x->arg[0]) || takes_sides(w->m, x));
    for (int k = 0; x->kind != X_LOAD && !x_folds(x) && !branches && k < x->n && direct(w->m, x); k++)
        count(w, x->arg[k]);
    if (x->kind == X_CALL && !x_is_choice(x)) { /* forms that say an argument twice */
        const form *f = form_of(w->m, x);
        const char *all = f ? written(f, x->arg[0]->dtype) : "";
        for (int k = 0, n = 0; k < x->n; k++, n = 0) {
            for (const char *s = all; *s; s++)
                n += *s == '$' && s[1] == '0' + k;
            const int j = known(w, x->arg[k]);
            if (n > 1 && j < w->n)
                w->known[j].uses++;
        }
    }
}

const cexpr *vector_over(emitter *m, const expr *x, const char *states, const char *state)
{
    vwriter w = {.m = m, .states = states, .state = state};
    count(&w, x);
    return write(&w, x);
}

const cexpr *vector_value(emitter *m, const expr *x)
{
    return vector_over(m, x, "s", "");
}

static const form *combining(const emitter *m, const fn *f, dtype d)
{
    const expr arg = {.kind = X_STATE, .dtype = d}, *const args[] = {&arg, &arg};
    const expr x = {.kind = X_CALL, .dtype = d, .fn = f, .n = 2, .arg = args};
    return f->arity == 2 && (f->result == R_SAME || d == TS_BOOL) ? form_of(m, &x) : NULL;
}

bool vector_combines(const emitter *m, const fn *f, dtype d)
{
    return combining(m, f, d) != NULL;
}

const cexpr *vector_combine(emitter *m, const cexpr *a, const cexpr *b)
{
    const dtype d = m->stage.fold->dtype;
    return form_term(m, vector_kind_of(m, d), combining(m, m->stage.fold->fn, d), dtype_class(d) == D_REAL,
                     (const cexpr *const[]){a, b});
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
