/* rule.h - one rule of a schema from its JSON: every key checked, every refusal with its place. A rule points
 * into that JSON, which lives as long. */
#pragma once
#include "graph/base/json.h"
#include "schedule/schema/schema.h"

/* g: of schema_use; number: its place among the rules, from 0 */
bool rule_read(arena *mem, const graph *g, const json *v, int number, rule *out, err *e);
