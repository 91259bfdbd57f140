/* help.c - help in a terminal: usage, then examples, then options. */
#include "cli/help.h"

#include "cli/usage.h"
#include "graph/base/base.h"

#include <stdlib.h>
#include <string.h>

enum { EXAMPLES = 3, BRIEF_AT = 28 }; /* of a short page; column of what options do */

/* "-s, --schema FILE" into out */
static void help_spell(char *out, size_t size, const option *o)
{
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const char *value = o->kind == FLAG ? "" : o->value;
    snprintf(out, size, "%s--%s%s%s", letter, o->name, *value ? " " : "", value);
}

cJSON *help_json(const verb *v)
{
    cJSON *root = cJSON_CreateObject();
    js_put(root, "name:%s,brief:%s,usage:%s", v->name, v->brief, v->usage);
    cJSON *lines = js_array(root, "lines"), *examples = js_array(root, "examples"), *groups = js_array(root, "groups");
    for (const char *at = v->usage; at; at = usage_next(at)) {
        text line = {0};
        text_bytes(&line, at, (size_t)usage_length(at));
        js_row(lines, "first:%i,line:%s", at == v->usage, text_str(&line));
        text_free(&line);
    }
    for (int i = 0; v->examples[i]; i++)
        js_item(examples, v->examples[i]);
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++) {
        cJSON *group = js_row(groups, "title:%s", g->title), *options = js_array(group, "options");
        for (const option *o = g->options; o->name; o++) {
            char spelling[128], brief[OPTION_TEXT_MOST];
            help_spell(spelling, sizeof spelling, o);
            cJSON *row = js_row(options, "name:%s,value:%s,brief:%s,repeats:%i", o->name,
                                o->kind == FLAG ? "" : o->value, option_brief(g, o, brief), o->repeats);
            js_text(row, "spelling", spelling + strspn(spelling, " "));
            if (o->letter)
                js_put(row, "letter:%s", (const char[]){o->letter, 0});
        }
    }
    if (v->details)
        js_text(root, "details", v->details);
    return root;
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

static void put_option(FILE *f, const option_group *g, const option *o)
{
    char spelling[128], brief[OPTION_TEXT_MOST];
    help_spell(spelling, sizeof spelling, o);
    int used = fprintf(f, "  %-*s  ", BRIEF_AT - 4, spelling);
    put_wrapped(f, option_brief(g, o, brief), BRIEF_AT, used);
}

static void put_title(FILE *f, const verb *v, bool color)
{
    fprintf(f, "%stessera %s%s: %s\n", console_on(color, BOLD), v->name, console_off(color), v->brief);
}

static void put_usage(FILE *f, const verb *v, bool color)
{
    put_heading(f, "Usage", color);
    for (const char *line = v->usage; line; line = usage_next(line)) {
        int length = usage_length(line);
        fprintf(f, "  tessera %s %.*s%s[options]\n", v->name, length, line, length ? " " : "");
    }
}

void help_verb(FILE *f, const verb *v, bool color)
{
    put_title(f, v, color);
    put_heading(f, "Examples", color);
    for (int i = 0; v->examples[i]; i++)
        put_example(f, v->examples[i], color);
    put_usage(f, v, color);
    put_heading(f, "Options", color);
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++) {
        if (i > 0)
            fputc('\n', f);
        for (const option *o = g->options; o->name; o++)
            put_option(f, g, o);
    }
    if (v->details) {
        fputc('\n', f);
        put_wrapped(f, v->details, 0, 0);
    }
}

/* ---- the short page ---- */

/* The i-th option of all groups, and its group; or NULL. */
static const option *option_at(const verb *v, int i, const option_group **of)
{
    for (int k = 0; (*of = verb_group(v, k)); k++) {
        for (const option *o = (*of)->options; o->name; o++) {
            if (i-- == 0)
                return o;
        }
    }
    return NULL;
}

/* Names of the options from the i-th on, wrapped. */
static void put_names(FILE *f, const verb *v, int i)
{
    char *names = NULL;
    size_t n = 0;
    const option_group *g;
    FILE *list = open_memstream(&names, &n);
    if (!list)
        memory_failed(0, "the names of options");
    for (const option *o; (o = option_at(v, i, &g)); i++)
        fprintf(list, "--%s ", o->name);
    fclose(list);
    fputs("  ", f);
    put_wrapped(f, names, 2, 2);
    free(names);
}

static void put_short(FILE *f, const verb *v, int explained, bool color)
{
    const option_group *g;
    put_title(f, v, color);
    put_heading(f, "Examples", color);
    for (int i = 0; v->examples[i] && i < EXAMPLES; i++)
        put_example(f, v->examples[i], color);
    put_usage(f, v, color);
    if (explained > 0)
        put_heading(f, "Options", color);
    for (int i = 0; i < explained; i++) {
        const option *o = option_at(v, i, &g);
        put_option(f, g, o);
    }
    if (option_at(v, explained, &g)) {
        char title[128];
        snprintf(title, sizeof title, "More options: tessera %s --help explains them", v->name);
        put_heading(f, title, color);
        put_names(f, v, explained);
    } else {
        fprintf(f, "\ntessera %s --help says more.\n", v->name);
    }
}

static char *short_page(const verb *v, int explained, bool color, int *lines)
{
    char *page = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&page, &n);
    if (!f)
        memory_failed(0, "the page");
    put_short(f, v, explained, color);
    fclose(f);
    *lines = 0;
    for (const char *c = page; *c; c++)
        *lines += *c == '\n';
    return page;
}

void help_short(FILE *f, const verb *v, bool color)
{
    int explained = 0, lines;
    const option_group *g;
    while (option_at(v, explained, &g))
        explained++;
    char *page = short_page(v, explained, color, &lines);
    while (lines > HELP_SHORT && explained > 0) {
        free(page);
        page = short_page(v, --explained, color, &lines);
    }
    fputs(page, f);
    free(page);
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
