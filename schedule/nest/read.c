/* read.c - the notation of nests, read: loops are checked one by one, each by what the target says of its role. */
#include "schedule/nest/nest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEP = 1 << 30 };

typedef struct reader {
    nesting b;
    const char *from, *at, *start[MAX_LOOP + 1]; /* start: of each loop */
    const char *once[MAX_LOOP];                  /* letters that no axis here has, walked to their end */
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

static bool refuse_as(reader *r) /* the nest refuses it */
{
    r->at = r->b.refused < 0 ? r->at : r->start[r->b.refused];
    return refuse(r, "%s", r->b.why);
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
    const int end = r->b.shared ? r->b.s->n_shared : r->b.s->n_axis;
    text_add(out, r->b.shared ? "the axes that its stages share are:" : "the axes are:");
    for (int a = 0; a < end; a++)
        text_add(out, " %s", r->b.s->letter[a]);
    if (!r->b.shared)
        return;
    text_add(out, "; a stage's own come behind them: \"; %s:", r->b.s->name);
    for (int a = end; a < r->b.s->n_axis; a++)
        text_add(out, " %s", r->b.s->letter[a]);
    text_add(out, "\" (stages:");
    for (int i = 0; i < r->b.k->n_stage; i++)
        text_add(out, " %s", r->b.k->stage[i].name);
    text_add(out, ")");
}

enum { NO_AXIS = -1 }; /* walked once */
static bool read_axis(reader *r, int *axis)
{
    const size_t n = word(r->at);
    const int end = r->b.shared ? r->b.s->n_shared : r->b.s->n_axis;
    ENDED_BY(text_free) text have = {0};
    for (*axis = 0; *axis < end; ++*axis)
        if (word_is(r->b.s->letter[*axis], r->at, n))
            return r->at += n, true;
    for (*axis = 0; *axis < r->b.s->n_shared; ++*axis)
        if (word_is(r->b.s->own[*axis], r->at, n))
            return r->at += n, true;
    *axis = NO_AXIS;
    if (names_left_out(r->b.k, r->b.s, r->at, n))
        return r->at += n, true;
    list_axes(r, &have);
    return refuse(r, "no axis \"%.*s\" here; %s", (int)(n ? n : strcspn(r->at, " ")), r->at, text_str(&have));
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
    if (axis >= 0 && !r->b.s->tile[axis])
        return refuse(r, "the guess has no register tile here; a number of at least 1 expected");
    *out = axis < 0 ? 1 : r->b.s->tile[axis];
    return r->at += n - 1, true;
}

static bool read_role(reader *r, const role **out)
{
    const size_t n = word(r->at);
    if ((*out = target_role(r->b.on, r->at, n)))
        return r->at += n, true;
    ENDED_BY(text_free) text have = {0};
    for (int i = 1; i < r->b.on->n_role; i++)
        text_add(&have, "%s%s", i > 1 ? ", " : "", r->b.on->role[i].name);
    return refuse(r, "no role \"%.*s\"; the roles are: %s (or none)", (int)n, r->at, text_str(&have));
}

const char *nest_no_copy(const kernel *k, const stage *s, int load, bool shared)
{
    const expr *x = s->load[load], *guard = stage_guard(s, load), *all[MAX_LOADS];
    const int n = x_loads(guard ? guard : x, all, MAX_LOADS);
    if (kernel_stage(k, x->from) >= 0)
        return "is computed in this kernel: it is in scratch already";
    for (int i = 0; shared && i < n && i < MAX_LOADS; i++)
        if (kernel_stage(k, all[i]->from) >= 0)
            return "is read where stages of this kernel say, which have not run when it is copied";
    if (!guard && n > 1 && !expr_reads(s->value, x))
        return "is read where other operands say and on a condition: what that keeps from being read is not copied";
    return NULL;
}

static int stage_named(const kernel *k, const char *name, size_t n) /* -1: there is none */
{
    int i = k->n_stage - 1;
    while (i >= 0 && !word_is(k->stage[i].name, name, n))
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
    ENDED_BY(text_free) text have = {0};
    g->space = none || !n ? NULL : target_space(r->b.on, r->at, n);
    if (!none && !g->space) {
        list_spaces(r->b.on, false, &have);
        return refuse(r, "no space \"%.*s\"; the spaces are: %s%s%s", (int)n, r->at, text_str(&have),
                      have.length ? ", " : "", nest_nowhere);
    }
    r->at += n, g->stages = none ? 0 : g->space->least;
    return true;
}

static bool read_slices(reader *r, staging *g) /* from the * on */
{
    const memory_space *in = g->space;
    int64_t v;
    ENDED_BY(text_free) text several = {0};
    r->at++;
    if (!read_number(r, &v))
        return false;
    if (in && v >= in->least && v <= in->most)
        return g->stages = (int)v, true;
    if (in && in->most > 1)
        return refuse(r, "@%s holds %d to %d slices", in->name ? in->name : "", in->least, in->most);
    list_spaces(r->b.on, true, &several);
    return refuse(r, "%s holds %s; several are held in: %s",
                  !in        ? "@none"
                  : in->name ? in->name
                             : "a copy",
                  in ? "one slice" : "nothing", text_str(&several));
}

/* +b, +b@l2*2, +matmul.b at a shared loop; fetches: there are next trips to fetch for */
static bool read_staging(reader *r, bool fetches)
{
    stage *s = r->b.s;
    staging g = {.space = r->b.on->space, .stages = r->b.on->space->least};
    size_t n = word(r->at);
    if (r->at[n] == '.') {
        const int which = stage_named(r->b.k, r->at, n);
        if (which < 0)
            return refuse(r, "the kernel has no stage \"%.*s\"", (int)n, r->at);
        if (!r->b.shared && s != &r->b.k->stage[which])
            return refuse(r, "what %s reads is staged at its own loops, or at those that stages share",
                          r->b.k->stage[which].name);
        s = &r->b.k->stage[which];
        r->at += n + 1, n = word(r->at);
    }
    const int load = operand_number(r->at, n);
    const bool result = load >= s->n_load && n == 1 && *r->at == 'y';
    if (!result && (load < 0 || load >= s->n_load))
        return refuse(r, "no operand \"%.*s\"; %s reads %d: a, b, ... in the order of its definition, and writes y",
                      (int)n, r->at, s->name, s->n_load);
    g.load = result ? MAX_LOADS : load;
    r->at += n;
    return (*r->at != '@' || read_space(r, &g)) && (*r->at != '*' || read_slices(r, &g)) &&
           ((!fetches && g.space && !staging_copies(&g)) || nest_stage(&r->b, s, &g) || refuse_as(r));
}

/* A loop over an axis of one element, or of which nothing is left, or that was merged into another: walked once, which
 * takes no loop. No next trip is there to fetch for; a copy for its one trip is the same as one for a trip of the loop
 * around it, if there is one outside the register tile. */
static bool read_once(reader *r, const char *start, bool last, const role *how)
{
    const nest *q = r->b.into;
    const bool copies = q->n && !q->loop[q->n - 1].role->in_registers;
    const size_t n = word(start);
    bool lost = how->parallel || how->lanes;
    for (int i = 0; i < r->n_once; i++)
        if (word(r->once[i]) == n && !strncmp(r->once[i], start, n))
            return r->at = start, refuse(r, "axis %.*s is walked twice", (int)n, start);
    if (last && r->n_once == MAX_LOOP)
        return refuse(r, "loop %d, at most %d expected", MAX_LOOP + 1, MAX_LOOP);
    if (last)
        r->once[r->n_once++] = start;
    if (how->last && !last)
        return r->at = start,
               refuse(r, "the %s loop of %.*s must be its last, without a step", how->name, (int)n, start);
    while (*r->at == '+') {
        const size_t length = 1 + strcspn(r->at + 1, "+ ;");
        if (copies && (r->at++, !read_staging(r, false)))
            return false;
        if (!copies)
            lost = lost || !memchr(r->at, '@', length), r->at += length;
    }
    if (lost && !*r->b.k->lost)
        snprintf(r->b.k->lost, sizeof r->b.k->lost, "%.*s", (int)(r->at - start), start);
    return true;
}

static bool read_own(reader *r, const char *start, int axis, int64_t step, const role *how)
{
    r->start[r->b.into->n] = start;
    if (!nest_put(&r->b, axis, step, (int)(how - r->b.on->role)))
        return refuse_as(r);
    while (*r->at == '+')
        if (r->at++, !read_staging(r, true))
            return false;
    return true;
}

static bool read_loop(reader *r)
{
    int axis;
    int64_t step = 1;
    const role *how = r->b.on->role;
    const char *start = r->at;
    if (!read_axis(r, &axis))
        return false;
    const bool last = *r->at != '/';
    if ((!last && !read_step(r, axis, &step)) || (*r->at == '@' && (r->at++, !read_role(r, &how))))
        return false;
    return (axis < 0 || r->b.outside >> axis & 1 ? read_once(r, start, last, how)
                                                 : read_own(r, start, axis, step, how)) &&
           (!*r->at || *r->at == ' ' || *r->at == ';' || refuse(r, "a blank expected between loops"));
}

static bool read_loops(reader *r)
{
    for (r->at += strspn(r->at, " "); *r->at && *r->at != ';'; r->at += strspn(r->at, " "))
        if (!read_loop(r))
            return false;
    return nest_end(&r->b) || refuse_as(r);
}

bool nest_parse_shared(const target *on, kernel *k, const char *source, err *e)
{
    reader r = {.b = nest_begin(on, k, NULL), .from = source, .at = source, .e = e};
    return read_loops(&r);
}

/* from: the whole text; at: where the stage's part begins */
static bool parse_part(const target *on, kernel *k, int which, const char *from, const char *at, err *e)
{
    reader r = {.b = nest_begin(on, k, &k->stage[which]), .from = from, .at = at, .e = e};
    r.b.outside = from == at ? r.b.outside : 0; /* beside the loops that are shared, nobody names their axes again */
    return read_loops(&r);
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
