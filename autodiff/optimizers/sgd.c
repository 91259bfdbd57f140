/* sgd.c - gradient descent; momentum after Sutskever et al., On the importance of initialization and momentum, 2013. */
#include "autodiff/optimizer.h"

static void update(recipe *r)
{
    if (r_setting(r, "decay") > 0)
        r_let(r, "g", "g+decay*p");
    if (r_setting(r, "momentum") > 0) {
        r_state(r, "m");
        r_let(r, "m", "momentum*m+g");
        r_let(r, "g", r_setting(r, "nesterov") > 0 ? "g+momentum*m" : "m");
    }
    r_let(r, "p", "p-lr*g");
}

const optimizer optimizer_sgd = {.name = "sgd",
                                 .doc = "Steps against the gradient, with momentum where asked for.",
                                 .settings = "momentum=0 nesterov=0 decay=0",
                                 .update = update};
