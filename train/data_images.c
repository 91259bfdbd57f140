/* data_images.c - arrays of pictures and their labels as MNIST, FashionMNIST (idx) and CIFAR-10, CIFAR-100 have them:
 * bytes become f32 in 0...1 with a channel axis, [example, channel, row, column]; labels become i64. */
#include "graph/base/base.h"
#include "train/data_parts.h"
#include "train/files.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 32, PIXELS = 3 * SIDE * SIDE, IDX_U8 = 8 };

static bool is_idx(const bytes *f)
{
    const unsigned char *b = (const unsigned char *)f->at;
    return f->n >= 4 && !b[0] && !b[1] && b[2] == IDX_U8 && b[3] >= 1 && b[3] <= 3;
}

/* Two zeros, the dtype, the rank, then extents of four bytes, the highest first. */
static bool idx_shape(const char *path, const bytes *f, int64_t dim[3], size_t *at, ts_error *e)
{
    const int rank = f->at[3];
    size_t all = 1;
    *at = 4 + 4 * (size_t)rank;
    for (int i = 0; i < rank && f->n >= *at; i++) {
        const unsigned char *b = (const unsigned char *)f->at + 4 + 4 * i;
        dim[i] = (int64_t)b[0] << 24 | (int64_t)b[1] << 16 | (int64_t)b[2] << 8 | (int64_t)b[3];
        all = size_mul(all, (size_t)dim[i], &all) ? all : SIZE_MAX;
    }
    if (f->n >= *at && f->n - *at == all)
        return true;
    err_set(e, TS_BAD_INPUT, "'%s' has %zu bytes, which are not those of the extents that its first bytes say", path,
            f->n);
    return err_hint(e, "it is cut off or damaged: fetch it again");
}

static bool idx_read(const char *path, const bytes *f, ts_array *out, ts_error *e)
{
    const int rank = f->at[3];
    int64_t dim[3] = {0};
    size_t at;
    if (!idx_shape(path, f, dim, &at, e))
        return false;
    const int64_t shape[] = {dim[0], 1, dim[1], dim[2]};
    const bool ok = rank == 1   ? ts_array_make(out, TS_I64, 1, dim, e)
                    : rank == 2 ? ts_array_make(out, TS_F32, 2, dim, e)
                                : ts_array_make(out, TS_F32, 4, shape, e);
    const int64_t n = ok ? ts_array_count(out) : 0;
    const unsigned char *from = (const unsigned char *)f->at + at;
    for (int64_t i = 0; i < n; i++)
        if (rank == 1)
            ((int64_t *)out->data)[i] = from[i];
        else
            ((float *)out->data)[i] = (float)from[i] / 255;
    return ok;
}

/* Records of a label, or of a coarse and a fine one, and the bytes of a picture. */
static bool cifar_read(const bytes *f, bool label, ts_array *out, ts_error *e)
{
    const size_t before = f->n % (PIXELS + 1) ? 2 : 1, record = PIXELS + before, n = f->n / record;
    const unsigned char *b = (const unsigned char *)f->at;
    if (!ts_array_make(out, label ? TS_I64 : TS_F32, label ? 1 : 4, (int64_t[]){(int64_t)n, 3, SIDE, SIDE}, e))
        return false;
    for (size_t i = 0; i < n && label; i++)
        ((int64_t *)out->data)[i] = b[i * record + before - 1];
    for (size_t i = 0; i < n && !label; i++)
        for (size_t k = 0; k < PIXELS; k++)
            ((float *)out->data)[i * PIXELS + k] = (float)b[i * record + before + k] / 255;
    return true;
}

bool data_is_images(const char *path)
{
    return path_ends(path, "-ubyte") || path_ends(path, ".idx") || path_ends(path, ".bin");
}

bool data_images(const char *name, const char *path, ts_array *out, ts_error *e)
{
    ENDED_BY(bytes_free) bytes f = {0};
    if (!bytes_read(path, &f, e))
        return false;
    if (is_idx(&f))
        return idx_read(path, &f, out, e);
    if (f.n && path_ends(path, ".bin") && (f.n % (PIXELS + 1) == 0 || f.n % (PIXELS + 2) == 0))
        return cifar_read(&f, strcmp(name, "label") == 0, out, e);
    err_set(e, TS_BAD_INPUT, "'%s' is neither an idx file of bytes nor whole records of CIFAR", path);
    return err_hint(e, f.n > 2 && !memcmp(f.at, "\x1f\x8b", 2)
                           ? "it is compressed: gunzip it"
                           : "idx begins with 0 0 8 and the rank; records have 3073 bytes, those of CIFAR-100 3074");
}
