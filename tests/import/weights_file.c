#include "tests/import/weights_file.h"
#include "tests/check.h"

#include <string.h>

void weights_file(const char *path, const char *header, const void *data, size_t n)
{
    text t = {0};
    const uint64_t length = strlen(header);
    text_bytes(&t, (const char *)&length, sizeof length);
    text_bytes(&t, header, strlen(header));
    text_bytes(&t, data, n);
    CHECK(file_save(path, t.s, t.length, NULL));
    text_free(&t);
}
