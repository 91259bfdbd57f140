/* help.c - help in a terminal: usage, then examples, then options. */
#include "cli/help.h"

#include "cli/usage.h"

#include <string.h>

void help_spell(char *out, size_t size, const option *o)
{
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const char *value = o->kind == FLAG ? "" : o->value;
    snprintf(out, size, "%s--%s%s%s", letter, o->name, *value ? " " : "", value);
}

/* Words of s between columns `from` and HELP_WIDTH, `used` of which are taken on this line; ends the line. */
static void put_wrapped(FILE *f, const char *s, int from, int used)
{
    int column = used;
    for (bool first = true; *s; first = false) {
        int length = (int)strcspn(s, " \n");
        if (!first && column + 1 + length > HELP_WIDTH)
            column = fprintf(f, "\n%*s", from, "") - 1;
        else if (!first)
            column += fprintf(f, " ");
        column += fprintf(f, "%.*s", length, s);
        s += length;
        s += strspn(s, " \n");
    }
    fputc('\n', f);
}

void help_text(FILE *f, const char *s)
{
    put_wrapped(f, s, 0, 0);
}

static void put_heading(FILE *f, const char *title, bool color)
{
    fprintf(f, "\n%s%s%s\n", console_on(color, BOLD), title, console_off(color));
}

static void put_example(FILE *f, const char *example, bool color)
{
    const char *mark = strchr(example, '#');
    int length = (int)(mark ? mark - example : (long)strlen(example));
    fprintf(f, "  %.*s%s%s%s\n", length, example, console_on(color, FAINT), mark ? mark : "", console_off(color));
}

static void put_options(FILE *f, const option_group *g)
{
    enum { BRIEF_AT = 28 };
    for (const option *o = g->options; o->name; o++) {
        char spelling[128];
        help_spell(spelling, sizeof spelling, o);
        int used = fprintf(f, "  %-*s  ", BRIEF_AT - 4, spelling);
        put_wrapped(f, o->brief, BRIEF_AT, used);
    }
}

void help_verb(FILE *f, const verb *v, bool color)
{
    fprintf(f, "%stessera %s%s: %s\n", console_on(color, BOLD), v->name, console_off(color), v->brief);
    put_heading(f, "Examples", color);
    for (int i = 0; v->examples[i]; i++)
        put_example(f, v->examples[i], color);
    put_heading(f, "Usage", color);
    for (const char *line = v->usage; line; line = usage_next(line)) {
        int length = usage_length(line);
        fprintf(f, "  tessera %s %.*s%s[options]\n", v->name, length, line, length ? " " : "");
    }
    put_heading(f, "Options", color);
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++) {
        if (i > 0)
            fputc('\n', f);
        put_options(f, g);
    }
    if (v->details) {
        fputc('\n', f);
        put_wrapped(f, v->details, 0, 0);
    }
}

void help_overview(FILE *f, bool color)
{
    fputs("Tessera runs neural networks and shows how their loops are tiled.\n", f);
    put_heading(f, "Examples", color);
    put_example(f, "tessera bench bert-base -s a.json -s b.json # which schema is faster, and why", color);
    put_example(f, "tessera run model.onnx --seed 1             # a first run, on random inputs", color);
    put_example(f, "tessera explain bert-base                   # its loops, tile by tile", color);
    put_heading(f, "Verbs", color);
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            fprintf(f, "  %-11s %s\n", verbs[i]->name, verbs[i]->brief);
    }
    fputs("\ntessera help VERB explains a verb; tessera help exit the exit codes,\n"
          "tessera help M014 a message's code, tessera help axes the axis letters.\n",
          f);
}
