/* A JSON text as a list of values, each with the bytes it stands on. It need not be valid beyond that. */
#include "tests/fuzz/mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 256 };
typedef struct value {
    size_t at, end;  /* of the value */
    size_t from, to; /* of the member or element, with the comma after it */
    bool is_text, is_number;
} value;
typedef struct values {
    piece in;
    int n;
    value v[MOST_VALUES];
} values;

static size_t text_end(piece s, size_t i)
{
    for (i++; i < s.n && s.at[i] != '"'; i++)
        i += s.at[i] == '\\';
    return i < s.n ? i + 1 : s.n;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static size_t blank(piece s, size_t i)
{
    while (i < s.n && is_space(s.at[i]))
        i++;
    return i;
}

/* The end of the bracket that opens at i, whatever is in it. */
static size_t bracket_end(piece s, size_t i)
{
    int depth = 0;
    for (; i < s.n; i++) {
        if (s.at[i] == '"')
            i = text_end(s, i) - 1;
        else if (s.at[i] == '{' || s.at[i] == '[')
            depth++;
        else if ((s.at[i] == '}' || s.at[i] == ']') && --depth == 0)
            return i + 1;
    }
    return s.n;
}

static size_t value_end(piece s, size_t i)
{
    if (s.at[i] == '"')
        return text_end(s, i);
    if (s.at[i] == '{' || s.at[i] == '[')
        return bracket_end(s, i);
    while (i < s.n && !strchr(",]}", s.at[i]) && !is_space(s.at[i]))
        i++;
    return i;
}

/* All values, by one walk over the text: what follows '[', ',' and ':' is one, unless a ':' follows a text. */
static bool values_find(piece in, values *out)
{
    out->in = in, out->n = 0;
    size_t start = 0;
    bool wanted = true;
    for (size_t i = blank(in, 0); i < in.n && out->n < MOST_VALUES; i = blank(in, i)) {
        const uint8_t c = in.at[i];
        if (c == '"' || !strchr("[]{},:", c)) {
            const size_t end = value_end(in, i), after = blank(in, end);
            if (end == i)
                return false;
            if (after < in.n && in.at[after] == ':')
                start = i, wanted = true;
            else if (wanted) {
                out->v[out->n++] = (value){i,        end,
                                           start,    after < in.n && in.at[after] == ',' ? after + 1 : end,
                                           c == '"', c == '-' || (c >= '0' && c <= '9')};
                wanted = false;
            }
            i = after < in.n && in.at[after] == ':' ? after + 1 : end;
            continue;
        }
        if ((c == '[' || c == '{') && wanted) {
            const size_t end = bracket_end(in, i), after = blank(in, end);
            out->v[out->n++] = (value){i,     end,  start, after < in.n && in.at[after] == ',' ? after + 1 : end,
                                       false, false};
        }
        wanted = c == '[' || c == ',' || c == '{';
        i++, start = i;
    }
    return out->n > 0;
}

static void odd_value(dice *d, text *out)
{
    static const char *const some[] = {"0",
                                       "1",
                                       "-1",
                                       "2",
                                       "3",
                                       "64",
                                       "255",
                                       "65536",
                                       "2147483648",
                                       "-2147483649",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "1e400",
                                       "-0.0",
                                       "0.5",
                                       "null",
                                       "true",
                                       "false",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       "[0]",
                                       "[1,2]",
                                       "[-1]",
                                       "\"f32\"",
                                       "\"i64\"",
                                       "\"bool\"",
                                       "\"x\"",
                                       "\"y\"",
                                       "\"seq\"",
                                       "\"guess\"",
                                       "\"\\u0000\"",
                                       "\"m n k\"",
                                       "\"n/48@core m/8 k m@unroll n@vector\"",
                                       "[[[[[[[[]]]]]]]]"};
    if (dice_below(d, 4))
        text_add(out, "%s", some[dice_below(d, COUNT(some))]);
    else
        text_json(out, mutate_operator(d));
}

static void odd_text(dice *d, piece s, text *out) /* s: with its quotes */
{
    static const char *const some[] = {"/",       "@",     "+",   ";",  ":",       " ",       "@core", "@vector",
                                       "@unroll", "@none", "/16", "*",  "m",       "n",       "k",     "a",
                                       "b",       "guess", ".",   "..", "\\u0000", "\\ud800", "[0-9]", "%"};
    const size_t at = 1 + dice_below(d, s.n > 1 ? s.n - 1 : 0), cut = dice_below(d, 3);
    const size_t next = at + cut < s.n ? at + cut : s.n - 1;
    text_bytes(out, (const char *)s.at, at < s.n ? at : s.n - 1);
    text_add(out, "%s", some[dice_below(d, COUNT(some))]);
    text_bytes(out, (const char *)s.at + next, s.n - next);
}

static void odd_number(dice *d, piece s, text *out)
{
    char number[32] = {0};
    long long v;
    memcpy(number, s.at, s.n < sizeof number ? s.n : sizeof number - 1);
    if (!dice_below(d, 3) || sscanf(number, "%lld", &v) != 1 || v > 1 << 30 || v < -(1 << 30))
        odd_value(d, out);
    else
        text_add(out, "%lld", v + (long long)dice_below(d, 9) - 4);
}

static void span(text *t, piece s, size_t from, size_t to)
{
    if (to > from)
        text_bytes(t, (const char *)s.at + from, to - from);
}

static void change(dice *d, const values *all, const values *other, const value *v, text *out)
{
    const piece s = all->in;
    const value *like = &other->v[dice_below(d, (size_t)other->n)];
    for (int i = 0; i < 4 && (like->is_text != v->is_text || like->is_number != v->is_number); i++)
        like = &other->v[dice_below(d, (size_t)other->n)];
    const size_t how = dice_below(d, 6);
    switch (how == 1 && v->from < v->at ? 3 : how) { /* a key comes once */
    case 0: span(out, s, 0, v->from), span(out, s, v->to, s.n); return;
    case 1: /* twice */
        span(out, s, 0, v->to);
        text_add(out, "%s", s.at[v->to - 1] == ',' ? "" : ",");
        span(out, s, v->from, v->end), span(out, s, s.at[v->to - 1] == ',' ? v->to - 1 : v->end, s.n);
        return;
    case 2: span(out, s, 0, v->at), span(out, other->in, like->at, like->end); break;
    case 3: span(out, s, 0, v->at), odd_value(d, out); break;
    default:
        span(out, s, 0, v->at);
        if (v->is_text && v->end - v->at > 1)
            odd_text(d, (piece){s.at + v->at, v->end - v->at}, out);
        else if (v->is_number)
            odd_number(d, (piece){s.at + v->at, v->end - v->at}, out);
        else
            span(out, other->in, like->at, like->end);
    }
    span(out, s, v->end, s.n);
}

bool mutate_json(dice *d, piece in, piece other, text *out)
{
    values *own = reallocarray(NULL, 2, sizeof *own), *from = own + 1;
    MUST(own);
    const bool ok = values_find(in, own);
    if (!other.n || !values_find(other, from))
        from = own;
    if (ok)
        change(d, own, from, &own->v[dice_below(d, (size_t)own->n)], out);
    free(own);
    return ok;
}
