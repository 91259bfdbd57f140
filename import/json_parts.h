/* json_parts.h - the parts that a graph/1 file is read in: small values (json_value.c), what a graph consists of
 * (json_body.c), the file around it (json.c). All that is read lives in the source's arena. */
#pragma once
#include "graph/base/json.h"
#include "import/names.h"
#include "import/reader.h"

enum { GRAPH_DEPTH = 128 }; /* of lists and objects: graphs in graphs take four each */

typedef struct json_source {
    arena *mem;
    int n_weight; /* tensors of the weights' file */
    const held *weight;
    bool *inner; /* of each: it is meant under another name, so it is no value of the outermost graph by itself */
    name_table by_name;
    bool in_function; /* attributes may be a caller's */
} json_source;

/* ---- json_value.c ---- */
bool json_comment(const json *member);
/* The member `key`, which must be of the kind given; NULL where absent, which json_need refuses. */
bool json_member(const json *object, const char *key, json_kind kind, const json **out, err *e);
bool json_need(const json *object, const char *key, json_kind kind, const json **out, err *e);
bool json_name(const json *v, err *e); /* whether it may be a name */
bool json_need_name(const json *object, const char *key, const char **out, err *e);
bool json_dtype(const json *v, dtype *out, err *e);
bool json_extent(const json *v, int64_t *out, err *e);
bool json_shape(const json *list, ts_port *out, err *e);
/* As d has it, also "NaN", "Infinity", "-Infinity"; another number beyond d is refused. */
bool json_real(const json *v, dtype d, double *out, err *e);
bool json_is_real(const json *v);
/* {"dtype": "f32", "shape": [2], "data": [0.5, 1]}, row by row; or {"weight": "KEY"}, a tensor of the weights' file. */
bool json_tensor(json_source *s, const json *v, held *out, err *e);

/* ---- json_body.c ---- */
const char *json_kind_of(int64_t letter); /* of attr.kind: "float"; NULL: none, or unknown */
bool json_opsets(arena *mem, const json *root, opset **out, int *n, err *e);
bool json_ports(json_source *s, const json *list, bool typed, ts_port **out, int *n, err *e); /* typed: with dtypes */
bool json_constants(json_source *s, const json *root, body *out, err *e);                     /* more held values */
bool json_steps(json_source *s, const json *root, body *out, err *e);
bool json_functions(json_source *s, const json *root, model_file *f, err *e);
