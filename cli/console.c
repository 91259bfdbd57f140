/* console.c - colours, escaping and messages. */
#include "cli/console.h"

#include "graph/base/base.h"
#include "cli/say.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

static bool wants_color(int fd, const char *color)
{
    if (color && strcmp(color, "always") == 0)
        return true;
    if (color && strcmp(color, "never") == 0)
        return false;
    const char *term = env_text("TERM");
    if (env_text("NO_COLOR"))
        return false;
    return term && strcmp(term, "dumb") != 0 && isatty(fd);
}

console console_make(const char *color, bool quiet, bool json)
{
    const char *term = env_text("TERM");
    bool smart = term && strcmp(term, "dumb") != 0;
    return (console){
        .quiet = quiet,
        .json = json,
        .color_out = wants_color(STDOUT_FILENO, color),
        .color_err = wants_color(STDERR_FILENO, color),
        .live = smart && isatty(STDERR_FILENO),
    };
}

const char *console_on(bool color, tone t)
{
    static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[33m", "\033[36m"};
    return color ? codes[t] : "";
}

const char *console_off(bool color)
{
    return color ? "\033[0m" : "";
}

int console_width(void)
{
    struct winsize w;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

paper console_paper(const console *c)
{
    return (paper){stdout, c->color_out, console_width(), NULL};
}

/* Colours of the terminal's own palette: a person's choice of them is kept. */
void put_word(const paper *on, const char *word)
{
    static const struct {
        const char *word;
        tone tone;
    } words[] = {{"VALID", GOOD},     {"FASTER", GOOD},    {"quiet", GOOD},        {"INVALID", BAD},  {"SLOWER", BAD},
                 {"overloaded", BAD}, {"ABSENT", CAUTION}, {"UNDECIDED", CAUTION}, {"busy", CAUTION}, {"SAME", EVEN}};
    for (int i = 0; i < COUNT(words); i++)
        if (on->color && strcmp(words[i].word, word) == 0) {
            fprintf(on->f, "%s%s%s", console_on(true, words[i].tone), word, console_off(true));
            return;
        }
    put_safe(on->f, word);
}

void put_plain(FILE *f, const char *s)
{
    fputs(s, f);
}

void put_safe(FILE *f, const char *s)
{
    ENDED_BY(text_free) text t = {0};
    text_safe(&t, s);
    fputs(text_str(&t), f);
}

/* s is escaped already. */
static int width_of(const char *s)
{
    int width = 0;
    uint32_t c = 0;
    for (size_t n; *s; s += n ? n : 1) {
        n = utf8_next(s, &c);
        width += n ? utf8proc_charwidth((utf8proc_int32_t)c) : 1;
    }
    return width;
}

int safe_width(const char *s)
{
    ENDED_BY(text_free) text t = {0};
    text_safe(&t, s);
    return width_of(text_str(&t));
}

size_t safe_fitting(const char *s, int width)
{
    size_t at = 0;
    uint32_t c = 0;
    for (size_t n; s[at]; at += n ? n : 1) {
        n = utf8_next(s + at, &c);
        width -= n ? utf8proc_charwidth((utf8proc_int32_t)c) : 1;
        if (width < 0)
            break;
    }
    return at;
}

/* Messages may have several lines: a break counts as ours if the next line is indented. */
static void put_message(FILE *f, const char *s)
{
    for (const char *end; (end = strstr(s, "\n  ")); s = end + 1) {
        ENDED_BY(text_free) text line = {0};
        text_bytes(&line, s, (size_t)(end - s));
        put_safe(f, text_str(&line));
        fputc('\n', f);
    }
    put_safe(f, s);
    fputc('\n', f);
}

static void say(const console *c, tone t, const char *kind, const char *fmt, va_list ap)
{
    char *s = NULL;
    if (vasprintf(&s, fmt, ap) < 0)
        return;
    fprintf(stderr, "%s%s:%s ", console_on(c->color_err, t), kind, console_off(c->color_err));
    put_message(stderr, s);
    free(s);
}

void console_note(const console *c, const char *fmt, ...)
{
    if (c->quiet)
        return;
    va_list ap;
    va_start(ap, fmt);
    say(c, FAINT, "note", fmt, ap);
    va_end(ap);
}

void console_warn(const console *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(c, CAUTION, "warning", fmt, ap);
    va_end(ap);
}

void console_error(const console *c, const ts_error *e)
{
    bool color = c->color_err;
    fprintf(stderr, "%serror:%s ", console_on(color, BAD), console_off(color));
    put_message(stderr, e->text);
    if (!c->json)
        return;
    cJSON *root = cJSON_CreateObject(), *error = js_object(root, "error");
    js_put(error, "code:%u,text:%s", e->code, e->text);
    reply_end(root);
}
