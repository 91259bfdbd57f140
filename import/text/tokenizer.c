/* tokenizer.c - opening one, and the way of a text through it. */
#include "import/text/tokenizer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILE = 1 << 28 }; /* bytes of a tokenizer.json */
struct ts_tokenizer {
    tokenizer of;
};

const token_model *token_model_find(const char *name)
{
    for (const token_model *const *m = token_models; *m; m++)
        if (!strcmp((*m)->name, name))
            return *m;
    return NULL;
}

/* ---- opening ---- */
static const char *find_file(arena *mem, const char *what)
{
    static const char *const inside[] = {"tokenizer.json", "vocab.txt"};
    struct stat st;
    if (stat(what, &st) || !S_ISDIR(st.st_mode))
        return what;
    for (int i = 0; i < COUNT(inside); i++) {
        char *path = arena_format(mem, "%s/%s", what, inside[i]);
        if (!stat(path, &st))
            return path;
    }
    return NULL;
}

static bool read_file(tokenizer *t, const char *what, err *e)
{
    if (!(t->path = find_file(&t->mem, what))) {
        err_set(e, TS_FILES, "the folder '%s' has no tokenizer.json and no vocab.txt", what);
        return err_hint(e, "name the file, or \"bytes\" for a model over bytes");
    }
    t->path = arena_string(&t->mem, t->path);
    ENDED_BY(text_free) text source = {0};
    bool ok = file_read(t->path, MOST_FILE, &source, e);
    const char *s = text_str(&source);
    if (ok)
        ok = s[strspn(s, " \t\r\n")] == '{' ? tokenizer_json(t, s, source.length, e)
                                            : tokenizer_lines(t, s, source.length, e);
    return ok;
}

ts_tokenizer *ts_tokenizer_open(const char *what, ts_error *e)
{
    if (!err_given(what, "the path of a tokenizer", e))
        return NULL;
    ts_tokenizer *o = heap_array(1, sizeof *o);
    bool ok;
    if (!strcmp(what, "bytes")) {
        o->of.path = "bytes";
        o->of.model = token_model_find("bytes");
        ok = o->of.model->read(&o->of, NULL, e);
    } else
        ok = read_file(&o->of, what, e);
    if (ok) {
        if (!o->of.decode.n)
            decode_guess(&o->of);
        tokenizer_ready(&o->of);
        return o;
    }
    ts_tokenizer_free(o);
    return NULL;
}

void ts_tokenizer_free(ts_tokenizer *o)
{
    if (!o)
        return;
    tokenizer *t = &o->of;
    vocab_free(&t->vocab);
    steps_free(&t->normal), steps_free(&t->split), steps_free(&t->decode);
    ids_free(&t->before), ids_free(&t->after);
    arena_free(&t->mem);
    free(o);
}

int64_t ts_tokenizer_size(const ts_tokenizer *o)
{
    return o ? o->of.vocab.n : 0;
}

int64_t ts_tokenizer_id(const ts_tokenizer *o, const char *name)
{
    return o && name ? tokenizer_id(&o->of, name) : -1;
}

/* ---- encoding ---- */
void tokenizer_normal(const tokenizer *t, const char *s, size_t n, text *out)
{
    text_bytes(out, s, n);
    for (int i = 0; i < t->normal.n; i++) {
        const text_step *step = &t->normal.at[i];
        text to = {0};
        step->rewrite(step, text_str(out), out->length, &to);
        text_free(out);
        *out = to;
    }
}

/* A part of the normalised text without added tokens. */
static void encode_words(const tokenizer *t, piece in, ids *out)
{
    words now = {0}, next = {0};
    bool start = in.start;
    text_bytes(&now.text, in.s, in.n);
    words_cut(&now, 0, now.text.length);
    for (int i = 0; i < t->split.n; i++) {
        const text_step *step = &t->split.at[i];
        for (int k = 0; k < now.n; k++) {
            piece part = words_at(&now, k);
            part.start = start && !k;
            step->cut(step, part, &next);
        }
        start = start && next.n && next.all[0].at == 0;
        words_free(&now);
        now = next, next = (words){0};
    }
    for (int k = 0; k < now.n; k++)
        t->model->encode(t, text_str(&now.text) + now.all[k].at, now.all[k].n, out);
    words_free(&now);
}

/* What lies between the added tokens of the one set; those of the other are found in it as it is normalised. */
static void encode_part(const tokenizer *t, piece in, bool raw, ids *out)
{
    size_t from = 0, begin, end;
    added_scan scan = {.set = raw ? &t->raw : &t->normalized, .in = in};
    for (const added *a = NULL; from < in.n || a; from = end) {
        a = added_next(t, &scan, &begin, &end);
        if (!a)
            begin = end = in.n;
        if (from < begin) {
            const piece part = {in.s + from, begin - from, in.start && !from};
            ENDED_BY(text_free) text normal = {0};
            if (raw)
                tokenizer_normal(t, part.s, part.n, &normal);
            if (raw)
                encode_part(t, (piece){text_str(&normal), normal.length, part.start}, false, out);
            else
                encode_words(t, part, out);
        }
        if (a)
            ids_add(out, a->id);
    }
}

int64_t *ts_tokenizer_encode(const ts_tokenizer *o, const char *s, size_t n, bool whole, int64_t *count)
{
    if (!o || (n && !s))
        return *count = 0, NULL;
    const tokenizer *t = &o->of;
    ids out = {0};
    for (int64_t i = 0; whole && i < t->before.n; i++)
        ids_add(&out, t->before.at[i]);
    encode_part(t, (piece){s, n, true}, true, &out);
    for (int64_t i = 0; whole && i < t->after.n; i++)
        ids_add(&out, t->after.at[i]);
    *count = out.n;
    if (!out.at)
        out.at = heap_array(1, sizeof *out.at);
    return out.at;
}

/* ---- decoding ---- */
char *ts_tokenizer_decode(const ts_tokenizer *o, const int64_t *id, int64_t n, size_t *bytes)
{
    if (!o || (n && !id))
        return *bytes = 0, NULL;
    const tokenizer *t = &o->of;
    words now = {0}, next = {0};
    for (int64_t i = 0; i < n; i++) {
        const token *k = id[i] < 0 || id[i] >= t->vocab.n ? NULL : &t->vocab.by_id[id[i]];
        if (k && k->s && !k->hidden)
            words_put(&now, k->s, (size_t)k->n);
    }
    for (int i = 0; i < t->decode.n; i++) {
        t->decode.at[i].join(&t->decode.at[i], &now, &next);
        words_free(&now);
        now = next, next = (words){0};
    }
    text out = {0};
    for (int i = 0; i < now.n; i++)
        text_bytes(&out, words_at(&now, i).s, now.all[i].n);
    words_free(&now);
    *bytes = out.length;
    return text_take(&out);
}
