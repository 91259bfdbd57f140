/* manual.c - Markdown and roff from the tables. */
#include "cli/manual.h"

#include "cli/codes.h"
#include "cli/help.h"
#include "cli/usage.h"

#include <string.h>

/* ---- Markdown ---- */

static void put_cell(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '|' || *s == '<')
            fputc('\\', f);
        fputc(*s, f);
    }
}

static void markdown_options(FILE *f, const option_group *g)
{
    fprintf(f, "\n| %s | |\n|---|---|\n", g->title);
    for (const option *o = g->options; o->name; o++) {
        char spelling[128], brief[OPTION_TEXT_MOST];
        help_spell(spelling, sizeof spelling, o);
        fputs("| `", f);
        put_cell(f, spelling + strspn(spelling, " "));
        fputs("` | ", f);
        put_cell(f, option_brief(g, o, brief));
        fputs(" |\n", f);
    }
}

static void markdown_verb(FILE *f, const verb *v)
{
    fprintf(f, "\n## %s\n\n%s.\n\n```sh\n", v->name, v->brief);
    for (int i = 0; v->examples[i]; i++)
        fprintf(f, "%s\n", v->examples[i]);
    fputs("```\n\nUsage:", f);
    for (const char *line = v->usage; line; line = usage_next(line)) {
        fprintf(f, "%s `tessera %s%s%.*s`", line == v->usage ? "" : ",", v->name, *line ? " " : "", usage_length(line),
                line);
    }
    fputc('\n', f);
    for (int i = 0; verb_group(v, i + 1); i++)
        markdown_options(f, verb_group(v, i));
    if (v->details)
        fprintf(f, "\n%s\n", v->details);
}

void manual_markdown(FILE *f)
{
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
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            markdown_verb(f, verbs[i]);
    }
    int shared = 0;
    while (verb_group(verbs[0], shared + 1))
        shared++;
    fputs("\n## Options of every verb\n", f);
    markdown_options(f, verb_group(verbs[0], shared));
    fputs("\n## Exit codes\n\n| code | meaning |\n|---|---|\n", f);
    for (const code_page *p = exit_codes; p->code; p++)
        fprintf(f, "| %s | %s |\n", p->code, p->what);
    fputs("\n## Codes of messages\n\n`tessera help CODE` says what to do about each, as about exit codes.\n\n"
          "| code | meaning |\n|---|---|\n",
          f);
    for (const code_page *p = message_codes; p->code; p++)
        fprintf(f, "| %s | %s |\n", p->code, p->what);
}

/* ---- roff ---- */

static void put_roff(FILE *f, const char *s, int n)
{
    if (n > 0 && (*s == '.' || *s == '\''))
        fputs("\\&", f);
    for (int i = 0; i < n && s[i]; i++) {
        if (s[i] == '\\')
            fputs("\\e", f);
        else if (s[i] == '-')
            fputs("\\-", f);
        else
            fputc(s[i], f);
    }
}

static void man_line(FILE *f, const char *s)
{
    put_roff(f, s, (int)strlen(s));
    fputc('\n', f);
}

static void man_options(FILE *f, const option_group *g)
{
    for (const option *o = g->options; o->name; o++) {
        char spelling[128], brief[OPTION_TEXT_MOST];
        help_spell(spelling, sizeof spelling, o);
        fputs(".TP\n.B ", f);
        man_line(f, spelling + strspn(spelling, " "));
        man_line(f, option_brief(g, o, brief));
    }
}

static void man_verb(FILE *f, const verb *v)
{
    fprintf(f, ".SS %s\n", v->name);
    man_line(f, v->brief);
    for (const char *line = v->usage; line; line = usage_next(line)) {
        fprintf(f, ".PP\n.B tessera %s ", v->name);
        put_roff(f, line, usage_length(line));
        fputc('\n', f);
    }
    fputs(".PP\n.nf\n", f);
    for (int i = 0; v->examples[i]; i++)
        man_line(f, v->examples[i]);
    fputs(".fi\n", f);
    for (int i = 0; verb_group(v, i + 1); i++)
        man_options(f, verb_group(v, i));
    if (!v->details)
        return;
    fputs(".PP\n", f);
    man_line(f, v->details);
}

void manual_man(FILE *f)
{
    fputs(".TH TESSERA 1 \"\" \"tessera " TS_VERSION "\"\n.SH NAME\n"
          "tessera \\- a model runner that shows and steers its schedule\n"
          ".SH SYNOPSIS\n.B tessera\n.I VERB\n[\\fIarguments\\fR]\n.SH VERBS\n",
          f);
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            man_verb(f, verbs[i]);
    }
    int shared = 0;
    while (verb_group(verbs[0], shared + 1))
        shared++;
    fputs(".SH OPTIONS OF EVERY VERB\n", f);
    man_options(f, verb_group(verbs[0], shared));
    fputs(".SH EXIT STATUS\n", f);
    for (const code_page *p = exit_codes; p->code; p++)
        fprintf(f, ".TP\n.B %s\n%s\n", p->code, p->what);
}
