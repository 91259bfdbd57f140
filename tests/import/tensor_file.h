/* tensor_file.h - the test data that come with ONNX models: a file with one tensor. */
#ifndef TS_TEST_TENSOR_FILE_H
#define TS_TEST_TENSOR_FILE_H
#include "tessera.h"

/* A new array, yours; false with a reason when there is no such file or it is not what it should be. */
bool tensor_file_read(const char *path, ts_array *out, ts_error *e);
#endif
