/* codes.c - the texts of `tessera help CODE`. */
#include "cli/codes.h"

#include "bench/report/form.h"
#include "graph/base/base.h"

cJSON *codes_make(void)
{
    cJSON *all = cJSON_Parse(page_file("codes.json"));
    MUST(all);
    return all;
}
