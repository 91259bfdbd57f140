/* manual.c - Markdown and roff from the tables, by forms. */
#include "cli/manual.h"

#include "cli/codes.h"
#include "cli/help.h"
#include "cli/say.h"

/* Verbs with options of their own, those that all share, and codes. */
static cJSON *manual_json(void)
{
    cJSON *root = codes_make(), *list = js_array(root, "verbs");
    for (int i = 0; verbs[i]; i++) {
        cJSON *v = help_json(verbs[i]), *groups = cJSON_GetObjectItemCaseSensitive(v, "groups");
        cJSON *shared = cJSON_DetachItemFromArray(groups, cJSON_GetArraySize(groups) - 1);
        if (i)
            cJSON_Delete(shared);
        else
            cJSON_AddItemToObject(root, "shared", shared);
        if (verbs[i]->hidden)
            cJSON_Delete(v);
        else
            cJSON_AddItemToArray(list, v);
    }
    return root;
}

/* ---- Markdown ---- */

#define TABLE "\n| {title} | |\n|---|---|\n[options*| `{spelling}` | {brief} |\n]"
#define CODES "| code | meaning |\n|---|---|\n"

static void put_cell(FILE *f, const char *s)
{
    for (; *s; s++)
        fprintf(f, *s == '|' || *s == '<' ? "\\%c" : "%c", *s);
}

void manual_markdown(FILE *f)
{
    const paper plain = {.f = f, .quote = put_plain}, cells = {.f = f, .quote = put_cell};
    ENDED_BY(js_free) cJSON *all = manual_json();
    const cJSON *v;
    fputs("# Commands\n\nWritten by `tessera help --markdown` from the tables that the command itself uses.\n"
          "Options may stand anywhere; `--` ends them; `--name=value` and `--name value` mean the same; the last one "
          "counts\n"
          "where an option is not said to be repeated. `-` is standard output for the files that bench, report, schema "
          "and show\n"
          "write, and standard input for the results that compare and report read and for `predict --file`; elsewhere "
          "it is\n"
          "the name of a file.\n"
          "What --json prints, and every other file in JSON, has a JSON Schema in [formats](formats).\n",
          f);
    cJSON_ArrayForEach(v, js_get(all, "verbs"))
    {
        say_form(&plain, v,
                 "\n## {name}\n\n{brief}.\n\n```sh\n[examples*{command}{comment}\n]```\n\n"
                 "Usage:[lines*[first?|,] `tessera {../name}[line? {line}]`]\n");
        say_form(&cells, v, "[groups*" TABLE "]");
        say_form(&plain, v, "[details?\n{details}\n]");
    }
    fputs("\n## Options of every verb\n", f);
    say_form(&cells, js_get(all, "shared"), TABLE);
    say_form(&plain, all,
             "\n## Exit codes\n\n" CODES "[exit*| {@} | {meaning} |\n]"
             "\n## Codes of messages\n\n`tessera help CODE` says what to do about each, as about exit codes.\n\n" CODES
             "[messages*| {@} | {meaning} |\n]");
}

/* ---- roff ---- */

static void put_roff(FILE *f, const char *s)
{
    if (*s == '.' || *s == '\'')
        fputs("\\&", f);
    for (; *s; s++)
        fprintf(f, *s == '\\' ? "\\e" : *s == '-' ? "\\-" : "%c", *s);
}

void manual_man(FILE *f)
{
    static const char form[] = ".TH TESSERA 1 \"\" \"tessera " TS_VERSION "\"\n.SH NAME\n"
                               "tessera \\- a model runner that shows and steers its schedule\n"
                               ".SH SYNOPSIS\n.B tessera\n.I VERB\n{[}\\fIarguments\\fR{]}\n.SH VERBS\n"
                               "[verbs*.SS {name}\n{brief}\n[lines*.PP\n.B tessera {../name} "
                               "{line}\n].PP\n.nf\n[examples*{command}{comment}\n].fi\n"
                               "[groups*[options*.TP\n.B {spelling}\n{brief}\n]][details?.PP\n{details}\n]]"
                               ".SH OPTIONS OF EVERY VERB\n[shared/options*.TP\n.B {spelling}\n{brief}\n]"
                               ".SH EXIT STATUS\n[exit*.TP\n.B {@}\n{meaning}\n]";
    ENDED_BY(js_free) cJSON *all = manual_json();
    say_form(&(paper){.f = f, .quote = put_roff}, all, form);
}
