/* codes.h - what exit codes and the codes of messages mean, and what to do about each, as cli/pages/codes.json says:
 * help and the manual print it. A code keeps its meaning for good. Objects are the caller's, for cJSON_Delete. */
#pragma once
#include "graph/base/js.h"

/* "exit" and "messages": by code, "3" or "M014", one sentence, its "meaning", and what to do next, its "remedy" */
cJSON *codes_make(void);
