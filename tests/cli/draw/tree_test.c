/* ctest: fast */
#include "cli/draw/tree.h"
#include "tests/check.h"

#include <stdlib.h>

/* Two equal layers and a head. Views go to their users; what depends on no weight stands apart; names of outputs are no
 * places. */
static const char model[] = "{\"outputs\":[{\"name\":\"layer.9.out\",\"node\":12}],\"nodes\":["
                            "{\"op\":\"input\",\"label\":\"ids\",\"shape\":[4],\"in\":[]},"
                            "{\"op\":\"weight\",\"label\":\"emb.weight\",\"shape\":[10,8],\"in\":[]},"
                            "{\"op\":\"gather\",\"label\":\"\",\"shape\":[4,8],\"in\":[1,0],\"flops\":0},"
                            "{\"op\":\"weight\",\"label\":\"layer.0.fc.weight\",\"shape\":[8,8],\"in\":[]},"
                            "{\"op\":\"matmul\",\"label\":\"\",\"shape\":[4,8],\"in\":[2,3],\"flops\":512},"
                            "{\"op\":\"relu\",\"label\":\"\",\"shape\":[4,8],\"in\":[4],\"flops\":32},"
                            "{\"op\":\"weight\",\"label\":\"layer.1.fc.weight\",\"shape\":[8,8],\"in\":[]},"
                            "{\"op\":\"matmul\",\"label\":\"\",\"shape\":[4,8],\"in\":[5,6],\"flops\":512},"
                            "{\"op\":\"relu\",\"label\":\"\",\"shape\":[4,8],\"in\":[7],\"flops\":32},"
                            "{\"op\":\"slice\",\"label\":\"\",\"shape\":[1,8],\"in\":[8],\"flops\":0},"
                            "{\"op\":\"weight\",\"label\":\"head.weight\",\"shape\":[8,2],\"in\":[]},"
                            "{\"op\":\"matmul\",\"label\":\"\",\"shape\":[1,2],\"in\":[9,10],\"flops\":32},"
                            "{\"op\":\"exp\",\"label\":\"layer.9.out\",\"shape\":[1,2],\"in\":[11],\"flops\":2},"
                            "{\"op\":\"cast\",\"label\":\"mask\",\"shape\":[4],\"in\":[0],\"flops\":4},"
                            "{\"op\":\"tanh\",\"label\":\"evil\\u001b.x\",\"shape\":[4],\"in\":[13],\"flops\":4},"
                            "{\"op\":\"tanh\",\"label\":\"\",\"shape\":[4],\"in\":[99,-1],\"flops\":4}"
                            "]}";

static char *printed(const cJSON *nodes, int depth)
{
    char *s = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&s, &n);
    branch *tree = tree_make(nodes);
    tree_print(tree, depth, f, false);
    tree_free(tree);
    fclose(f);
    return s;
}

int main(void)
{
    cJSON *nodes = cJSON_Parse(model);
    char *s = printed(nodes, 4);
    CHECK_TEXT(s, "name            parameters        work  operations        result\n"
                  "(no name)                       8 FLOP  cast tanh         [4]\n"
                  "emb                     80              gather            [4, 8]\n"
                  "layer                  128  1.09 kFLOP\n"
                  "  0-1.fc   2 x          64    544 FLOP  matmul relu       [4, 8]\n"
                  "head                    16     34 FLOP  slice matmul exp  [1, 2]\n"
                  "evil\\x1b                        4 FLOP  tanh              [4]\n");
    free(s);
    s = printed(nodes, 1);
    CHECK_TEXT(s, "name         parameters        work  operations        result\n"
                  "(no name)                    8 FLOP  cast tanh         [4]\n"
                  "emb                  80              gather            [4, 8]\n"
                  "layer               128  1.09 kFLOP  matmul relu       [4, 8]\n"
                  "head                 16     34 FLOP  slice matmul exp  [1, 2]\n"
                  "evil\\x1b                     4 FLOP  tanh              [4]\n");
    free(s);
    cJSON_Delete(nodes);
    nodes = cJSON_Parse("{\"nodes\":[]}");
    s = printed(nodes, 4);
    CHECK_TEXT(s, "name    parameters  work  operations  result\n");
    free(s);
    s = printed(NULL, 4);
    CHECK(s);
    free(s);
    cJSON_Delete(nodes);
    return check_done();
}
