/* rule.c - reading rules. */
#include "schedule/schema/rule.h"
#include "graph/base/suggest.h"
#include "graph/ir/custom.h"
#include "schedule/nest/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_text(const json *object, const char *key, const char **out, err *e) /* untouched when absent */
{
    const json *v = json_get(object, key);
    if (!v)
        return true;
    if (!json_want(v, JSON_TEXT, e))
        return false;
    return *(*out = v->text) ? true : json_refuse(e, v, TS_BAD_INPUT, "\"%s\" is empty", key);
}

/* "x", or ["x", "y"] */
static bool read_texts(const json *object, const char *key, const char **out, int max, int *n, err *e)
{
    const json *v = json_get(object, key);
    const json *i = v && v->kind == JSON_LIST ? v->first : v;
    if (!v)
        return true;
    if (!i)
        return json_refuse(e, v, TS_BAD_INPUT, "\"%s\" is an empty list; leave it out instead", key);
    for (; i; i = v->kind == JSON_LIST ? i->next : NULL) {
        if (i->kind != JSON_TEXT)
            return json_refuse(e, i, TS_BAD_INPUT, "text or a list of texts expected, not %s", json_kind_name(i->kind));
        if (!i->text[strspn(i->text, " ")])
            return json_refuse(e, i, TS_BAD_INPUT, "empty text");
        if (*n == max)
            return json_refuse(e, i, TS_BAD_INPUT, "%zu in \"%s\", at most %d expected", json_count(v), key, max);
        out[(*n)++] = i->text;
    }
    return true;
}

/* ---- match ---- */
/* At most 15 digits: no extent is longer, and 64 bits hold them. */
static bool number(const char **s, int64_t *out)
{
    char *end;
    *s += strspn(*s, " ");
    if (**s < '0' || **s > '9' || strspn(*s, "0123456789") > 15)
        return false;
    *out = strtoll(*s, &end, 10);
    *s = end + strspn(end, " ");
    return true;
}

/* Passes it where it is next. */
static bool after(const char **s, const char *start)
{
    const size_t n = strlen(start);
    return !strncmp(*s, start, n) && (*s += n);
}

/* ">=768", "<=64", ">1", "<64", "64..512", "128", "%48==0"; false when it is none of these */
static bool read_dim_test(const char *source, dim_test *out)
{
    const char *s = source + strspn(source, " ");
    dim_test d = {.axis = out->axis, .low = 0, .high = INT64_MAX};
    bool ok;
    if (after(&s, ">="))
        ok = number(&s, &d.low);
    else if (after(&s, "<="))
        ok = number(&s, &d.high);
    else if (after(&s, ">"))
        ok = number(&s, &d.low) && ++d.low;
    else if (after(&s, "<"))
        ok = number(&s, &d.high) && d.high-- > 0;
    else if (after(&s, "%"))
        ok = number(&s, &d.multiple) && d.multiple > 0 && after(&s, "==0");
    else {
        ok = number(&s, &d.low);
        d.high = d.low;
        if (ok && after(&s, ".."))
            ok = number(&s, &d.high) && d.low <= d.high;
    }
    *out = d;
    return ok && !s[strspn(s, " ")];
}

/* Of axes that some kernel could have: of these operations, or as names.c gives them where they have none. */
static bool read_dims(const json *v, rule *r, err *e)
{
    if (!json_want(v, JSON_OBJECT, e))
        return false;
    for (const json *i = v->first; i; i = i->next) {
        if (!strcmp(i->key, "//"))
            continue;
        char whole[32];
        const char *source = i->text;
        if (r->n_dim == MAX_RULE_DIMS)
            return json_refuse(e, i, TS_BAD_INPUT, "dim %d, at most %d expected", MAX_RULE_DIMS + 1, MAX_RULE_DIMS);
        if (i->kind == JSON_NUMBER && i->number >= 0 && i->number <= 1e15)
            snprintf(whole, sizeof whole, "%.17g", i->number), source = whole;
        if (i->kind != JSON_TEXT && i->kind != JSON_NUMBER)
            return json_refuse(e, i, TS_BAD_INPUT, "text or a number expected, not %s", json_kind_name(i->kind));
        dim_test *d = &r->dim[r->n_dim++];
        d->axis = i->key;
        if (!source || !read_dim_test(source, d)) {
            json_refuse(e, i, TS_BAD_INPUT, "\"%.60s\" is no test of an extent", source ? source : "a negative number");
            return err_hint(e, "tests look like \">=768\", \"<=64\", \"64..512\", \"128\", \"%%48==0\"");
        }
        if (!names_known(i->key, r->stage ? 0 : r->n_op, r->op)) { /* a stage is of another operation than its kernel */
            json_refuse(e, i, TS_BAD_INPUT, "no operation%s has an axis \"%.60s\"", r->n_op ? " of the rule" : "",
                        i->key);
            return err_hint(e, "tessera help axes lists them, tessera explain MODEL shows those of each kernel");
        }
    }
    return true;
}

/* Of the table, or of this graph's own; the nearest name is offered. */
static bool known_op(const graph *g, const json *v, const char *name, err *e)
{
    if (g_op(g, name))
        return true;
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (const op *o = op_next(NULL); o; o = op_next(o))
        suggest_offer(&near, o->name);
    for (int i = 0; g && i < g->n_custom; i++)
        suggest_offer(&near, g->custom[i]->name);
    json_refuse(e, v, TS_BAD_INPUT, "no operation \"%s\"", name);
    suggest_near(&near, "", e);
    return err_hint(e, "tessera ops lists them");
}

/* What is left out matches everything. */
static bool read_match(arena *mem, const graph *g, const json *v, rule *r, err *e)
{
    const json *dims;
    dtype d;
    if (!json_want(v, JSON_OBJECT, e) || !json_known(v, "op name stage dims dtype target", e))
        return false;
    if (!read_texts(v, "op", r->op, MAX_RULE_OPS, &r->n_op, e) || !read_text(v, "name", &r->glob, e) ||
        !read_text(v, "stage", &r->stage, e) || !read_text(v, "dtype", &r->dtype, e) ||
        !read_texts(v, "target", r->target, MAX_RULE_TARGETS, &r->n_target, e))
        return false;
    if (r->n_target)
        r->target_place = json_where(mem, json_get(v, "target"));
    const json *ops = json_get(v, "op");
    for (int i = 0; i < r->n_op; i++)
        if (!known_op(g, ops, r->op[i], e))
            return false;
    if (r->dtype && !dtype_parse(r->dtype, &d))
        return json_refuse(e, json_get(v, "dtype"), TS_BAD_INPUT, "no data type \"%s\"", r->dtype);
    return !(dims = json_get(v, "dims")) || read_dims(dims, r, e);
}

/* ---- the rest ---- */
/* The text of a layout is read where the operand's dims are known (layout.c). */
static bool read_layout(const json *v, rule *r, err *e)
{
    if (!json_want(v, JSON_OBJECT, e))
        return false;
    for (const json *i = v->first; i; i = i->next) {
        if (!strcmp(i->key, "//"))
            continue;
        if (!json_want(i, JSON_TEXT, e))
            return false;
        const char *dot = strchr(i->key, '.'), *letter = dot ? dot + 1 : i->key;
        const int load = strcmp(letter, "y") != 0 ? operand_number(letter, strlen(letter)) : MAX_LOADS;
        if (load < 0)
            return json_refuse(e, i, TS_BAD_INPUT,
                               "no operand \"%s\"; they are a, b, ..., the result y or, of a stage, matmul2.b", i->key);
        if (r->n_layout == MAX_STAGING)
            return json_refuse(e, i, TS_BAD_INPUT, "layout %d, at most %d expected", MAX_STAGING + 1, MAX_STAGING);
        r->layout[r->n_layout++] = (rule_layout){i->key, dot ? (size_t)(dot - i->key) : 0, load, i->text,
                                                 strstr(i->text, "/tile")};
    }
    return true;
}

/* "KEY WORD WORD...": one of the words, the first if none is given; others are for the future. */
static bool read_choice(const json *v, const char *choice, const char **out, err *e)
{
    word_list list;
    words_split(choice, &list);
    const char *given = NULL;
    if (!read_text(v, list.word[0], &given, e))
        return false;
    ENDED_BY(suggest_free) suggestion near = {.word = given};
    for (const char *const *w = list.word + 1; *w; w++) {
        if (!given || !strcmp(given, *w))
            return *out = given, true;
        suggest_offer(&near, *w);
    }
    json_refuse(e, json_get(v, list.word[0]), TS_UNSUPPORTED, "%s \"%s\" is not available", list.word[0], given);
    return suggest_hint(&near, "available are", e);
}

static bool read_truth(const json *object, const char *key, bool *given, bool *out, err *e)
{
    const json *v = json_get(object, key);
    *given = v != NULL;
    if (v && !json_want(v, JSON_TRUTH, e))
        return false;
    *out = v && v->truth;
    return true;
}

/* It is said of nodes, before there are kernels, so what only kernels have cannot be matched with it. */
static bool read_recompute(const json *v, rule *r, err *e)
{
    if (!json_want(v, JSON_TRUTH, e))
        return err_hint(e, "true: computed again for the backward pass; false: kept, whatever later rules say");
    r->tells_recompute = true, r->recompute = v->truth;
    if (!r->n_dim && !r->stage)
        return true;
    const char *what = r->n_dim ? "dims" : "stage";
    json_refuse(e, v, TS_UNSUPPORTED, "\"recompute\" with \"%s\": it is said of operations, %s of kernels", what,
                r->n_dim ? "dims are those" : "stages are those");
    return err_hint(e, "match \"op\", \"name\" or \"dtype\", and put loops for %s in a rule of their own", what);
}

/* In elements; the last block of an axis may have fewer. */
static bool read_blocks(const json *v, rule *r, err *e)
{
    if (!json_want(v, JSON_NUMBER, e))
        return err_hint(e, "so many are in a block of the axis that is summed up; 0: no blocks");
    if (v->number < 0 || v->number > 1 << 30 || v->number != (double)(int64_t)v->number) {
        json_refuse(e, v, TS_BAD_INPUT, "\"blocks\": %.9g is no number of elements", v->number);
        return err_hint(e, "so many are in a block of the axis that is summed up; 0: no blocks");
    }
    r->tells_blocks = true, r->blocks = (int64_t)v->number;
    if (!r->n_dim && !r->stage)
        return true;
    const char *what = r->n_dim ? "dims" : "stage";
    return json_refuse(e, v, TS_UNSUPPORTED, "\"blocks\" with \"%s\": it is said of operations, %s of kernels", what,
                       r->n_dim ? "dims are those" : "stages are those");
}

/* "NAME", "NAME:3" or "NAME:part" of a device, which whoever plans has to know; "auto" is as nothing said. */
static bool read_place(arena *mem, const json *v, rule *r, err *e)
{
    static const char small[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    enum { MOST = 24 };
    const json *part = json_get(v, "place");
    const char *name = NULL;
    if (!read_text(v, "place", &name, e))
        return false;
    if (!name || !strcmp(name, "auto"))
        return true;
    const size_t n = strspn(name, small), which_at = name[n] == ':' ? n + 1 : n, more = strspn(name + which_at, small);
    if (!n || name[which_at + more] || (name[n] == ':' && (!more || more > MOST))) {
        json_refuse(e, part, TS_BAD_INPUT, "place \"%.60s\" is no name of a device", name);
        return err_hint(e, "names look like \"cpu\" or \"gpu:0\"; \"auto\" leaves it to the plan");
    }
    r->site = name, r->site_place = json_where(mem, part);
    return true;
}

/* Unknown members are refused: a misspelt one would be ignored otherwise. */
bool rule_read(arena *mem, const graph *g, const json *v, int number_of_it, rule *r, err *e)
{
    const char *fuse, *masked;
    const json *part;
    if (!json_want(v, JSON_OBJECT, e) ||
        !json_known(v, "name match loops layout fuse masked blocks place compute reuse recompute alternative optional",
                    e))
        return false;
    part = json_get(v, "loops");
    *r = (rule){.name = arena_format(mem, "rule %d", number_of_it), .place = json_where(mem, v)};
    r->loops_place = part ? json_where(mem, part) : r->place;
    if (!read_text(v, "name", &r->name, e) || !read_texts(v, "loops", r->loops, MAX_RULE_LOOPS, &r->n_loops, e) ||
        !read_choice(v, "fuse auto none", &fuse, e) || !read_choice(v, "masked skip compute", &masked, e) ||
        !read_place(mem, v, r, e) || !read_choice(v, "compute f32 tf32", &r->compute, e) ||
        !read_choice(v, "reuse auto none", &r->reuse, e))
        return false;
    r->fuse = !fuse || strcmp(fuse, "none");
    r->whole = masked && !strcmp(masked, "compute");
    bool said;
    return read_truth(v, "optional", &said, &r->optional, e) &&
           read_truth(v, "alternative", &r->tells_way, &r->takes_way, e) &&
           (!(part = json_get(v, "match")) || read_match(mem, g, part, r, e)) &&
           (!(part = json_get(v, "layout")) || read_layout(part, r, e)) &&
           (!(part = json_get(v, "blocks")) || read_blocks(part, r, e)) &&
           (!(part = json_get(v, "recompute")) || read_recompute(part, r, e));
}
