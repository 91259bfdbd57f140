/* read.c - what a tokenizer is, from its file: vocab.txt, a token a line, or tokenizer.json. Files are untrusted. */
#include "import/text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH = 32 }; /* of objects in objects */

bool json_truth(const json *object, const char *key, bool otherwise)
{
    const json *m = json_get(object, key);
    return m && m->kind == JSON_TRUTH ? m->truth : otherwise;
}

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
        tokenizer_special(t, (special){.s = known[i],
                                       .n = strlen(known[i]),
                                       .hidden = true,
                                       .id = vocab_find(&t->vocab, known[i], strlen(known[i]))});
    t->normal[t->n_normal++] = normal_bert;
    t->split[t->n_split++] = split_bert;
    template_put(t, &t->before, "[CLS]"), template_put(t, &t->after, "[SEP]");
    return wordpiece_setup(t, e);
}

/* ---- tokenizer.json ---- */
static bool read_vocab(tokenizer *t, const json *model, err *e)
{
    const json *all = json_get(model, "vocab");
    if (!all || all->kind != JSON_OBJECT)
        return json_refuse(e, model, TS_BAD_INPUT, "no object \"vocab\" of tokens and their numbers");
    for (const json *i = all->first; i; i = i->next) {
        int64_t id;
        text raw = {0};
        if (!json_whole(i, &id) || id < 0 || id >= MOST_TOKENS)
            return json_refuse(e, i, TS_BAD_INPUT, "a token's number is whole, at least 0 and below %d", MOST_TOKENS);
        if (!t->bytes || !byte_level(i->key, &raw))
            raw.length = 0, text_add(&raw, "%s", i->key);
        char *s = arena_get(&t->mem, raw.length + 1);
        memcpy(s, text_str(&raw), raw.length);
        const size_t n = raw.length;
        text_free(&raw);
        if (n > MOST_TOKEN_BYTES)
            return json_refuse(e, i, TS_BAD_INPUT, "a token of %zu bytes, at most %d", n, MOST_TOKEN_BYTES);
        if (!vocab_add(&t->vocab, s, n, id))
            return json_refuse(e, i, TS_BAD_INPUT, "token %lld, or its number, twice", (long long)id);
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
        if (!vocab_add(&t->vocab, content->text, n, id) && vocab_find(&t->vocab, content->text, n) != id)
            return json_refuse(e, i, TS_BAD_INPUT, /* most stand in the vocabulary too */
                               "the added token \"%.80s\" is number %lld here, but it or its number is another in the "
                               "vocabulary",
                               content->text, (long long)id);
        tokenizer_special(t, (special){.s = content->text,
                                       .n = n,
                                       .id = id,
                                       .left = json_truth(i, "lstrip", false),
                                       .right = json_truth(i, "rstrip", false),
                                       .alone = json_truth(i, "single_word", false),
                                       .hidden = json_truth(i, "special", false)});
    }
    return true;
}

static bool add_template_token(tokenizer *t, ids *l, const json *name, err *e)
{
    const int64_t id = name && name->kind == JSON_TEXT ? vocab_find(&t->vocab, name->text, strlen(name->text)) : -1;
    if (id < 0)
        return json_refuse(e, name ? name : NULL, TS_BAD_INPUT, "a token of the template is not in the vocabulary");
    ids_add(l, id);
    return true;
}

/* "single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, ...] */
static bool read_template(tokenizer *t, const json *v, err *e)
{
    const json *single = json_get(v, "single");
    ids *to = &t->before;
    if (!single || single->kind != JSON_LIST)
        return json_refuse(e, v, TS_BAD_INPUT, "no list \"single\"");
    for (const json *i = single->first; i; i = i->next) {
        const json *given = i->kind == JSON_OBJECT ? json_get(i, "SpecialToken") : NULL;
        if (i->kind == JSON_OBJECT && json_get(i, "Sequence"))
            to = &t->after;
        else if (!given || given->kind != JSON_OBJECT || !json_get(given, "id"))
            return json_refuse(e, i, TS_BAD_INPUT, "a SpecialToken or a Sequence expected");
        else if (!add_template_token(t, to, json_get(given, "id"), e))
            return false;
    }
    return true;
}

/* BertProcessing and RobertaProcessing: "cls": ["[CLS]", 101], "sep": ["[SEP]", 102] */
static bool read_pair(tokenizer *t, const json *v, err *e)
{
    const json *cls = json_get(v, "cls"), *sep = json_get(v, "sep");
    if (!cls || cls->kind != JSON_LIST || !cls->first || !sep || sep->kind != JSON_LIST || !sep->first)
        return json_refuse(e, v, TS_BAD_INPUT, "\"cls\" and \"sep\" expected, each [\"TOKEN\", NUMBER]");
    return add_template_token(t, &t->before, cls->first, e) && add_template_token(t, &t->after, sep->first, e);
}

static bool read_post(tokenizer *t, const json *v, err *e)
{
    if (!v || v->kind == JSON_NULL)
        return true;
    const json *kind = json_want(v, JSON_OBJECT, e) ? json_get(v, "type") : NULL;
    if (!kind || kind->kind != JSON_TEXT)
        return json_refuse(e, v, TS_BAD_INPUT, "a post_processor without a \"type\"");
    if (!strcmp(kind->text, "TemplateProcessing"))
        return read_template(t, v, e);
    if (!strcmp(kind->text, "BertProcessing") || !strcmp(kind->text, "RobertaProcessing"))
        return read_pair(t, v, e);
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
    if (!t->model) {
        json_refuse(e, kind ? kind : model, TS_UNSUPPORTED, "tokens of the kind \"%s\" are not supported",
                    kind && kind->kind == JSON_TEXT ? kind->text : "");
        text names = {0};
        for (const token_model *const *m = token_models; *m; m++)
            text_add(&names, "%s%s", names.length ? ", " : "", (*m)->name);
        err_hint(e, "supported are %s", text_str(&names));
        return text_free(&names), false;
    }
    return read_vocab(t, model, e) && t->model->read(t, model, e);
}

bool tokenizer_json(tokenizer *t, const char *source, size_t n, err *e)
{
    json *root = json_read(&t->mem, t->path, source, n, JSON_DEPTH, e);
    if (!root || !json_want(root, JSON_OBJECT, e))
        return false;
    const json *normal = json_get(root, "normalizer"), *split = json_get(root, "pre_tokenizer");
    return (!normal || normal_read(t, normal, e)) && (!split || split_read(t, split, e)) && read_model(t, root, e) &&
           read_added(t, json_get(root, "added_tokens"), e) && read_post(t, json_get(root, "post_processor"), e);
}
