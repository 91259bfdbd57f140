/* Every call on plans in every state, on the processor. */
#include "tests/backends/misuse.h"
#include "tests/check.h"

int main(void)
{
    misuse_check(&(ts_options){.target = "interp"});
    misuse_check(&(ts_options){.target = "c", .threads = 2});
    return check_done();
}
