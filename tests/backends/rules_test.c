/* ctest: large
 * Small graphs under rules that steer the generator into corners: the interpreter's numbers, to the bit. */
#include "tests/backends/shrink.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>

static const struct corner {
    const char *row, *rules;
} corners[] = {
    /* a padded operand is copied at a folded loop with nothing but the tile within */
    {"x f32[3,4,33,3]; y max_pool kernel=[2,2] strides=[2,2] pads=[1,0,0,0] x",
     "{\"loops\":\"kw kh+a oh@unroll ow@vector\"}"},
    {"x f32[4,7,3,4]; w! f32[4,7,1,2]; y conv2d strides=[1,2] pads=[0,1,0,0] x w",
     "{\"loops\":\"kh n oc ic kw+a oh@unroll ow@vector\"}"},
};

int main(void)
{
    scratch folder = scratch_make();
    char path[200];
    snprintf(path, sizeof path, "%s/rules.json", folder.path);
    for (int i = 0; i < COUNT(corners); i++) {
        fault f = {.number = i, .o = {.schema = path, .cache_dir = "none", .threads = 2}};
        err e = {0};
        text_add(&f.row, "%s", corners[i].row);
        text_add(&f.schema, "{\"format\":\"tiling/1\",\"rules\":[%s]}\n", corners[i].rules);
        if (!CHECK(fault_compute(&f, &e) == AS_WANTED))
            printf("  %s\n  %s\n  %s\n", corners[i].row, corners[i].rules, e.text);
        text_free(&f.row), text_free(&f.schema);
    }
    scratch_remove(&folder);
    return check_done();
}
