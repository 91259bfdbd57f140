/* config.c - tessera config: what is set, and where. */
#include "cli/say.h"
#include "cli/session.h"

#include <stdio.h>

/* Where nobody says it, in its group's words */
static const char *usual(const verb *v, const option *o, char out[OPTION_TEXT_MOST])
{
    const option_group *g;
    *out = 0;
    for (int i = 0; (g = verb_group(v, i)); i++)
        for (const option *x = g->options; x->name; x++)
            if (x == o && !o->usual && g->usual)
                g->usual(o, out);
    if (o->usual)
        snprintf(out, OPTION_TEXT_MOST, "%s", o->usual);
    return *out ? out : o->kind == FLAG ? "false" : NULL;
}

static void put_setting(cJSON *rows, const args *a, const option *o)
{
    char standard[OPTION_TEXT_MOST], variable[SETTING_VARIABLE], flag[64];
    const bool has_option = verb_option(a->verb, o->name) != NULL;
    const struct settled *s = setting_of(&a->config, o->name);
    const char *value = s->value ? s->value : usual(a->verb, o, standard), *from = s->value ? s->from : "default";
    snprintf(flag, sizeof flag, "--%s", o->name);
    if (has_option && args_count(a, o->name))
        value = o->kind == FLAG ? "true" : args_text(a, o->name), from = flag;
    js_row(rows, "name:%s,value:%s,from:%s,option:%s,variable:%s,does:%s", o->name, value, from,
           has_option ? flag : NULL, setting_variable(o, variable), o->brief);
}

static const char form[] = "{settings!name|value|from}\n"
                           "[files*[found?{path} is read\n|{path} is not there\n]]";

/* A value of the command line is refused as anywhere else; one of a file is shown, whatever it is. */
static bool plans(const args *a, ts_error *e)
{
    const ts_options o = session_options(a);
    ts_graph *g = ts_graph_make();
    const ts_tensor one = ts_scalar(g, TS_F32, 1);
    ts_plan *p = ts_plan_of(g, 1, &one, 0, NULL, &o, e);
    const bool ok = p != NULL;
    ts_plan_free(p), ts_graph_free(g);
    return ok;
}

static int run(const args *a, ts_error *e)
{
    if ((args_count(a, "target") || args_count(a, "isa")) && !plans(a, e))
        return (int)e->code;
    cJSON *root = reply_make("config/1"), *files = js_array(root, "files"), *rows = js_array(root, "settings");
    const option *o;
    for (int i = SETTING_FILES - 1; i >= 0; i--)
        if (a->config.file[i])
            js_row(files, "path:%s,found:%i", a->config.file[i], a->config.found[i]);
    for (int i = 0; (o = setting_at(i)); i++)
        put_setting(rows, a, o);
    reply_give(a, root, form);
    return TS_OK;
}

const verb verb_config = {
    .name = "config",
    .brief = "Show settings: values, and where each one is from",
    .usage = "",
    .groups = session_plan_groups,
    .examples = "tessera config\n"
                "tessera config --threads 2 # with an option, which goes first\n"
                "tessera config --json # for programs",
    .details = "An option goes before a variable, TESSERA_ and its name as in TESSERA_CACHE_DIR, that before "
               "tessera.toml in the current folder, that before tessera/tessera.toml in $XDG_CONFIG_HOME or ~/.config. "
               "A file has lines such as threads = 2, target = \"c\" and as-written = true; # begins a comment. A "
               "folder's file may not say what decides which programs run: cc and cache-dir.",
    .run = run,
};
