/* table.c - the table of operations as it is asked: the records of graph/ops/ with what their words say. Mistakes in
 * words are ours. */
#include "graph/ir/op.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    arena mem; /* what the words say */
    op *at;
    int n;
} all;

/* The next word, up to a blank or one of `ends`; NULL: there is none. */
static char *next_word(const char **at, const char *ends)
{
    const char *s = *at + strspn(*at, " ");
    const size_t n = strcspn(s, " ") < strcspn(s, ends) ? strcspn(s, " ") : strcspn(s, ends);
    *at = s + n;
    return n ? arena_format(&all.mem, "%.*s", (int)n, s) : NULL;
}

/* Takes off what stands behind a mark; NULL: there is none. */
static char *cut_off(char *word, char mark)
{
    char *found = strchr(word, mark);
    if (found)
        *found++ = 0;
    return found;
}

/* "lrn a size:i alpha:f=0.0001 -> n c h w | k" */
static void read_call(op *o)
{
    const char *words = o->call;
    attr_spec *spec = arena_array(&all.mem, strlen(words) / 2 + 2, sizeof *spec);
    char *word;
    o->name = next_word(&words, ""), o->attr = spec;
    while ((word = next_word(&words, "")) && strcmp(word, "->")) {
        char *value = cut_off(word, '='), *kind = cut_off(word, ':');
        MUST(kind ? strchr("ifsIF", *kind) && !kind[1] : !strcmp(word, "...") || *word == 'a' + o->arity);
        if (kind)
            *spec++ = (attr_spec){word, *kind, value};
        else
            o->arity = *word == '.' ? -1 : o->arity + 1;
    }
    if (word)
        o->axes = words + strspn(words, " ");
}

static void read_counts(onnx_rule *r, const char *word) /* "2", "1..3", "2.." */
{
    char *end;
    r->least = r->most = (int)strtol(word, &end, 10);
    if (!strncmp(end, "..", 2))
        r->most = end[2] ? (int)strtol(end + 2, &end, 10) : (end += 2, -1);
    MUST(!*end);
}

static const char *read_rule(const char *words, onnx_rule *r)
{
    char *name = next_word(&words, ";"), *since = next_word(&words, ";"), *types = next_word(&words, ";"), *word;
    MUST(name && since && types && isdigit((unsigned char)*since));
    *r = (onnx_rule){.type = name,
                     .since = (int)strtol(since, NULL, 10),
                     .types = *types == '-' ? NULL : types,
                     .most = -1,
                     .results = 1};
    onnx_attribute *a = arena_array(&all.mem, strcspn(words, ";") / 2 + 2, sizeof *a);
    for (int n = 0; (word = next_word(&words, ";"));) {
        r->attribute = a;
        if (isdigit((unsigned char)*word))
            read_counts(r, word);
        else if (*word == '>')
            r->results = word[1] == '*' ? -1 : (int)strtol(word + 1, NULL, 10);
        else {
            char *value = cut_off(word, '='), *other = cut_off(word, ':');
            a[n++] = (onnx_attribute){other ? other : word, word, value};
        }
    }
    return *words ? words + 1 : words;
}

static void read_rules(op *o)
{
    int n = 0, n_form = 0;
    size_t most = 2;
    for (const char *s = o->onnx; s && *s; s++)
        most += *s == ';';
    for (const onnx_adapted *a = o->adapted; a && a->says; a++)
        most++;
    for (const onnx_formed *f = o->formed; f && f->says; f++)
        n_form++;
    onnx_rule *rule = arena_array(&all.mem, most, sizeof *rule);
    onnx_rule *form = arena_array(&all.mem, (size_t)n_form + 1, sizeof *form);
    for (const onnx_adapted *a = o->adapted; a && a->says; a++)
        read_rule(a->says, &rule[n]), rule[n++].adapt = a->adapt;
    for (const char *s = o->onnx; s && *s;)
        s = read_rule(s, &rule[n++]);
    for (int i = 0; i < n_form; i++)
        read_rule(o->formed[i].says, &form[i]), form[i].make = o->formed[i].make;
    o->rule = rule, o->form = form;
}

/* How many of the names a, b, c, d a text has. */
static int letters(const char *s)
{
    int n = 0;
    for (; *s; s += strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), s += *s != 0)
        if (*s >= 'a' && *s <= 'd' && !in_word(s[1]) && *s - 'a' >= n)
            n = *s - 'a' + 1;
    return n;
}

static void make(void)
{
    for (const op *const *table = op_tables; *table; table++)
        for (const op *o = *table; o->call; o++)
            all.n++;
    all.at = heap_array((size_t)all.n, sizeof *all.at);
    op *to = all.at;
    for (const op *const *table = op_tables; *table; table++)
        for (const op *o = *table; o->call; o++, to++) {
            *to = *o;
            read_call(to);
            if (o->text)
                to->arity = letters(o->text), to->axes = "e";
            read_rules(to);
        }
}

const op *op_next(const op *o)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make);
    o = o ? o + 1 : all.at;
    return o < all.at + all.n ? o : NULL;
}
