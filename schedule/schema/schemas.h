/* schemas.h - the schema files that are part of the library, as text: backends/TARGET/schemas/NAME.json, written into a
 * table by the build. Constant; nothing to free. */
#pragma once

typedef struct builtin_schema {
    const char *target, *name, *text;
} builtin_schema;
extern const builtin_schema builtin_schemas[]; /* ends with {0} */
