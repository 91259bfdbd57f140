/* ctest: long large timeout=1800
 * Two layers of BERT-base over 128 tokens, on an OpenCL device: what comes out lies as near the interpreter's as sums
 * of 3072 products in f32 can. */
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"
#include "tests/models/outcome.h"

#include <stdio.h>

static const double close_enough = 1e-5;

int main(void)
{
    ts_error e = {0};
    arrays judge = {0}, ours = {0};
    rig_hurry();
    ts_model *m = rig_model("bert-base-2", "batch=1 seq=128", &e);
    arrays in = m ? outcome_inputs(m, 7) : (arrays){0};
    if (CHECK(m && outcome_run(m, "interp", &in, &judge, &e) && outcome_run(m, "opencl", &in, &ours, &e)) &&
        CHECK(ours.n == 2))
        for (int k = 0; k < ours.n; k++) {
            const double off = outcome_distance(&ours.at[k], &judge.at[k]);
            printf("result %d: off by %.3g of the largest\n", k, off);
            CHECK(off <= close_enough);
        }
    else
        printf("%s\n", e.text);
    arrays_free(&in), arrays_free(&judge), arrays_free(&ours);
    ts_model_free(m);
    return check_done();
}
