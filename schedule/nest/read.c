/* read.c - the notation of nests, read: loops are checked one by one, each by what the target says of its role. */
#include "schedule/nest/nest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEP = 1 << 30 };

typedef struct reader {
    const target *on;
    kernel *k;
    stage *s; /* names the axes; NULL only while unknown */
    nest *into;
    bool shared;
    const char *from, *at, *start[MAX_LOOP]; /* start: of each loop */
    int64_t left[MAX_AXIS];
    uint32_t outside;           /* axes of which the loops outside leave nothing, if they may be named all the same */
    const char *once[MAX_LOOP]; /* letters that no axis here has, walked to their end */
    int n_once;
    err *e;
} reader;

static bool refuse(reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(reader *r, const char *fmt, ...)
{
    char what[400];
    va_list v;
    va_start(v, fmt);
    vsnprintf(what, sizeof what, fmt, v);
    va_end(v);
    return err_set(r->e, TS_BAD_INPUT, "loops \"%s\", column %d: %s", r->from, (int)(r->at - r->from) + 1, what);
}

static size_t word(const char *s)
{
    size_t n = 0;
    while (in_word(s[n]))
        n++;
    return n;
}

/* The axes that can be named; of a kernel of several stages also where those that they do not share are. */
static void list_axes(const reader *r, text *out)
{
    const int end = r->shared ? r->s->n_shared : r->s->n_axis;
    text_add(out, r->shared ? "the axes that its stages share are:" : "the axes are:");
    for (int a = 0; a < end; a++)
        text_add(out, " %s", r->s->letter[a]);
    if (!r->shared)
        return;
    text_add(out, "; a stage's own come behind them: \"; %s:", r->s->name);
    for (int a = end; a < r->s->n_axis; a++)
        text_add(out, " %s", r->s->letter[a]);
    text_add(out, "\" (stages:");
    for (int i = 0; i < r->k->n_stage; i++)
        text_add(out, " %s", r->k->stage[i].name);
    text_add(out, ")");
}

enum { NO_AXIS = -1 }; /* walked once */
static bool read_axis(reader *r, int *axis)
{
    const size_t n = word(r->at);
    const int end = r->shared ? r->s->n_shared : r->s->n_axis;
    text have = {0};
    for (*axis = 0; *axis < end; ++*axis)
        if (strlen(r->s->letter[*axis]) == n && !strncmp(r->s->letter[*axis], r->at, n))
            return r->at += n, true;
    for (*axis = 0; *axis < r->s->n_shared; ++*axis)
        if (strlen(r->s->own[*axis]) == n && !strncmp(r->s->own[*axis], r->at, n))
            return r->at += n, true;
    *axis = NO_AXIS;
    if (names_left_out(r->k, r->s, r->at, n))
        return r->at += n, true;
    list_axes(r, &have);
    refuse(r, "no axis \"%.*s\" here; %s", (int)(n ? n : strcspn(r->at, " ")), r->at, text_str(&have));
    text_free(&have);
    return false;
}

static bool read_number(reader *r, int64_t *out)
{
    char *end;
    *out = strtoll(r->at, &end, 10);
    if (!isdigit((unsigned char)*r->at) || *out < 1)
        return refuse(r, "a number of at least 1 expected");
    if (*out > MAX_STEP)
        return refuse(r, "a number of at most %d expected", MAX_STEP);
    return r->at = end, true;
}

static bool read_step(reader *r, int axis, int64_t *out) /* from the slash on */
{
    static const char tile[] = "/tile";
    const size_t n = 1 + word(++r->at);
    if (n != strlen(tile) || strncmp(r->at - 1, tile, n))
        return read_number(r, out);
    if (axis >= 0 && !r->s->tile[axis])
        return refuse(r, "the guess has no register tile here; a number of at least 1 expected");
    *out = axis < 0 ? 1 : r->s->tile[axis];
    return r->at += n - 1, true;
}

static bool read_role(reader *r, const role **out)
{
    const size_t n = word(r->at);
    if ((*out = target_role(r->on, r->at, n)))
        return r->at += n, true;
    text have = {0};
    for (int i = 1; i < r->on->n_role; i++)
        text_add(&have, "%s%s", i > 1 ? ", " : "", r->on->role[i].name);
    refuse(r, "no role \"%.*s\"; the roles are: %s (or none)", (int)n, r->at, text_str(&have));
    text_free(&have);
    return false;
}

const char *nest_no_copy(const kernel *k, const stage *s, int load, bool shared)
{
    const expr *x = s->load[load], *guard = stage_guard(s, load), *all[MAX_LOADS];
    const int n = x_loads(guard ? guard : x, all, MAX_LOADS);
    for (int o = 0; o < k->n_stage; o++)
        if (k->stage[o].node == x->from)
            return "is computed in this kernel: it is in scratch already";
    for (int i = 0; shared && i < n && i < MAX_LOADS; i++)
        for (int o = 0; o < k->n_stage; o++)
            if (k->stage[o].node == all[i]->from)
                return "is read where stages of this kernel say, which have not run when it is copied";
    if (!guard && n > 1 && !expr_reads(s->value, x))
        return "is read where other operands say and on a condition: what that keeps from being read is not copied";
    return NULL;
}

static int stage_named(const kernel *k, const char *name, size_t n) /* -1: there is none */
{
    int i = k->n_stage - 1;
    while (i >= 0 && (strlen(k->stage[i].name) != n || strncmp(k->stage[i].name, name, n)))
        i--;
    return i;
}

/* The spaces that hold several slices, or all that have names: "@l1, @l2" */
static void list_spaces(const target *on, bool several, text *out)
{
    for (int i = 0; i < on->n_space; i++)
        if (on->space[i].name && (!several || on->space[i].most > 1))
            text_add(out, "%s%s%s", out->length ? ", " : "", several ? "@" : "", on->space[i].name);
}

static bool read_space(reader *r, staging *g) /* from the @ on */
{
    const size_t n = word(++r->at);
    const bool none = n == strlen(nest_nowhere) && !strncmp(r->at, nest_nowhere, n);
    text have = {0};
    g->space = none || !n ? NULL : target_space(r->on, r->at, n);
    if (!none && !g->space) {
        list_spaces(r->on, false, &have);
        refuse(r, "no space \"%.*s\"; the spaces are: %s%s%s", (int)n, r->at, text_str(&have), have.length ? ", " : "",
               nest_nowhere);
        text_free(&have);
        return false;
    }
    r->at += n, g->stages = none ? 0 : g->space->least;
    return true;
}

static bool read_slices(reader *r, staging *g) /* from the * on */
{
    const memory_space *in = g->space;
    int64_t v;
    text several = {0};
    r->at++;
    if (!read_number(r, &v))
        return false;
    if (in && v >= in->least && v <= in->most)
        return g->stages = (int)v, true;
    if (in && in->most > 1)
        return refuse(r, "@%s holds %d to %d slices", in->name ? in->name : "", in->least, in->most);
    list_spaces(r->on, true, &several);
    refuse(r, "%s holds %s; several are held in: %s",
           !in        ? "@none"
           : in->name ? in->name
                      : "a copy",
           in ? "one slice" : "nothing", text_str(&several));
    text_free(&several);
    return false;
}

static bool refuse_result(reader *r) /* copied */
{
    const memory_space *best = NULL;
    for (int i = 0; i < r->on->n_space; i++)
        if (!r->on->space[i].copied && (!best || r->on->space[i].level == r->on->near))
            best = !best || best->level != r->on->near ? &r->on->space[i] : best;
    return best ? refuse(r, "the result is not copied, only fetched: +y@%s*%d", best->name, best->least)
                : refuse(r, "the result is not copied");
}

/* +b, +b@l2*2, +matmul.b at a shared loop */
static bool read_staging(reader *r)
{
    stage *s = r->s;
    staging g = {.loop = r->into->n - 1, .shared = r->shared, .space = r->on->space, .stages = r->on->space->least};
    size_t n = word(r->at);
    if (r->at[n] == '.') {
        const int which = stage_named(r->k, r->at, n);
        if (which < 0)
            return refuse(r, "the kernel has no stage \"%.*s\"", (int)n, r->at);
        if (!r->shared && r->s != &r->k->stage[which])
            return refuse(r, "what %s reads is staged at its own loops, or at those that stages share",
                          r->k->stage[which].name);
        s = &r->k->stage[which];
        r->at += n + 1, n = word(r->at);
    }
    const int load = operand_number(r->at, n);
    const bool result = load >= s->n_load && n == 1 && *r->at == 'y';
    if (!result && (load < 0 || load >= s->n_load))
        return refuse(r, "no operand \"%.*s\"; %s reads %d: a, b, ... in the order of its definition, and writes y",
                      (int)n, r->at, s->name, s->n_load);
    g.load = result ? MAX_LOADS : load;
    r->at += n;
    if ((*r->at == '@' && !read_space(r, &g)) || (*r->at == '*' && !read_slices(r, &g)))
        return false;
    if (result && staging_copies(&g))
        return refuse_result(r);
    if (g.space && r->into->loop[g.loop].role->in_registers)
        return refuse(r, "loop %s is within the register tile: operand %s can be staged at the loops outside it",
                      r->s->letter[r->into->loop[g.loop].axis], operand_called(g.load).s);
    const char *why = staging_copies(&g) ? nest_no_copy(r->k, s, g.load, r->shared) : NULL;
    if (why)
        return refuse(r, "operand %s %s", operand_called(g.load).s, why);
    if (s->n_staging == MAX_STAGING)
        return refuse(r, "operand %s is number %d that is staged, at most %d expected", operand_called(g.load).s,
                      MAX_STAGING + 1, MAX_STAGING);
    s->staging[s->n_staging++] = g;
    return true;
}

static bool refuse_shared(reader *r)
{
    text have = {0};
    for (int i = 0; i < r->on->n_role; i++)
        if (r->on->role[i].shared)
            text_add(&have, "%s%s%s", have.length ? " or " : "", i ? "@" : "", r->on->role[i].name);
    refuse(r, "loops that stages share are %s", text_str(&have));
    text_free(&have);
    return false;
}

/* What a loop's role says of where it stands */
static bool check_role(reader *r, const loop *l)
{
    const char *letter = r->s->letter[l->axis];
    if (!l->role->folded && !l->role->parts && r->s->folds >> l->axis & 1)
        return refuse(r, "axis %s folds: it cannot be %s", letter, l->role->done);
    if (l->role->last && l->step != 1)
        return refuse(r, "the %s loop of %s must be its last, without a step", l->role->name, letter);
    return !r->shared || l->role->shared || refuse_shared(r);
}

/* Where the loop is walked once, no next trip is there to fetch for; a copy for its one trip is the same as one for a
 * trip of the loop around it, if there is one outside the register tile. */
static bool read_staging_once(reader *r, bool *lost)
{
    const int outer = r->into->n - 1;
    while (*r->at == '+') {
        if (outer < 0 || r->into->loop[outer].role->in_registers) {
            const size_t n = 1 + strcspn(r->at + 1, "+ ;");
            *lost = *lost || !memchr(r->at, '@', n), r->at += n;
            continue;
        }
        int had[MAX_STAGES];
        for (int i = 0; i < r->k->n_stage; i++)
            had[i] = r->k->stage[i].n_staging;
        r->at++;
        if (!read_staging(r))
            return false;
        for (int i = 0; i < r->k->n_stage; i++) {
            stage *s = &r->k->stage[i];
            if (s->n_staging > had[i] && s->staging[had[i]].space && !staging_copies(&s->staging[had[i]]))
                s->n_staging--;
        }
    }
    return true;
}

/* A loop over an axis of one element, or of which nothing is left, or that was merged into another: walked once, which
 * takes no loop. */
static bool read_once(reader *r, int axis, const char *start)
{
    int64_t step = 1;
    const role *how = r->on->role;
    const size_t n = word(start);
    bool lost = false, last = *r->at != '/';
    for (int i = 0; i < r->n_once; i++)
        if (word(r->once[i]) == n && !strncmp(r->once[i], start, n))
            return r->at = start, refuse(r, "axis %.*s is walked twice", (int)n, start);
    if (!last && !read_step(r, axis, &step))
        return false;
    if (*r->at == '@' && (r->at++, !read_role(r, &how)))
        return false;
    if (last && r->n_once == MAX_LOOP)
        return refuse(r, "loop %d, at most %d expected", MAX_LOOP + 1, MAX_LOOP);
    if (last)
        r->once[r->n_once++] = start;
    if (how->last && !last)
        return r->at = start,
               refuse(r, "the %s loop of %.*s must be its last, without a step", how->name, (int)n, start);
    lost = how->parallel || how->lanes;
    if (!read_staging_once(r, &lost))
        return false;
    if (lost && !*r->k->lost)
        snprintf(r->k->lost, sizeof r->k->lost, "%.*s", (int)(r->at - start), start);
    return !*r->at || *r->at == ' ' || *r->at == ';' || refuse(r, "a blank expected between loops");
}

static bool read_loop(reader *r)
{
    loop l = {.step = 1, .role = r->on->role};
    const char *start = r->at;
    if (!read_axis(r, &l.axis))
        return false;
    if (l.axis < 0 || r->outside >> l.axis & 1)
        return read_once(r, l.axis, start);
    const char *letter = r->s->letter[l.axis];
    l.range = r->left[l.axis];
    if (*r->at == '/' && !read_step(r, l.axis, &l.step))
        return false;
    if (*r->at == '@' && (r->at++, !read_role(r, &l.role)))
        return false;
    const char *end = r->at;
    r->at = start;
    if (r->into->n == MAX_LOOP)
        return refuse(r, "loop %d, at most %d expected", MAX_LOOP + 1, MAX_LOOP);
    if (l.range == 0 && r->s->extent[l.axis] != 0)
        return refuse(r, "axis %s is walked twice", letter);
    if (!check_role(r, &l))
        return false;
    /* a step beyond the extent is one clipped trip */
    r->left[l.axis] = l.step == 1 ? 0 : l.step < l.range ? l.step : l.range;
    r->at = end, r->start[r->into->n] = start;
    r->into->loop[r->into->n++] = l;
    while (*r->at == '+') {
        r->at++;
        if (!read_staging(r))
            return false;
    }
    return !*r->at || *r->at == ' ' || *r->at == ';' || refuse(r, "a blank expected between loops");
}

static int64_t loops_of(const nest *q, int n, const role *how) /* of the first n loops */
{
    int64_t count = 0;
    for (int i = 0; i < n; i++)
        count += q->loop[i].role == how;
    return count;
}

static bool check_order(reader *r)
{
    const nest *q = r->into;
    const char *end = r->at;
    bool tile = false;
    for (int i = 0; i < q->n; i++) {
        const loop *l = &q->loop[i];
        const role *how = l->role;
        r->at = r->start[i];
        if (how->last && i < q->n - 1)
            return refuse(r, "the %s loop must be the last", how->name);
        if (tile && !how->in_registers)
            return refuse(r, "serial loop %s inside an unrolled one", r->s->letter[l->axis]);
        tile = tile || how->in_registers;
        if (how->outer && i && !q->loop[i - 1].role->outer)
            return refuse(r, "loop %s is inside another: what is %s stands outside of all other loops",
                          r->s->letter[l->axis], how->done);
        if (how->most && loops_of(q, i, how) == how->most)
            return how->most == 1
                       ? refuse(r, "a second @%s loop: one loop is %s", how->name, how->done)
                       : refuse(r, "loop %s is number %lld that is %s, at most %lld expected", r->s->letter[l->axis],
                                (long long)how->most + 1, how->done, (long long)how->most);
        if (how->trips && loop_trips(l) > how->trips)
            return refuse(r, "%s would be %s %lld times; at most %lld", r->s->letter[l->axis], how->done,
                          (long long)loop_trips(l), (long long)how->trips);
    }
    return r->at = end, true;
}

static bool read_loops(reader *r, char stop)
{
    r->into->n = 0;
    for (r->at += strspn(r->at, " "); *r->at && *r->at != stop; r->at += strspn(r->at, " "))
        if (!read_loop(r))
            return false;
    if (!check_order(r))
        return false;
    for (int a = 0; !r->shared && a < r->s->n_axis; a++)
        if (r->left[a] > 1)
            return refuse(r, "axis %s never reaches step 1", r->s->letter[a]);
    return true;
}

bool nest_parse_shared(const target *on, kernel *k, const char *source, err *e)
{
    reader r = {.on = on,
                .k = k,
                .s = &k->stage[k->main],
                .into = &k->shared,
                .shared = true,
                .from = source,
                .at = source,
                .e = e};
    memcpy(r.left, r.s->extent, sizeof r.left);
    return read_loops(&r, ';');
}

/* from: the whole text; at: where the stage's part begins */
static bool parse_part(const target *on, kernel *k, int which, const char *from, const char *at, err *e)
{
    reader r = {.on = on, .k = k, .s = &k->stage[which], .into = &k->stage[which].nest, .from = from, .at = at, .e = e};
    for (int a = 0; a < r.s->n_axis; a++) {
        r.left[a] = nest_left(k, r.s, a, -1);
        if (r.left[a] != 1 || a >= r.s->n_shared || k->n_stage == 1)
            continue;
        r.left[a] = 0; /* nothing left to walk */
        if (from == at)
            r.outside |= 1u << a;
    }
    if (!read_loops(&r, ';'))
        return false;
    for (int i = 0; k->n_stage > 1 && i < r.into->n; i++)
        if (!r.into->loop[i].role->own)
            return r.at = r.start[i],
                   refuse(&r, "@%s belongs to the loops that the stages share", r.into->loop[i].role->name);
    return true;
}

bool nest_parse_stage(const target *on, kernel *k, int which, const char *source, err *e)
{
    return parse_part(on, k, which, source, source, e);
}

bool nest_parse(const target *on, kernel *k, const char *source, err *e)
{
    for (int i = 0; i < k->n_stage; i++)
        k->stage[i].n_staging = 0;
    *k->lost = 0;
    if (k->n_stage == 1 && strchr(source, ';'))
        return err_set(e, TS_BAD_INPUT, "loops \"%s\": what follows ';' are a stage's own loops, and here is one stage",
                       source);
    if (k->n_stage == 1)
        return nest_parse_stage(on, k, 0, source, e);
    if (!nest_parse_shared(on, k, source, e))
        return false;
    bool seen[MAX_STAGES] = {false};
    for (const char *at = strchr(source, ';'); at; at = strchr(at + 1, ';')) {
        const char *name = at + 1 + strspn(at + 1, " ");
        const size_t n = word(name);
        const int which = stage_named(k, name, n);
        if (!n)
            continue;
        if (name[n] != ':')
            return err_set(e, TS_BAD_INPUT, "loops \"%s\": a stage's name and ':' expected after ';'", source);
        if (which < 0 || seen[which])
            return err_set(e, TS_BAD_INPUT, "loops \"%s\": %s \"%.*s\"%s", source,
                           which < 0 ? "the kernel has no stage" : "stage", (int)n, name,
                           which < 0 ? "" : " is given twice");
        seen[which] = true;
        if (!parse_part(on, k, which, source, name + n + 1, e))
            return false;
    }
    return true;
}
