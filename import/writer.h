/* writer.h - a network to a file: the counterpart of reader.h, one per format. What was read from one format and
 * written in another has the same steps, names, symbols and bits. Records are constant; the network is only read and
 * stays the caller's. */
#pragma once
#include "import/reader.h"

typedef struct writer {
    const char *name;
    const char *suffix; /* of the files that it makes: ".onnx"; NULL: it makes a folder */
    bool typed;         /* wants the dtype of every output */
    /* What stands at path is replaced when all is written. Files beside it: as the format needs them. */
    bool (*write)(const model_file *f, const char *path, err *e);
} writer;
extern const writer *const writers[]; /* const writer writer_NAME in import/, gathered by the build; ends with NULL */
