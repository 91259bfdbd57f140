/* adam.c - Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015. */
#include "autodiff/optimizer.h"

static void update(recipe *r)
{
    r_state(r, "m"), r_state(r, "v");
    if (r_setting(r, "decay") > 0)
        r_let(r, "g", "g+decay*p");
    r_let(r, "m", "beta1*m+(1-beta1)*g");
    r_let(r, "v", "beta2*v+(1-beta2)*g*g");
    r_let(r, "size", "lr/(1-pow(beta1,t))");
    r_let(r, "root", "sqrt(1-pow(beta2,t))");
    r_let(r, "p", "p-size*m/(sqrt(v)/root+eps)");
}

const optimizer optimizer_adam = {.name = "adam",
                                  .doc = "Steps of the mean gradient over the root of the mean square.",
                                  .settings = "beta1=0.9 beta2=0.999 eps=1e-8 decay=0",
                                  .update = update};
