/* completion.c - tessera completion: scripts for shells, from the same tables as help. */
#include "bench/bench.h"
#include "cli/args.h"
#include "cli/help.h"
#include "cli/reply.h"
#include "cli/usage.h"

#include <stdlib.h>
#include <string.h>

/* ---- words that are no files ---- */

static void put_models(FILE *f)
{
    const ts_builder *b;
    for (int i = 0; (b = ts_builder_at(i)); i++)
        fprintf(f, "%s ", b->name);
}

static void put_topics(FILE *f)
{
    for (int i = 0; verbs[i]; i++)
        fprintf(f, "%s ", verbs[i]->hidden ? "" : verbs[i]->name);
    for (int i = 0; help_topic(i); i++)
        fprintf(f, "%s ", help_topic(i));
}

/* Built-in schemas of all targets, each name once. */
static void put_schemas(FILE *f)
{
    ts_error e = {0};
    cJSON *targets = reply_take(ts_schemas_json(), &e), *seen = cJSON_CreateObject();
    const cJSON *target, *name;
    cJSON_ArrayForEach(target, targets)
    {
        cJSON_ArrayForEach(name, target)
        {
            if (cJSON_GetObjectItemCaseSensitive(seen, name->valuestring))
                continue;
            fprintf(f, "%s ", name->valuestring);
            cJSON_AddTrueToObject(seen, name->valuestring);
        }
    }
    cJSON_Delete(targets);
    cJSON_Delete(seen);
}

static void put_schemas_to_use(FILE *f)
{
    fputs("guess ", f);
    put_schemas(f);
}

/* The members "name" of the objects in an array. */
static void put_names(FILE *f, const cJSON *list)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list) fprintf(f, "%s ", js_get_text(item, "name"));
}

static void put_targets(FILE *f)
{
    ts_error e = {0};
    cJSON *targets = reply_take(ts_targets_json(), &e);
    put_names(f, targets);
    cJSON_Delete(targets);
}

static void put_isas(FILE *f)
{
    ts_error e = {0};
    cJSON *machine = reply_take(ts_machine_json(&(ts_options){0}, &e), &e);
    put_names(f, js_get(machine, "isas"));
    cJSON_Delete(machine);
}

static void put_peers(FILE *f)
{
    char known[512];
    peers_known(known, sizeof known);
    for (char *c = known; *c; c++)
        *c = *c == ',' ? ' ' : *c;
    fprintf(f, "%s ", known);
}

static void put_optimizers(FILE *f)
{
    for (int i = 0; ts_optimizer_name(i); i++)
        fprintf(f, "%s ", ts_optimizer_name(i));
}

/* What stands for a kind of option, or for a word of a usage line. */
static const struct offer {
    value_kind kind;
    const char *noun;
    void (*put)(FILE *f);
    bool files; /* or a file */
} offers[] = {
    {A_SCHEMA, NULL, put_schemas_to_use, true},  {A_PEER, NULL, put_peers, false},
    {A_TARGET, NULL, put_targets, false},        {AN_ISA, NULL, put_isas, false},
    {AN_OPTIMIZER, NULL, put_optimizers, false}, {FLAG, "SCHEMA", put_schemas, true},
    {FLAG, "MODEL", put_models, true},           {FLAG, "TOPIC", put_topics, false},
};
enum { OFFERS = sizeof offers / sizeof *offers };

static const struct offer *offer_of(const option *o)
{
    for (int i = 0; i < OFFERS; i++) {
        if (o->kind != FLAG && offers[i].kind == o->kind)
            return &offers[i];
    }
    return NULL;
}

/* The words that may follow a verb: literal ones of its usage, and what its nouns stand for. */
static void put_first_words(FILE *f, const verb *v)
{
    bool put[OFFERS] = {0};
    for (const char *line = v->usage; line; line = usage_next(line)) {
        const char *at = line;
        usage_token t;
        while (usage_token_next(&at, &t)) {
            if (t.literal)
                fprintf(f, "%s ", t.word);
            for (int i = 0; i < OFFERS; i++)
                put[i] |= offers[i].noun && strcmp(t.word, offers[i].noun) == 0;
        }
    }
    for (int i = 0; i < OFFERS; i++) {
        if (put[i])
            offers[i].put(f);
    }
}

static void put_spaced(FILE *f, const char *list)
{
    for (; *list; list++)
        fputc(*list == '|' ? ' ' : *list, f);
}

/* ---- bash ---- */

static void bash_value(FILE *f, const option *o)
{
    const struct offer *offer = offer_of(o);
    if (o->kind == CHOICE)
        fputc('\'', f), put_spaced(f, o->value), fputc('\'', f);
    else if (offer)
        fputc('\'', f), offer->put(f), fprintf(f, "'%s", offer->files ? " files=yes" : "");
    else
        fputs(o->kind == A_FOLDER ? "FOLDER" : "FILE", f);
}

static void bash_verb(FILE *f, const verb *v)
{
    fprintf(f, "    %s)\n        words='", v->name);
    put_first_words(f, v);
    fputs("'\n        options='", f);
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++) {
        for (const option *o = g->options; o->name; o++)
            fprintf(f, "--%s ", o->name);
    }
    fputs("'\n        case $before in\n", f);
    for (int i = 0; (g = verb_group(v, i)); i++) {
        for (const option *o = g->options; o->name; o++) {
            if (o->kind == FLAG)
                continue;
            fprintf(f, "        --%s", o->name);
            if (o->letter)
                fprintf(f, "|-%c", o->letter);
            fputs(") value=", f);
            bash_value(f, o);
            fputs(" ;;\n", f);
        }
    }
    fputs("        esac ;;\n", f);
}

static void bash(FILE *f)
{
    fputs("# bash completion for tessera: source it, or put it into bash-completion's folder.\n"
          "_tessera() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words='' options='' value='' "
          "files=''\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          f);
    for (int i = 0; verbs[i]; i++)
        fprintf(f, "%s ", verbs[i]->hidden ? "" : verbs[i]->name);
    fputs("' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", f);
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            bash_verb(f, verbs[i]);
    }
    fputs("    esac\n"
          "    case $value in\n"
          "    FOLDER) compopt -o filenames; COMPREPLY=($(compgen -d -- \"$word\")) ;;\n"
          "    FILE) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
          "    ?*) COMPREPLY=($(compgen -W \"$value\" -- \"$word\"))\n"
          "        [ -z \"$files\" ] || { compopt -o filenames; COMPREPLY+=($(compgen -f -- \"$word\")); } ;;\n"
          "    *) case $word in\n"
          "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
          "        *) compopt -o filenames; COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- "
          "\"$word\")) ;;\n"
          "        esac ;;\n"
          "    esac\n"
          "}\n"
          "complete -F _tessera tessera\n",
          f);
}

/* ---- zsh ---- */

/* Inside '...' of an _arguments specification: quotes, brackets and colons have a meaning there. */
static void put_zsh(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", f);
        else if (strchr("[]:\\", *s))
            fprintf(f, "\\%c", *s);
        else
            fputc(*s, f);
    }
}

static void zsh_option(FILE *f, const option_group *g, const option *o)
{
    char brief[OPTION_TEXT_MOST];
    const struct offer *offer = offer_of(o);
    fprintf(f, " \\\n            '%s--%s%s[", o->repeats ? "*" : "", o->name, o->kind == FLAG ? "" : "=");
    put_zsh(f, option_brief(g, o, brief));
    fputc(']', f);
    if (o->kind != FLAG) {
        fputc(':', f);
        put_zsh(f, o->value);
        fputc(':', f);
        if (o->kind == CHOICE)
            fputc('(', f), put_spaced(f, o->value), fputc(')', f);
        else if (offer && offer->files)
            fputs("_alternative \"words\\:word\\:(", f), offer->put(f), fputs(")\" \"files\\:file\\:_files\"", f);
        else if (offer)
            fputc('(', f), offer->put(f), fputc(')', f);
        else if (o->kind == A_FOLDER)
            fputs("_files -/", f);
        else if (o->kind == A_FILE || o->kind == PAIR)
            fputs("_files", f);
    }
    fputc('\'', f);
}

static void zsh_verb(FILE *f, const verb *v)
{
    fprintf(f, "    %s)\n        _arguments", v->name);
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++) {
        for (const option *o = g->options; o->name; o++)
            zsh_option(f, g, o);
    }
    fputs(" \\\n            '1: :_alternative \"words\\:word\\:(", f);
    put_first_words(f, v);
    fputs(")\" \"files\\:file\\:_files\"' '*:file:_files' ;;\n", f);
}

static void zsh(FILE *f)
{
    fputs("#compdef tessera\n# zsh completion for tessera: put it as _tessera into a folder of $fpath.\n"
          "if (( CURRENT == 2 )); then\n    local -a verbs=(\n",
          f);
    for (int i = 0; verbs[i]; i++) {
        if (verbs[i]->hidden)
            continue;
        fprintf(f, "        '%s:", verbs[i]->name);
        put_zsh(f, verbs[i]->brief);
        fputs("'\n", f);
    }
    fputs("    )\n    _describe verb verbs\n    return\nfi\nlocal verb=$words[2]\nshift words\n(( CURRENT-- ))\ncase "
          "$verb in\n",
          f);
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            zsh_verb(f, verbs[i]);
    }
    fputs("esac\n", f);
}

/* ---- fish ---- */

static void put_fish(FILE *f, const char *s)
{
    fputc('\'', f);
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\')
            fputc('\\', f);
        fputc(*s, f);
    }
    fputc('\'', f);
}

static void fish_verb(FILE *f, const verb *v)
{
    fprintf(f, "complete -c tessera -n __fish_use_subcommand -f -a %s -d ", v->name);
    put_fish(f, v->brief);
    fprintf(f, "\ncomplete -c tessera -n '__fish_seen_subcommand_from %s' -a '", v->name);
    put_first_words(f, v);
    fputs("'\n", f);
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++) {
        for (const option *o = g->options; o->name; o++) {
            char brief[OPTION_TEXT_MOST];
            fprintf(f, "complete -c tessera -n '__fish_seen_subcommand_from %s' -l %s", v->name, o->name);
            if (o->letter)
                fprintf(f, " -s %c", o->letter);
            if (o->kind == CHOICE)
                fputs(" -x -a '", f), put_spaced(f, o->value), fputc('\'', f);
            else if (offer_of(o))
                fputs(offer_of(o)->files ? " -r -F -a '" : " -x -a '", f), offer_of(o)->put(f), fputc('\'', f);
            else if (o->kind == A_FILE || o->kind == A_FOLDER)
                fputs(" -r -F", f);
            else if (o->kind != FLAG)
                fputs(" -r", f);
            fputs(" -d ", f);
            put_fish(f, option_brief(g, o, brief));
            fputc('\n', f);
        }
    }
}

static void fish(FILE *f)
{
    fputs("# fish completion for tessera: save it as ~/.config/fish/completions/tessera.fish.\n", f);
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            fish_verb(f, verbs[i]);
    }
}

static int run(const args *a, ts_error *e)
{
    (void)e;
    char *script = NULL;
    size_t n = 0;
    FILE *f = a->console.json ? open_memstream(&script, &n) : stdout;
    if (!f)
        return TS_MEMORY;
    if (strcmp(a->form, "bash") == 0)
        bash(f);
    else if (strcmp(a->form, "zsh") == 0)
        zsh(f);
    else
        fish(f);
    if (f == stdout)
        return TS_OK;
    fclose(f);
    cJSON *root = reply_make("completion/1");
    js_text(root, "script", script);
    reply_end(root);
    free(script);
    return TS_OK;
}

static const char *const examples[] = {
    "tessera completion bash > ~/.local/share/bash-completion/completions/tessera",
    "tessera completion fish > ~/.config/fish/completions/tessera.fish",
    NULL,
};

const verb verb_completion = {
    .name = "completion",
    .brief = "Print a completion script for a shell",
    .usage = "bash\nzsh\nfish",
    .examples = examples,
    .run = run,
};
