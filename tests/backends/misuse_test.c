/* Every call on plans in every state, on the processor. The header is read: a function that takes a plan and is not
 * called in misuse.c is a failure. */
#include "tests/backends/misuse.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(const char *file)
{
    enum { MOST = 1 << 20 };
    const char *source = getenv("SOURCE");
    char path[4096], *text = calloc(MOST, 1);
    snprintf(path, sizeof path, "%s/%s", source ? source : ".", file);
    FILE *f = fopen(path, "r");
    if (CHECK(text && f))
        CHECK(fread(text, 1, MOST - 1, f) > 0);
    if (f)
        fclose(f);
    return text;
}

static bool takes_plan(const char *open)
{
    return !strncmp(open, "(ts_plan *", 10) || !strncmp(open, "(const ts_plan *", 16) ||
           !strncmp(open, "(ts_runner *", 12);
}

static void every_function_called(const char *file, int least)
{
    char *header = text_of(file), *calls = text_of("tests/backends/misuse.c"), name[128];
    int n = 0;
    for (const char *at = header; at && (at = strstr(at, "\nTS_API ")); at++) {
        const char *open = at + strcspn(at, "("), *begin = open;
        if (!takes_plan(open))
            continue;
        while (begin[-1] != ' ' && begin[-1] != '*')
            begin--;
        snprintf(name, sizeof name, "%.*s(", (int)(open - begin), begin), n++;
        if (!CHECK(strstr(calls, name)))
            printf("%s) has no row in misuse.c\n", name);
    }
    CHECK(n >= least);
    free(header), free(calls);
}

int main(void)
{
    every_function_called("include/tessera.h", 20), every_function_called("include/tessera_shared.h", 4);
    misuse_check(&(ts_options){.target = "interp"});
    misuse_check(&(ts_options){.target = "c", .threads = 2});
    return check_done();
}
