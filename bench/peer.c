/* peer.c - other runtimes: a script NAME.py each, in bench/peers or a back end's peers, which speaks bench/protocol.h.
 * Adding one is adding its file. */
#include "graph/base/err.h"
#include "bench/race.h"
#include "graph/base/base.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Where the build gathered them, beside this program or the folder that it is in, or where it was installed to. */
enum { FOLDER = RACE_PATH - 512 };
static bool peers_folder(const race *r, char path[FOLDER])
{
    static const char *const from[] = {"peers", "../peers", "../share/tessera/peers"};
    char self[RACE_PATH / 2];
    if (r->o.peers_folder) {
        snprintf(path, FOLDER, "%s", r->o.peers_folder);
        return file_is_folder(path);
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = 0;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        snprintf(path, FOLDER, "%s/%s", self, from[i]);
        if (file_is_folder(path))
            return true;
    }
    return false;
}

static void list_scripts(const char *folder, char *out, size_t size)
{
    DIR *d = opendir(folder);
    size_t used = 0;
    out[0] = 0;
    for (const struct dirent *entry; d && (entry = readdir(d)) && used < size;) {
        size_t n = strlen(entry->d_name);
        if (n > 3 && entry->d_name[0] != '_' && strcmp(entry->d_name + n - 3, ".py") == 0)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", used > 0 ? ", " : "", (int)n - 3,
                                     entry->d_name);
    }
    if (d)
        closedir(d);
}

void peers_known(char *out, size_t size)
{
    char folder[FOLDER];
    const race r = {0};
    out[0] = 0;
    if (peers_folder(&r, folder))
        list_scripts(folder, out, size);
}

bool peer_script(const race *r, const char *name, char path[RACE_PATH], ts_error *e)
{
    char folder[FOLDER], known[512];
    if (!peers_folder(r, folder)) {
        err_set(e, TS_FILES, "peer %s: the folder with the scripts of peers is not beside this program", name);
        return err_hint(e, "the build makes it, from bench/peers and the peers of back ends");
    }
    bool plain = *name != 0 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(name);
    snprintf(path, RACE_PATH, "%s/%.200s.py", folder, plain ? name : "?");
    if (plain && is_file(path))
        return true;
    list_scripts(folder, known, sizeof known);
    err_set(e, TS_USAGE, "unknown peer \"%s\"", name);
    return err_hint(e, "known: %s", known);
}

static bool is_named_onnx(const char *model)
{
    size_t n = strlen(model);
    return n > 5 && strcmp(model + n - 5, ".onnx") == 0;
}

/* A network that is no ONNX file is written as one, at the race's extents, into its folder. */
static bool write_model(const race *r, const char *path, ts_error *e)
{
    const bench_options *o = &r->o;
    ts_model *m = ts_model_open_within(r->model, o->n_limits, o->limits, e);
    const bool ok = m && ts_model_bind(m, o->n_dims, o->dims, NULL, e) && ts_model_save(m, "onnx", path, e);
    ts_model_free(m);
    return ok;
}

bool peer_model(race *r, ts_error *e)
{
    const char *within = is_named_onnx(r->model) ? "" : "/model.onnx", *given = r->model;
    if (snprintf(r->peer_model, sizeof r->peer_model, "%s%s", given, within) >= (int)sizeof r->peer_model)
        return err_set(e, TS_USAGE, "the model's path has more than %d bytes", RACE_PATH);
    if (!*within || is_file(r->peer_model)) /* a file that is missing is the candidates' to report */
        return true;
    snprintf(r->peer_model, sizeof r->peer_model, "%s/model.onnx", r->folder);
    return write_model(r, r->peer_model, e);
}
