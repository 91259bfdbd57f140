/* ctest: large timeout=1800
 * Built-in models of two layers and models as exporters write them, on the stand-in for the driver with all its
 * checks. */
#include "tests/backends/cuda/rig.h"
#include "tests/check.h"
#include "tests/import/reference.h"
#include "tests/models/agree.h"

int main(void)
{
    static const reference row[] = {
        {"exports-small/bert_op17", "cuda", 1e-5},    {"exports-small/evalmode", "cuda", 1e-5},
        {"exports-small/gpt2_kv_op17", "cuda", 1e-5}, {"exports-small/llama_op17", "cuda", 1e-5},
        {"exports-small/loopif", "cuda", 1e-5},       {"exports-small/sdunet_op17", "cuda", 1e-4},
    };
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    agree_check("cuda");
    agree_generation("cuda");
    references_check(sizeof row / sizeof *row, row);
    return check_done();
}
