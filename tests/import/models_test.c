/* Small models as exporters write them, with their reference inputs and outputs. */
#include "tests/import/reference.h"

#include "tests/check.h"

int main(void)
{
    static const char both[] = "c interp";
    static const reference row[] = {
        {"linear", both, 1e-4},
        {"minilm", both, 1e-5},
        {"llama", both, 1e-4},
        {"exports-small/bert_ext", both, 1e-5},
        {"exports-small/bert_fn15", both, 1e-5},
        {"exports-small/bert_op11", both, 1e-5},
        {"exports-small/bert_op17", both, 1e-5},
        {"exports-small/bert_static_op13", both, 1e-5},
        {"exports-small/evalmode", both, 1e-5},
        {"exports-small/gpt2_kv_op14", both, 1e-5},
        {"exports-small/gpt2_kv_op17", both, 1e-5},
        {"exports-small/gpt2_op13", both, 1e-5},
        {"exports-small/gpt2_op17", both, 1e-5},
        {"exports-small/llama_op14", both, 1e-5},
        {"exports-small/llama_op17", both, 1e-5},
        {"exports-small/loopif", both, 1e-5},
        {"exports-small/minilm_op13", both, 1e-5},
        {"exports-small/minilm_op17", both, 1e-5},
        {"exports-small/sdunet_op14", both, 1e-4},
        {"exports-small/sdunet_op17", both, 1e-4},
    };
    if (references_check(sizeof row / sizeof *row, row) == 0)
        return check_skip("neither TESSERA_MODELS nor SHARED names a folder with exported models");
    return check_done();
}
