/* cache_admin.c - what a target keeps on disk, through the public interface. */
#include "backends/backend.h"

static const keeper *keeper_of(const ts_options *o, err *e)
{
    const backend *b = o && o->target ? backend_find(o->target, e) : backend_usual();
    if (b && !b->kept)
        err_set(e, TS_UNSUPPORTED, "target %s keeps nothing on disk", b->name);
    return b ? b->kept : NULL;
}

static char *given(bool ok, text *t)
{
    if (ok)
        return text_take(t);
    text_free(t);
    return NULL;
}

char *ts_cache_json(const ts_options *o, ts_error *e)
{
    const keeper *k = keeper_of(o, e);
    text t = {0};
    return given(k && k->list(o ? o->cache_folder : NULL, &t, e), &t);
}

char *ts_cache_check(const ts_options *o, ts_error *e)
{
    const keeper *k = keeper_of(o, e);
    text t = {0};
    return given(k && k->check(o ? o->cache_folder : NULL, &t, e), &t);
}

char *ts_cache_prune(const ts_options *o, int64_t limit, ts_error *e)
{
    const keeper *k = keeper_of(o, e);
    text t = {0};
    return given(k && k->prune(o ? o->cache_folder : NULL, limit, &t, e), &t);
}
