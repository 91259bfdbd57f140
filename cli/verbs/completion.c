/* completion.c - tessera completion: scripts for shells, from the same tables as help. */
#include "bench/bench.h"
#include "bench/report/form.h"
#include "cli/args.h"
#include "cli/help.h"
#include "cli/say.h"
#include "cli/usage.h"
#include "graph/base/base.h"

#include <stdlib.h>
#include <string.h>

/* ---- words that are no files ---- */

/* Built-in schemas of all targets, each name once. */
static void add_schemas(cJSON *names)
{
    ts_error e = {0};
    ENDED_BY(js_free) cJSON *targets = reply_take(ts_schemas_json(), &e);
    const cJSON *target, *name;
    cJSON_ArrayForEach(target, targets) cJSON_ArrayForEach(name, target)
    {
        if (!js_find(names, NULL, name->valuestring))
            js_item(names, name->valuestring);
    }
}

static cJSON *known_names(void)
{
    ts_error e = {0};
    const ts_builder *b;
    char peers[512];
    cJSON *root = cJSON_CreateObject(), *models = js_array(root, "models"), *topics = js_array(root, "topics"),
          *optimizers = js_array(root, "optimizers");
    for (int i = 0; (b = ts_builder_at(i)); i++)
        js_item(models, b->name);
    for (int i = 0; verbs[i]; i++)
        js_item(topics, verbs[i]->hidden ? "" : verbs[i]->name);
    for (int i = 0; help_topic(i); i++)
        js_item(topics, help_topic(i));
    for (int i = 0; ts_optimizer_name(i); i++)
        js_item(optimizers, ts_optimizer_name(i));
    add_schemas(js_array(root, "schemas"));
    cJSON_AddItemToObject(root, "targets", reply_take(ts_targets_json(), &e));
    cJSON_AddItemToObject(root, "machine", reply_take(ts_machine_json(&(ts_options){0}, &e), &e));
    peers_known(peers, sizeof peers);
    for (char *c = peers; (c = strchr(c, ','));)
        *c = ' ';
    js_text(root, "peers", peers);
    return root;
}

/* What stands for a kind of option, or for a word of a usage line: a form of known names. */
static const struct offer {
    value_kind kind;
    const char *noun, *form;
    bool files; /* or a file */
} offers[] = {
    {A_SCHEMA, NULL, "guess [schemas*{} ]", true},   {A_PEER, NULL, "{peers} ", false},
    {A_TARGET, NULL, "[targets*{name} ]", false},    {AN_ISA, NULL, "[machine/isas*{name} ]", false},
    {AN_OPTIMIZER, NULL, "[optimizers*{} ]", false}, {FLAG, "SCHEMA", "[schemas*{} ]", true},
    {FLAG, "MODEL", "[models*{} ]", true},           {FLAG, "TOPIC", "[topics*{} ]", false},
};
enum { OFFERS = COUNT(offers) };

/* The words that may follow a verb: literal ones of its usage, and what its nouns stand for. */
static void add_first_words(cJSON *of, const verb *v, const cJSON *known)
{
    bool put[OFFERS] = {0};
    ENDED_BY(text_free) text words = {0};
    for (const char *line = v->usage; line; line = usage_next(line)) {
        const char *at = line;
        usage_token word;
        while (usage_token_next(&at, &word)) {
            if (word.literal)
                text_add(&words, "%s ", word.word);
            for (int i = 0; i < OFFERS; i++)
                put[i] |= offers[i].noun && strcmp(word.word, offers[i].noun) == 0;
        }
    }
    for (int i = 0; i < OFFERS; i++)
        if (put[i])
            say_text(&words, known, offers[i].form);
    js_text(of, "words", text_str(&words));
}

/* What stands for an option's value: words, or else files or folders. */
static void add_value(cJSON *row, const option *o, const cJSON *known)
{
    bool files = false;
    ENDED_BY(text_free) text words = {0};
    for (int i = 0; i < OFFERS; i++)
        if (o->kind != FLAG && offers[i].kind == o->kind)
            say_text(&words, known, offers[i].form), files = offers[i].files;
    for (const char *c = o->kind == CHOICE ? o->value : ""; *c; c++)
        text_add(&words, "%c", *c == '|' ? ' ' : *c);
    js_put(row, "words:%s,files:%i,folder:%i", text_str(&words), files, o->kind == A_FOLDER);
    js_put(row, "file:%i,path:%i", o->kind == A_FILE || o->kind == PAIR, o->kind == A_FILE || o->kind == A_FOLDER);
}

/* Every verb that people see, with what may follow it and its options. */
static cJSON *described(void)
{
    cJSON *root = cJSON_CreateObject(), *list = js_array(root, "verbs"), *known = known_names(), *group, *row;
    for (int i = 0; verbs[i]; i++) {
        if (verbs[i]->hidden)
            continue;
        cJSON *v = help_json(verbs[i]);
        add_first_words(v, verbs[i], known);
        cJSON_ArrayForEach(group, cJSON_GetObjectItemCaseSensitive(v, "groups"))
            cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(group, "options"))
                add_value(row, verb_option(verbs[i], js_get_text(row, "name")), known);
        cJSON_AddItemToArray(list, v);
    }
    cJSON_Delete(known);
    return root;
}

/* ---- scripts ---- */

static void bash(FILE *f, const cJSON *all)
{
    const paper on = {.f = f, .quote = put_plain};
    fputs("# bash completion for tessera: source it, or put it into bash-completion's folder.\n"
          "_tessera() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words='' options='' value='' "
          "files=''\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          f);
    say_form(&on, all, "[verbs*{name} ]");
    fputs("' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", f);
    say_form(&on, all,
             "[verbs*    {name})\n        words='{words}'\n        options='[groups*[options*--{name} ]]'\n"
             "        case $before in\n[groups*[options*[value?        --{name}[letter?{|}-{letter}]) "
             "value=[words?'{words}'[files? files=yes]|[folder?FOLDER|FILE]] ;;\n]]]        esac ;;\n]");
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

static void zsh(FILE *f, const cJSON *all)
{
    say_form(&(paper){.f = f, .quote = put_zsh}, all, page_file("zsh.form"));
}

static void put_fish(FILE *f, const char *s)
{
    for (; *s; s++)
        fprintf(f, *s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
}

static void fish(FILE *f, const cJSON *all)
{
    say_form(&(paper){.f = f, .quote = put_fish}, all, page_file("fish.form"));
}

static int run(const args *a, ts_error *e)
{
    (void)e;
    char *script = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&script, &n);
    if (!f)
        return TS_MEMORY;
    ENDED_BY(js_free) cJSON *all = described();
    (strcmp(a->form, "bash") == 0 ? bash : strcmp(a->form, "zsh") == 0 ? zsh : fish)(f, all);
    fclose(f);
    if (a->console.json)
        reply_end(js_put(reply_make("completion/1"), "script:%s", script));
    else
        fputs(script, stdout);
    free(script);
    return TS_OK;
}

const verb verb_completion = {
    .name = "completion",
    .brief = "Print a completion script for a shell",
    .usage = "bash\nzsh\nfish",
    .examples = "tessera completion bash > ~/.local/share/bash-completion/completions/tessera\n"
                "tessera completion fish > ~/.config/fish/completions/tessera.fish",
    .run = run,
};
