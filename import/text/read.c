/* read.c - what a tokenizer is, from its file: vocab.txt, a token a line, or tokenizer.json. Files are untrusted. */
#include "import/text/tokenizer.h"
#include "graph/base/suggest.h"

#include <string.h>

enum { JSON_DEPTH = 32 }; /* of objects in objects */

static void template_put(tokenizer *t, ids *l, const char *name)
{
    const int64_t id = vocab_find(&t->vocab, name, strlen(name));
    if (id >= 0)
        ids_add(l, id);
}

/* ---- vocab.txt: BERT's, whatever else the file's folder says ---- */
bool tokenizer_lines(tokenizer *t, const char *source, size_t n, err *e)
{
    static const char *const known[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    int64_t id = 0;
    for (size_t i = 0; i < n; id++) {
        const char *end = memchr(source + i, '\n', n - i);
        size_t length = end ? (size_t)(end - source) - i : n - i;
        const size_t step = length + 1;
        length -= length && source[i + length - 1] == '\r';
        if (id >= MOST_TOKENS || length > MOST_TOKEN_BYTES || memchr(source + i, 0, length))
            return err_set(e, TS_BAD_INPUT, "%s:%lld: not a token: a vocabulary has one a line", t->path,
                           (long long)id + 1);
        char *s = arena_get(&t->mem, length + 1);
        memcpy(s, source + i, length);
        if (length && !vocab_add(&t->vocab, s, length, id))
            return err_set(e, TS_BAD_INPUT, "%s:%lld: the token \"%.80s\" twice", t->path, (long long)id + 1, s);
        i += step;
    }
    for (int i = 0; i < COUNT(known); i++)
        tokenizer_add(t, (added){.s = known[i],
                                 .n = strlen(known[i]),
                                 .hidden = true,
                                 .id = vocab_find(&t->vocab, known[i], strlen(known[i]))});
    t->normal.at[t->normal.n++] = normal_bert;
    t->split.at[t->split.n++] = split_bert;
    template_put(t, &t->before, "[CLS]"), template_put(t, &t->after, "[SEP]");
    return wordpiece_setup(t, e);
}

/* ---- tokenizer.json ---- */
static bool add_token(tokenizer *t, const json *v, const char *s, int64_t id, err *e)
{
    const size_t n = strlen(s);
    if (n > MOST_TOKEN_BYTES)
        return json_refuse(e, v, TS_BAD_INPUT, "a token of %zu bytes, at most %d", n, MOST_TOKEN_BYTES);
    return vocab_add(&t->vocab, s, n, id) ||
           json_refuse(e, v, TS_BAD_INPUT, "token %lld, or its number, twice", (long long)id);
}

/* {TOKEN: NUMBER, ...}, or [[TOKEN, SCORE], ...] in the order of their numbers. */
static bool read_vocab(tokenizer *t, const json *model, err *e)
{
    const json *all = json_get(model, "vocab");
    if (!all || (all->kind != JSON_OBJECT && all->kind != JSON_LIST))
        return json_refuse(e, model, TS_BAD_INPUT, "no object \"vocab\" of tokens and their numbers");
    int64_t next = 0;
    for (const json *i = all->first; i; i = i->next, next++) {
        int64_t id = next;
        const char *s = i->key;
        if (all->kind == JSON_LIST) {
            if (i->kind != JSON_LIST || !i->first || i->first->kind != JSON_TEXT || id >= MOST_TOKENS)
                return json_refuse(e, i, TS_BAD_INPUT, "[TOKEN, SCORE] expected, at most %d", MOST_TOKENS);
            s = i->first->text;
        } else if (!json_whole(i, &id) || id < 0 || id >= MOST_TOKENS)
            return json_refuse(e, i, TS_BAD_INPUT, "a token's number is whole, at least 0 and below %d", MOST_TOKENS);
        if (!add_token(t, i, s, id, e))
            return false;
    }
    return true;
}

static bool read_added(tokenizer *t, const json *all, err *e)
{
    for (const json *i = all && all->kind == JSON_LIST ? all->first : NULL; i; i = i->next) {
        const json *content = i->kind == JSON_OBJECT ? json_get(i, "content") : NULL,
                   *number = content ? json_get(i, "id") : NULL;
        int64_t id;
        if (!content || content->kind != JSON_TEXT || !number || !json_whole(number, &id) || id < 0 ||
            id >= MOST_TOKENS)
            return json_refuse(e, i, TS_BAD_INPUT, "an added token needs its \"content\" and its \"id\"");
        const size_t n = strlen(content->text);
        if (!n || n > MOST_TOKEN_BYTES)
            return json_refuse(e, i, TS_BAD_INPUT, "an added token of %zu bytes, 1 to %d", n, MOST_TOKEN_BYTES);
        const int64_t own = vocab_find(&t->vocab, content->text, n);
        if ((own >= 0 && own != id) || !vocab_name(&t->vocab, content->text, n, id))
            return json_refuse(e, i, TS_BAD_INPUT, /* most stand in the vocabulary too */
                               "the added token \"%.80s\" is number %lld here, but it or its number is another in the "
                               "vocabulary",
                               content->text, (long long)id);
        const bool special = json_truth(i, "special", false);
        tokenizer_add(t, (added){.s = content->text,
                                 .n = n,
                                 .id = id,
                                 .left = json_truth(i, "lstrip", false),
                                 .right = json_truth(i, "rstrip", false),
                                 .alone = json_truth(i, "single_word", false),
                                 .normalized = json_truth(i, "normalized", !special),
                                 .hidden = special});
    }
    return true;
}

static bool add_template_token(tokenizer *t, ids *l, const json *name, err *e)
{
    const int64_t id = name && name->kind == JSON_TEXT ? tokenizer_id(t, name->text) : -1;
    if (id < 0)
        return json_refuse(e, name ? name : NULL, TS_BAD_INPUT, "a token of the template is not in the vocabulary");
    ids_add(l, id);
    return true;
}

/* "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [101], ...}}, else the token of that name. */
static bool add_template(tokenizer *t, ids *l, const json *v, const json *name, err *e)
{
    const json *all = json_get(v, "special_tokens"),
               *one = all && all->kind == JSON_OBJECT && name && name->kind == JSON_TEXT ? json_get(all, name->text)
                                                                                         : NULL,
               *list = one && one->kind == JSON_OBJECT ? json_get(one, "ids") : NULL;
    if (!list || list->kind != JSON_LIST)
        return add_template_token(t, l, name, e);
    for (const json *i = list->first; i; i = i->next) {
        int64_t id;
        if (!json_whole(i, &id) || id < 0 || id >= t->vocab.n || !t->vocab.by_id[id].s)
            return json_refuse(e, i, TS_BAD_INPUT, "a token of the template is not in the vocabulary");
        ids_add(l, id);
    }
    return true;
}

/* "single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, ...] */
static bool read_template(tokenizer *t, const json *v, ids *before, ids *after, err *e)
{
    const json *single = json_get(v, "single");
    ids *to = before;
    if (!single || single->kind != JSON_LIST)
        return json_refuse(e, v, TS_BAD_INPUT, "no list \"single\"");
    for (const json *i = single->first; i; i = i->next) {
        const json *given = i->kind == JSON_OBJECT ? json_get(i, "SpecialToken") : NULL;
        if (i->kind == JSON_OBJECT && json_get(i, "Sequence") && to == before)
            to = after;
        else if (!given || given->kind != JSON_OBJECT || !json_get(given, "id"))
            return json_refuse(e, i, TS_BAD_INPUT, "a SpecialToken, or the one Sequence, expected");
        else if (!add_template(t, to, v, json_get(given, "id"), e))
            return false;
    }
    return true;
}

/* BertProcessing and RobertaProcessing: "cls": ["[CLS]", 101], "sep": ["[SEP]", 102] */
static bool read_pair(tokenizer *t, const json *v, ids *before, ids *after, err *e)
{
    const json *cls = json_get(v, "cls"), *sep = json_get(v, "sep");
    if (!cls || cls->kind != JSON_LIST || !cls->first || !sep || sep->kind != JSON_LIST || !sep->first)
        return json_refuse(e, v, TS_BAD_INPUT, "\"cls\" and \"sep\" expected, each [\"TOKEN\", NUMBER]");
    return add_template_token(t, before, cls->first, e) && add_template_token(t, after, sep->first, e);
}

/* Around what the tokenizer has around a text so far. */
static void put_around(tokenizer *t, ids *before, ids *after)
{
    for (int64_t i = 0; i < t->before.n; i++)
        ids_add(before, t->before.at[i]);
    for (int64_t i = 0; i < after->n; i++)
        ids_add(&t->after, after->at[i]);
    ids_free(&t->before), ids_free(after);
    t->before = *before;
}

static bool read_post(tokenizer *t, const json *v, err *e)
{
    if (!v || v->kind == JSON_NULL)
        return true;
    const json *kind = json_want(v, JSON_OBJECT, e) ? json_get(v, "type") : NULL;
    if (!kind || kind->kind != JSON_TEXT)
        return json_refuse(e, v, TS_BAD_INPUT, "a post_processor without a \"type\"");
    const bool pair = !strcmp(kind->text, "BertProcessing") || !strcmp(kind->text, "RobertaProcessing");
    if (pair || !strcmp(kind->text, "TemplateProcessing")) {
        ids before = {0}, after = {0};
        const bool ok = pair ? read_pair(t, v, &before, &after, e) : read_template(t, v, &before, &after, e);
        put_around(t, &before, &after);
        return ok;
    }
    if (!strcmp(kind->text, "ByteLevel")) /* shifts offsets, no numbers */
        return true;
    if (!strcmp(kind->text, "Sequence")) {
        const json *all = json_get(v, "processors");
        for (const json *i = all && all->kind == JSON_LIST ? all->first : NULL; i; i = i->next)
            if (!read_post(t, i, e))
                return false;
        return true;
    }
    json_refuse(e, kind, TS_UNSUPPORTED, "post_processor \"%s\" is not supported", kind->text);
    return err_hint(e, "supported are TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel and Sequence");
}

static bool read_model(tokenizer *t, const json *root, err *e)
{
    const json *model = json_get(root, "model"), *kind;
    if (!model || model->kind != JSON_OBJECT)
        return json_refuse(e, root, TS_BAD_INPUT, "no object \"model\"");
    kind = json_get(model, "type");
    if (!kind && json_get(model, "merges")) /* older files */
        t->model = token_model_find("BPE");
    else if (kind && kind->kind == JSON_TEXT)
        t->model = token_model_find(kind->text);
    else if (!kind && json_get(model, "unk_token"))
        t->model = token_model_find(json_get(model, "continuing_subword_prefix") ? "WordPiece" : "WordLevel");
    if (!t->model || !strcmp(t->model->name, "bytes")) {
        json_refuse(e, kind ? kind : model, TS_UNSUPPORTED, "tokens of the kind \"%s\" are not supported",
                    kind && kind->kind == JSON_TEXT ? kind->text : "");
        ENDED_BY(suggest_free) suggestion near = {.word = kind && kind->text ? kind->text : ""};
        for (const token_model *const *m = token_models; *m; m++)
            if (strcmp((*m)->name, "bytes") != 0)
                suggest_offer(&near, (*m)->name);
        return suggest_hint(&near, "supported are", e);
    }
    return read_vocab(t, model, e) && t->model->read(t, model, e);
}

bool tokenizer_json(tokenizer *t, const char *source, size_t n, err *e)
{
    json *root = json_read(&t->mem, t->path, source, n, JSON_DEPTH, e);
    if (!root || !json_want(root, JSON_OBJECT, e))
        return false;
    return steps_read(t, &t->normal, &normalizers, json_get(root, "normalizer"), e) &&
           steps_read(t, &t->split, &pre_tokenizers, json_get(root, "pre_tokenizer"), e) &&
           steps_read(t, &t->decode, &decoders, json_get(root, "decoder"), e) && read_model(t, root, e) &&
           read_added(t, json_get(root, "added_tokens"), e) && read_post(t, json_get(root, "post_processor"), e);
}
