/* libarchive.c - opens the library and finds its functions. */
#include "cli/cases/libarchive.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libarchive.so.13" /* the only one whose functions are these, since 2013 */

static const struct {
    const char *name;
    size_t place; /* of the pointer, in the record */
} functions[] = {{"archive_read_new", offsetof(libarchive, read_new)},
                 {"archive_read_support_filter_all", offsetof(libarchive, support_filters)},
                 {"archive_read_support_format_all", offsetof(libarchive, support_formats)},
                 {"archive_read_open_filename", offsetof(libarchive, open_file)},
                 {"archive_read_next_header", offsetof(libarchive, next)},
                 {"archive_read_data", offsetof(libarchive, read_data)},
                 {"archive_error_string", offsetof(libarchive, error)},
                 {"archive_read_free", offsetof(libarchive, free)},
                 {"archive_entry_pathname", offsetof(libarchive, entry_path)},
                 {"archive_entry_filetype", offsetof(libarchive, entry_type)}};

bool libarchive_open(libarchive *out, ts_error *e)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), *at = library;
    for (int i = 0; at && i < COUNT(functions); i++)
        if ((at = dlsym(library, functions[i].name)))
            memcpy((char *)out + functions[i].place, &at, sizeof at);
    if (at)
        return true;
    err_set(e, TS_FILES, "archives cannot be read here: %s", dlerror());
    return err_hint(e, "install libarchive (libarchive13), or unpack the archive and name its folder");
}
