/* Models of their real size as exporters write them, with their reference inputs and outputs.
 * ctest: long large timeout=3000 */
#include "tests/import/reference.h"

#include "tests/check.h"

int main(void)
{
    static const char both[] = "c interp";
    static const reference row[] = {
        {"resnet-18", both, 1e-4},
        {"resnet-50", both, 1e-4},
        {"resnet-50-bn", both, 1e-4},
        {"bert-base", both, 1e-4},
        {"bert-base-dynamo", both, 1e-4},
        {"gpt2", both, 1e-4},
        {"gpt2-kv", both, 1e-4},
        {"gpt2-dynamo", both, 1e-4},
        {"t5-small-encoder", both, 1e-4},
        {"t5-small-decoder", both, 1e-4},
        {"whisper-tiny-encoder", both, 1e-4},
        {"whisper-tiny-decoder", both, 1e-4},
        {"clip-text", both, 1e-4},
        {"clip-vision", both, 1e-4},
        {"vit-b-16", both, 1e-4},
        {"sd-unet", both, 1e-4},
    };
    if (references_check(sizeof row / sizeof *row, row) == 0)
        return check_skip("TESSERA_MODELS names no folder with exported models");
    return check_done();
}
