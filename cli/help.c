/* help.c - help in a terminal, by forms: examples, then usage, then options. */
#include "cli/help.h"

#include "cli/say.h"
#include "cli/usage.h"
#include "graph/base/base.h"

#include <stdlib.h>
#include <string.h>

enum { EXAMPLES = 3, EXAMPLE_MOST = 256 }; /* of a short page; bytes of one */

/* Of a verb as help_json has it; options that have no letter stand where names do. */
#define OPTION "[^28|  [letter?{spelling:%-24s}|    {spelling:%-20s}]  {brief}]\n"
#define TOP                                                                                                 \
    "{!bold}tessera {name}{!}: {brief}\n\n{!bold}Examples{!}\n[examples*  {command}{!faint}{comment}{!}\n]" \
    "\n{!bold}Usage{!}\n[lines*  tessera {../name} {line}[line? ]{[}options{]}\n]"
static const char whole_form[] = TOP "\n{!bold}Options{!}\n[groups*[first?|\n][options*" OPTION "]]"
                                     "[details?\n[^0|{details}]\n]",
                  short_form[] = TOP
                  "[options?\n{!bold}Options{!}\n[options*" OPTION "]]"
                  "[more?\n{!bold}More options: tessera {name} --help explains them{!}\n[^2|  [more*--{name} "
                  "]]\n|\ntessera {name} --help says more.\n]",
                  overview_form[] =
                      "Tessera runs neural networks and shows how their loops are tiled.\n\n{!bold}Examples{!}\n"
                      "  tessera bench bert-base -s a.json -s b.json {!faint}# which schema is faster, and why{!}\n"
                      "  tessera run model.onnx --seed 1             {!faint}# a first run, on random inputs{!}\n"
                      "  tessera explain bert-base                   {!faint}# its loops, tile by tile{!}\n"
                      "\n{!bold}Verbs{!}\n[*  {name:%-11s} {brief}\n]"
                      "\ntessera help WORD explains a verb, exit codes (exit), a code (M014), axes.\n";

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
        ENDED_BY(text_free) text line = {0};
        text_bytes(&line, at, (size_t)usage_length(at));
        js_row(lines, "first:%i,line:%s", at == v->usage, text_str(&line));
    }
    char example[EXAMPLE_MOST], command[EXAMPLE_MOST];
    for (const char *at = v->examples; line_next(&at, example, sizeof example);) {
        const int length = (int)strcspn(example, "#");
        snprintf(command, sizeof command, "%.*s", length, example);
        js_row(examples, "command:%s,comment:%s", command, example + length);
    }
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++) {
        cJSON *group = js_row(groups, "title:%s,first:%i", g->title, i == 0), *options = js_array(group, "options");
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

static void put(FILE *f, const cJSON *of, const char *form, bool color)
{
    say_form(&(paper){f, color, 0, put_plain}, of, form);
}

void help_verb(FILE *f, const verb *v, bool color)
{
    ENDED_BY(js_free) cJSON *all = help_json(v);
    put(f, all, whole_form, color);
}

cJSON *help_options_take(cJSON *of)
{
    cJSON *options = js_array(of, "options"), *group, *o;
    cJSON_ArrayForEach(group, cJSON_GetObjectItemCaseSensitive(of, "groups"))
    {
        cJSON *own = cJSON_GetObjectItemCaseSensitive(group, "options");
        while ((o = own->child))
            cJSON_AddItemToArray(options, cJSON_DetachItemViaPointer(own, o));
    }
    return options;
}

/* The page, for free(), and its lines. */
static char *short_page(const cJSON *all, bool color, int *lines)
{
    char *page = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&page, &n);
    if (!f)
        memory_failed(0, "the page");
    put(f, all, short_form, color);
    fclose(f);
    *lines = 0;
    for (const char *c = page; *c; c++)
        *lines += *c == '\n';
    return page;
}

void help_short(FILE *f, const verb *v, bool color)
{
    int lines;
    cJSON *all = help_json(v), *options = help_options_take(all), *more = js_array(all, "more");
    cJSON *examples = cJSON_GetObjectItemCaseSensitive(all, "examples");
    while (cJSON_GetArraySize(examples) > EXAMPLES)
        cJSON_DeleteItemFromArray(examples, EXAMPLES);
    char *page = short_page(all, color, &lines);
    while (lines > HELP_SHORT && options->child) {
        const int last = cJSON_GetArraySize(options) - 1;
        cJSON_InsertItemInArray(more, 0, cJSON_DetachItemFromArray(options, last));
        free(page);
        page = short_page(all, color, &lines);
    }
    fputs(page, f);
    free(page);
    cJSON_Delete(all);
}

void help_overview(FILE *f, bool color)
{
    ENDED_BY(js_free) cJSON *list = cJSON_CreateArray();
    for (int i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden)
            js_row(list, "name:%s,brief:%s", verbs[i]->name, verbs[i]->brief);
    put(f, list, overview_form, color);
}
