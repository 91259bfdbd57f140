/* cache_admin.c - what a target keeps on disk, through the public interface. */
#include "backends/backend.h"

static const keeper *keeper_of(const ts_options *o, err *e)
{
    const backend *b = o && o->target ? backend_find(o->target, e) : backend_usual();
    if (b && !b->kept)
        err_set(e, TS_UNSUPPORTED, "target %s keeps nothing on disk", b->name);
    return b ? b->kept : NULL;
}

char *ts_cache_json(const ts_options *o, ts_error *e)
{
    const keeper *k = keeper_of(o, e);
    ENDED_BY(text_free) text t = {0};
    return k && k->list(o ? o->cache_folder : NULL, &t, e) ? text_take(&t) : NULL;
}

char *ts_cache_check(const ts_options *o, ts_error *e)
{
    const keeper *k = keeper_of(o, e);
    ENDED_BY(text_free) text t = {0};
    return k && k->check(o ? o->cache_folder : NULL, &t, e) ? text_take(&t) : NULL;
}

char *ts_cache_prune(const ts_options *o, int64_t limit, ts_error *e)
{
    const keeper *k = keeper_of(o, e);
    ENDED_BY(text_free) text t = {0};
    return k && k->prune(o ? o->cache_folder : NULL, limit, &t, e) ? text_take(&t) : NULL;
}
