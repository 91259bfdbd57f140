#include "tests/import/reference.h"
#include "graph/base/base.h"

int references_small(const char *targets)
{
    static const struct {
        const char *name;
        double relative;
    } row[] = {
        {"linear", 1e-4},
        {"minilm", 1e-5},
        {"llama", 1e-4},
        {"exports-small/bert_ext", 1e-5},
        {"exports-small/bert_fn15", 1e-5},
        {"exports-small/bert_op11", 1e-5},
        {"exports-small/bert_op17", 1e-5},
        {"exports-small/bert_static_op13", 1e-5},
        {"exports-small/evalmode", 1e-5},
        {"exports-small/gpt2_kv_op14", 1e-5},
        {"exports-small/gpt2_kv_op17", 1e-5},
        {"exports-small/gpt2_op13", 1e-5},
        {"exports-small/gpt2_op17", 1e-5},
        {"exports-small/llama_op14", 1e-5},
        {"exports-small/llama_op17", 1e-5},
        {"exports-small/loopif", 1e-5},
        {"exports-small/minilm_op13", 1e-5},
        {"exports-small/minilm_op17", 1e-5},
        {"exports-small/sdunet_op14", 1e-4},
        {"exports-small/sdunet_op17", 1e-4},
    };
    reference all[COUNT(row)];
    for (int i = 0; i < COUNT(row); i++)
        all[i] = (reference){row[i].name, targets, row[i].relative};
    return references_check(COUNT(all), all);
}
