/* name.c - one pass over the bytes of a name; the message says what has it and where it goes wrong. */
#include "import/name.h"

#include <string.h>

bool name_check(const char *s, size_t n, size_t most, const char *what, err *e)
{
    char copy[LOCATION_MOST + 1]; /* terminated, so that a sequence cut short is seen as such */
    MUST(most < sizeof copy);
    if (n > most)
        return err_set(e, TS_BAD_INPUT, "M014 %s: %zu bytes, limit %zu", what, n, most);
    if (n > 0)
        memcpy(copy, s, n);
    copy[n] = 0;
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t code;
        step = utf8_next(copy + i, &code);
        if (step == 0)
            return err_set(e, TS_BAD_INPUT, "M014 %s: invalid UTF-8 at byte %zu", what, i);
        if (code < 0x20 || (code >= 0x7F && code <= 0x9F))
            return err_set(e, TS_BAD_INPUT, "M014 %s: control character U+%04X at byte %zu", what, (unsigned)code, i);
    }
    return true;
}
