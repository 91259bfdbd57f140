/* verb.c - looking up verbs and their options. */
#include "cli/verb.h"

#include "cli/value.h"

#include <stdio.h>
#include <string.h>

static const option shared_options[] = {
    {"json", 0, FLAG, NULL, "one JSON object on standard output", ONCE},
    {"quiet", 'q', FLAG, NULL, "no progress, no notes", ONCE},
    {"color", 0, CHOICE, "auto|always|never", "auto: not in pipes", "auto", false, 0, 0},
    {"help", 'h', FLAG, NULL, "the whole page; -h: what fits a screen", ONCE},
    {0},
};
static const option_group shared_group = {"Every verb", shared_options, NULL};
/* For verbs with a --json of their own, which names a file. */
static const option_group plain_group = {"Every verb", shared_options + 1, NULL};

const verb *verb_find(const char *name)
{
    for (int i = 0; verbs[i]; i++) {
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    }
    return NULL;
}

static const option_group *group_at(const verb *v, int i) /* but for the shared one */
{
    const int own = v->own.options != NULL;
    return i < own ? &v->own : v->groups ? v->groups[i - own] : NULL;
}

const option_group *verb_group(const verb *v, int i)
{
    int n = 0;
    bool json = false;
    for (const option_group *g; (g = group_at(v, n)); n++)
        for (const option *o = g->options; o->name; o++)
            json = json || strcmp(o->name, "json") == 0;
    return i < n ? group_at(v, i) : i > n ? NULL : json ? &plain_group : &shared_group;
}

const option *verb_option_at(const verb *v, int i)
{
    const option_group *g;
    for (int k = 0; (g = verb_group(v, k)); k++)
        for (const option *o = g->options; o->name; o++)
            if (i-- == 0)
                return o;
    return NULL;
}

const option *verb_option(const verb *v, const char *name)
{
    const option *o;
    for (int i = 0; (o = verb_option_at(v, i)) && strcmp(o->name, name) != 0;)
        i++;
    return o;
}

const option *verb_letter(const verb *v, char letter)
{
    const option *o;
    for (int i = 0; (o = verb_option_at(v, i)) && (!letter || o->letter != letter);)
        i++;
    return o;
}

bool verb_answers_json(const verb *v)
{
    return verb_option(v, "json")->kind == FLAG;
}

const char *option_brief(const option_group *g, const option *o, char out[OPTION_TEXT_MOST])
{
    char usual[OPTION_TEXT_MOST] = "";
    if (o->usual)
        snprintf(usual, sizeof usual, "%s", o->usual);
    else if (g->usual)
        g->usual(o, usual);
    snprintf(out, OPTION_TEXT_MOST, *usual ? "%s (default: %s)" : "%s%s", o->brief, usual);
    return out;
}

void option_usual(const usual_number *list, const option *o, char out[OPTION_TEXT_MOST])
{
    *out = 0;
    for (; list->option; list++)
        if (strcmp(list->option, o->name) == 0)
            value_spell(o, list->value, out, OPTION_TEXT_MOST);
}
