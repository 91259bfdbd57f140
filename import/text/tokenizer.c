/* tokenizer.c - opening one, and the way of a text through it. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

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

void tokenizer_special(tokenizer *t, special s)
{
    if (s.id < 0)
        return;
    special *all = arena_array(&t->mem, (size_t)t->n_special + 1, sizeof *all);
    if (t->n_special)
        memcpy(all, t->special, (size_t)t->n_special * sizeof *all);
    all[t->n_special++] = s;
    t->special = all;
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
    text source = {0};
    bool good = file_read(t->path, MOST_FILE, &source, e);
    const char *s = text_str(&source);
    if (good)
        good = s[strspn(s, " \t\r\n")] == '{' ? tokenizer_json(t, s, source.length, e)
                                              : tokenizer_lines(t, s, source.length, e);
    text_free(&source);
    return good;
}

ts_tokenizer *ts_tokenizer_open(const char *what, ts_error *e)
{
    if (!err_given(what, "the path of a tokenizer", e))
        return NULL;
    ts_tokenizer *o = heap_array(1, sizeof *o);
    bool good;
    if (!strcmp(what, "bytes")) {
        o->of.path = "bytes";
        o->of.model = token_model_find("bytes");
        good = o->of.model->read(&o->of, NULL, e);
    } else
        good = read_file(&o->of, what, e);
    if (good)
        return o;
    ts_tokenizer_free(o);
    return NULL;
}

void ts_tokenizer_free(ts_tokenizer *o)
{
    if (!o)
        return;
    tokenizer *t = &o->of;
    vocab_free(&t->vocab);
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
    return o && name ? vocab_find(&o->of.vocab, name, strlen(name)) : -1;
}

/* ---- encoding ---- */
static void encode_part(const tokenizer *t, const char *s, size_t n, ids *out)
{
    words now = {0}, next = {0};
    text_bytes(&now.text, s, n);
    for (int i = 0; i < t->n_normal; i++) {
        text to = {0};
        t->normal[i].run(t->normal[i].options, text_str(&now.text), now.text.length, &to);
        text_free(&now.text);
        now.text = to;
    }
    words_cut(&now, 0, now.text.length);
    for (int i = 0; i < t->n_split; i++) {
        const split_step *step = &t->split[i];
        for (int k = 0; k < now.n; k++) {
            const char *part = text_str(&now.text) + now.all[k].at;
            const size_t at = next.text.length;
            if ((step->options & PREFIX_SPACE) && step->cut && *part != ' ')
                text_bytes(&next.text, " ", 1);
            text_bytes(&next.text, part, now.all[k].n);
            step->cut(step->options, &next, at, next.text.length - at);
        }
        words_free(&now);
        now = next, next = (words){0};
    }
    for (int k = 0; k < now.n; k++)
        t->model->encode(t, text_str(&now.text) + now.all[k].at, now.all[k].n, out);
    words_free(&now);
}

static bool word_side(const char *s, size_t n, size_t i, bool before)
{
    uint32_t c = ' ';
    if (before && i > 0) {
        size_t k = i - 1;
        while (k > 0 && i - k < 4 && ((unsigned char)s[k] & 0xC0) == 0x80)
            k--;
        unicode_next(s + k, i - k, &c);
    } else if (!before && i < n)
        unicode_next(s + i, n - i, &c);
    return unicode_is_letter(c) || unicode_is_number(c) || c == '_';
}

/* The longest special token at i, or NULL. */
static const special *special_at(const tokenizer *t, const char *s, size_t n, size_t i)
{
    const special *best = NULL;
    for (int k = 0; k < t->n_special; k++) {
        const special *p = &t->special[k];
        if (p->n > n - i || *p->s != s[i] || memcmp(p->s, s + i, p->n) || (best && best->n >= p->n))
            continue;
        if (!p->alone || (!word_side(s, n, i, true) && !word_side(s, n, i + p->n, false)))
            best = p;
    }
    return best;
}

static size_t blanks_before(const char *s, size_t from, size_t i)
{
    while (i > from && strchr(" \t\n\r", s[i - 1]) && s[i - 1])
        i--;
    return i;
}

static void encode_all(const tokenizer *t, const char *s, size_t n, ids *out)
{
    bool may[256] = {0}; /* a special token may begin with this byte */
    for (int k = 0; k < t->n_special; k++)
        may[(unsigned char)*t->special[k].s] = true;
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        const special *p = may[(unsigned char)s[i]] ? special_at(t, s, n, i) : NULL;
        if (!p)
            continue;
        const size_t stop = p->left ? blanks_before(s, from, i) : i;
        encode_part(t, s + from, stop - from, out);
        ids_add(out, p->id);
        for (from = i + p->n; p->right && from < n && s[from] && strchr(" \t\n\r", s[from]);)
            from++;
        i = from - 1;
    }
    encode_part(t, s + from, n - from, out);
}

int64_t *ts_tokenizer_encode(const ts_tokenizer *o, const char *s, size_t n, bool whole, int64_t *count)
{
    if (!o || (n && !s))
        return *count = 0, NULL;
    const tokenizer *t = &o->of;
    ids out = {0};
    for (int64_t i = 0; whole && i < t->before.n; i++)
        ids_add(&out, t->before.at[i]);
    encode_all(t, s, n, &out);
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
    text out = {0};
    bool first = true;
    for (int64_t i = 0; i < n; i++) {
        bool hidden = id[i] < 0 || id[i] >= t->vocab.n || !t->vocab.by_id[id[i]].s;
        for (int k = 0; k < t->n_special && !hidden; k++)
            hidden = t->special[k].id == id[i] && t->special[k].hidden;
        if (!hidden)
            t->model->decode(t, id[i], first, &out), first = false;
    }
    *bytes = out.length;
    return text_take(&out);
}
