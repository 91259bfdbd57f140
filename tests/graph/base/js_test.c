/* Members by a form, as one by one. */
/* ctest: fast */
#include "graph/base/js.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static const char *volatile none; /* what the compiler cannot see */

int main(void)
{
    cJSON *list = cJSON_CreateArray(), *o = js_row(list, "name:%s,n:%d,code:%u,bytes:%lld,share:%g,usable:%i",
                                                   "a,b:\"c", -3, 7u, 1LL << 40, 0.1, true);
    CHECK(js_put(o, "less:%g,why:%s,not:%i", (double)NAN, none, false) == o && !js_find(list, NULL, "a"));
    CHECK((js_item(list, "a"), js_find(list, NULL, "a") == o->next) && js_find(list, "name", "a,b:\"c") == o);
    char *s = js_to_text(list, false);
    CHECK_TEXT(s, "[{\"name\":\"a,b:\\\"c\",\"n\":-3,\"code\":7,\"bytes\":1099511627776,\"share\":0.1,\"usable\":true,"
                  "\"less\":null,\"why\":null,\"not\":false},\"a\"]");
    free(s);
    cJSON_Delete(list);
    return check_done();
}
