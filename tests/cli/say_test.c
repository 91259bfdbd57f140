/* Forms filled in from JSON: units, conditions within conditions, lists, hostile texts. */
/* ctest: fast */
#include "cli/say.h"
#include "tests/check.h"

#include <stdlib.h>

static void same(const char *form, const char *want)
{
    static const char json[] =
        "{\"name\":\"a\\u001b[2J\",\"none\":null,\"empty\":\"\",\"no\":false,\"n\":1,\"zero\":0,\"bytes\":8704,"
        "\"share\":0.125,\"dims\":{\"m\":128,\"n\":7},\"points\":{},\"list\":[\"x\",\"y\"],\"inner\":{\"flops\":2e6},"
        "\"rows\":[{\"name\":\"x\",\"bytes\":1024,\"why\":\"because\"},{\"name\":\"y\"}]}";
    cJSON *o = cJSON_Parse(json);
    char *got = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&got, &size);
    say_form(&(paper){.f = f}, o, form);
    fclose(f);
    CHECK_TEXT(got, want);
    free(got);
    cJSON_Delete(o);
}

int main(void)
{
    same("{name} {bytes} {inner/flops} {missing}\n", "a\\x1b[2J 8.50 KiB 2 MFLOP -\n");
    same("{share:%.2f} {share:%.1f%} % {n-} {list#}", "0.12 12.5 % 0 2");
    same("{list,}; {dims=}; {points=}", "x, y; m=128 n=7; ");
    same("[name?yes][none?no][empty?no][no?no][missing?no][points?no][zero?0]", "yes0");
    same("[n=1?one|more][zero=1?s][n>0?+][zero>0?-][missing>0?-]", "one+");
    same("[dims?<[none?{none}|[list?{list,}]]>|else {name}] end", "<x, y> end");
    same("{n:bytes} {bytes:%.0f} [list*<{}{@}>][dims*{@}={};] [dims*{../n}] [list#=2?two|other][list#=1?one]",
         "1 B 8704 <x><y>m=128;n=7; 11 two");
    same("[name=a?no|other][inner*{../list,} ][inner/flops>1?>{[}{]}] {name:%-12s}|", "otherx, y >[] a\\x1b[2J    |");
    same("{dims!!  }{rows!  name|>bytes=size|^why}",
         "  m  128\n  n  7\n  name   size\n  x     1 KiB\n    because\n  y         -\n");
    same("{!bold}b{!} {rows!>@=|name=}", "b   x\n  y\n");
    same("[none?<[name?{name}]>|else [n=1?{n}]][inner@ {flops} of {../n}][missing@x]", "else 1 2 MFLOP of 1");
    same("[^4|  <{n:%-70.0f}>  [list*{} ]ab\nc end]",
         "  <1                                                                     >  x y\n    ab c end");
    same("[rows!  name|>size|~why\n{name}{;}\t[bytes?{bytes} of {../n}|none]\t[why?{why}]][no?[rows!a\n{n}\t{n}]]",
         "  name        size  why\n  x     1 KiB of 1  because\n  y,          none\n");
    return check_done();
}
