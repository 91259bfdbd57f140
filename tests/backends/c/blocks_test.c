#include "tests/backends/blocks.h"
#include "tests/check.h"

int main(void)
{
    blocks_check(&(ts_options){.target = "c"}, true);
    return check_done();
}
