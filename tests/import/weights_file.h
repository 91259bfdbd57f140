/* weights_file.h - writes safetensors files, good ones and bad ones. What is given is only read; the file is the
 * caller's to remove. */
#ifndef TS_TEST_WEIGHTS_FILE_H
#define TS_TEST_WEIGHTS_FILE_H
#include "graph/base/base.h"

/* The header as given, its length in front, then n bytes of data. */
void weights_file(const char *path, const char *header, const void *data, size_t n);
#endif
