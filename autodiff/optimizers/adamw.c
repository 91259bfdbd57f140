/* adamw.c - Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019, in the form that frameworks have:
 * decay times the learning rate. */
#include "autodiff/optimizer.h"

static void update(recipe *r)
{
    r_state(r, "m"), r_state(r, "v");
    r_let(r, "m", "beta1*m+(1-beta1)*g");
    r_let(r, "v", "beta2*v+(1-beta2)*g*g");
    r_let(r, "size", "lr/(1-pow(beta1,t))");
    r_let(r, "root", "sqrt(1-pow(beta2,t))");
    r_let(r, "kept", "1-lr*decay");
    r_let(r, "p", "p*kept-size*m/(sqrt(v)/root+eps)");
}

const optimizer optimizer_adamw = {.name = "adamw",
                                   .doc = "Adam with weight decay beside the gradient.",
                                   .settings = "beta1=0.9 beta2=0.999 eps=1e-8 decay=0.01",
                                   .update = update};
