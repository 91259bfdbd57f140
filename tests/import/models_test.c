/* Small models as exporters write them, with their reference inputs and outputs. */
#include "tests/import/reference.h"

#include "tests/check.h"

int main(void)
{
    if (references_small("c interp") == 0)
        return check_skip("neither TESSERA_MODELS nor SHARED names a folder with exported models");
    return check_done();
}
