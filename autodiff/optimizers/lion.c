/* lion.c - Chen et al., Symbolic Discovery of Optimization Algorithms, 2023. */
#include "autodiff/optimizer.h"

static void update(recipe *r)
{
    r_state(r, "m");
    r_let(r, "kept", "1-lr*decay");
    r_let(r, "p", "p*kept-lr*sign(beta1*m+(1-beta1)*g)");
    r_let(r, "m", "beta2*m+(1-beta2)*g");
}

const optimizer optimizer_lion = {.name = "lion",
                                  .doc = "Steps of the sign of an average of gradients.",
                                  .settings = "beta1=0.9 beta2=0.99 decay=0",
                                  .update = update};
