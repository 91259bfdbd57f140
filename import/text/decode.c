/* decode.c - the steps that make text of tokens again: a table, each row one "decoder" of tokenizer.json. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <string.h>

/* ---- WordPiece ---- */
static void tidy(piece in, text *out)
{
    static const char *const pair[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                          {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                          {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    text a = {0}, b = {0};
    text_bytes(&a, in.s, in.n);
    for (int i = 0; i < COUNT(pair); i++) {
        b.length = 0;
        text_replace(&b, (piece){.s = text_str(&a), .n = a.length}, pair[i][0], pair[i][1]);
        const text other = a;
        a = b, b = other;
    }
    text_bytes(out, text_str(&a), a.length);
    text_free(&a), text_free(&b);
}

static bool wordpiece_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t;
    s->content = "##", s->options = json_truth(v, "cleanup", true);
    return !json_get(v, "prefix") ? (s->n_content = 2, true) : step_content(s, v, "prefix", e);
}

static void join_wordpiece(const text_step *s, const words *in, words *out)
{
    for (int i = 0; i < in->n; i++) {
        piece p = words_at(in, i);
        const size_t at = out->text.length;
        ENDED_BY(text_free) text one = {0};
        if (i && p.n >= s->n_content && !memcmp(p.s, s->content, s->n_content))
            p.s += s->n_content, p.n -= s->n_content;
        else if (i)
            text_bytes(&one, " ", 1);
        text_bytes(&one, p.s, p.n);
        p = (piece){.s = text_str(&one), .n = one.length};
        if (s->options)
            tidy(p, &out->text);
        else
            text_bytes(&out->text, p.s, p.n);
        words_end(out, at);
    }
}

/* ---- BPE with a suffix, CTC ---- */
static bool suffix_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t;
    s->content = "</w>";
    return json_text_of(v, "suffix", &s->content, e);
}

static void join_suffix(const text_step *s, const words *in, words *out)
{
    for (int i = 0; i < in->n; i++) {
        const size_t at = out->text.length;
        text_replace(&out->text, words_at(in, i), s->content, i + 1 < in->n ? " " : "");
        words_end(out, at);
    }
}

static bool ctc_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    const char *blank = "<pad>", *gap = "|";
    if (!json_text_of(v, "pad_token", &blank, e) || !json_text_of(v, "word_delimiter_token", &gap, e))
        return false;
    const char **both = arena_array(&t->mem, 2, sizeof *both);
    both[0] = blank, both[1] = gap;
    s->own = both, s->options = json_truth(v, "cleanup", true);
    return true;
}

/* Of equal tokens in a row one, without blanks. */
static void join_ctc(const text_step *s, const words *in, words *out)
{
    const char *const *both = s->own;
    for (int i = 0; i < in->n; i++) {
        const piece p = words_at(in, i), before = i ? words_at(in, i - 1) : (piece){0};
        if (i && p.n == before.n && !memcmp(p.s, before.s, p.n))
            continue;
        const size_t at = out->text.length;
        ENDED_BY(text_free) text one = {0}, tidied = {0};
        text_replace(&one, p, both[0], "");
        if (s->options) {
            tidy((piece){.s = text_str(&one), .n = one.length}, &tidied);
            text_replace(&out->text, (piece){.s = text_str(&tidied), .n = tidied.length}, both[1], " ");
        } else
            text_bytes(&out->text, text_str(&one), one.length);
        words_cut(out, at, out->text.length - at);
    }
}

/* ---- tokens of one byte ---- */
static int byte_token(piece p)
{
    static const char digits[] = "0123456789ABCDEFabcdef";
    if (p.n != 6 || memcmp(p.s, "<0x", 3) != 0 || p.s[5] != '>' || !p.s[3] || !p.s[4])
        return -1;
    int byte = 0;
    for (int i = 3; i < 5; i++) {
        const char *at = strchr(digits, p.s[i]);
        if (!at)
            return -1;
        byte = 16 * byte + (int)(at - digits) - (at - digits > 15 ? 6 : 0);
    }
    return byte;
}

/* A run of bytes is a text where it is well-formed as a whole, else U+FFFD for each of them. */
static void put_bytes(text *run, words *out)
{
    bool ok = true;
    for (size_t i = 0, step; ok && i < run->length; i += step)
        ok = (step = unicode_well(run->s + i, run->length - i));
    if (ok && run->length)
        words_put(out, run->s, run->length);
    for (size_t i = 0; !ok && i < run->length; i++)
        words_put(out, "\xEF\xBF\xBD", 3);
    run->length = 0;
}

static void join_bytes(const text_step *s, const words *in, words *out)
{
    (void)s;
    ENDED_BY(text_free) text run = {0};
    for (int i = 0; i < in->n; i++) {
        const piece p = words_at(in, i);
        const int byte = byte_token(p);
        if (byte >= 0)
            text_bytes(&run, &(char){(char)byte}, 1);
        else
            put_bytes(&run, out), words_put(out, p.s, p.n);
    }
    put_bytes(&run, out);
}

/* ---- any ---- */
static void join_all(const text_step *s, const words *in, words *out)
{
    for (int i = 0; i < in->n; i++) {
        const piece p = words_at(in, i);
        text_bytes(&out->text, s->content, i ? s->n_content : 0);
        text_bytes(&out->text, p.s, p.n);
    }
    words_end(out, 0);
}

static bool strip_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t;
    return json_character_of(v, "content", &s->mark, e) && json_count_of(v, "start", &s->start, e) &&
           json_count_of(v, "stop", &s->stop, e);
}

static void join_strip(const text_step *s, const words *in, words *out)
{
    for (int i = 0; i < in->n; i++) {
        piece p = words_at(in, i);
        uint32_t c;
        size_t step;
        for (int64_t k = 0; k < s->start && p.n && (step = unicode_next(p.s, p.n, &c), c == s->mark); k++)
            p.s += step, p.n -= step;
        for (int64_t k = 0; k < s->stop && p.n; k++, p.n = step) {
            step = unicode_back(p.s, 0, p.n);
            unicode_next(p.s + step, p.n - step, &c);
            if (c != s->mark)
                break;
        }
        words_put(out, p.s, p.n);
    }
}

static void join_replace(const text_step *s, const words *in, words *out)
{
    for (int i = 0; i < in->n; i++) {
        const size_t at = out->text.length;
        step_replace(s, words_at(in, i), &out->text);
        words_end(out, at);
    }
}

static const text_step known[] = {
    {"ByteLevel", .join = bytelevel_join},
    {"Metaspace", metaspace_read, .join = metaspace_join},
    {"WordPiece", wordpiece_read, .join = join_wordpiece},
    {"BPEDecoder", suffix_read, .join = join_suffix},
    {"CTC", ctc_read, .join = join_ctc},
    {"ByteFallback", .join = join_bytes},
    {"Fuse", .join = join_all},
    {"Strip", strip_read, .join = join_strip},
    {"Replace", step_replace_read, .join = join_replace},
    {0},
};
const steps_kind decoders = {"decoder", "decoders", known};

/* Where a file names no decoder: what its tokens are made of says how they are joined. */
void decode_guess(tokenizer *t)
{
    text_step *s = &t->decode.at[t->decode.n++];
    const text_step *blanks = steps_find(&t->split, "Metaspace");
    if (steps_find(&t->split, "ByteLevel") || steps_find(&t->normal, "ByteLevel"))
        *s = (text_step){"ByteLevel", .join = bytelevel_join};
    else if (blanks)
        *s = (text_step){"Metaspace", .join = metaspace_join, .options = blanks->options, .mark = blanks->mark};
    else if (!strcmp(t->model->name, "WordPiece"))
        *s = (text_step){"WordPiece", .join = join_wordpiece, .content = wordpiece_prefix(t)};
    else
        *s = (text_step){"Fuse", .join = join_all, .content = strcmp(t->model->name, "bytes") ? " " : ""};
    s->n_content = s->content ? strlen(s->content) : 0;
}
