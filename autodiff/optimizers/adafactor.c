/* adafactor.c - Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, 2018. Mean squares
 * of a matrix are kept as those of its rows and columns; the update's root mean square is limited. Without momentum,
 * with an absolute learning rate. */
#include "autodiff/optimizer.h"

static void update(recipe *r)
{
    const int rank = r_type(r)->rank;
    r_let(r, "keep", "1-pow(t,-power)");
    r_let(r, "gg", "g*g+eps");
    if (rank < 2) {
        r_state(r, "v");
        r_let(r, "v", "keep*v+(1-keep)*gg");
        r_let(r, "u", "g/sqrt(v)");
    } else {
        const int64_t row = rank - 1, column = rank - 2; /* the axis that each mean leaves out */
        r_state_over(r, "rows", 1, &row), r_state_over(r, "columns", 1, &column);
        r_mean(r, "row", "gg", 1, &row), r_mean(r, "column", "gg", 1, &column);
        r_let(r, "rows", "keep*rows+(1-keep)*row");
        r_let(r, "columns", "keep*columns+(1-keep)*column");
        r_mean(r, "grand", "rows", 1, &column);
        r_let(r, "u", "g/sqrt(rows/grand*columns)");
    }
    r_let(r, "uu", "u*u");
    r_mean(r, "rms", "uu", 0, NULL);
    r_let(r, "step", "lr/max(1,sqrt(rms)/limit)");
    r_let(r, "kept", "1-lr*decay");
    r_let(r, "p", "p*kept-step*u");
}

const optimizer optimizer_adafactor = {.name = "adafactor",
                                       .doc = "Adaptive steps whose memory for a matrix is a row and a column.",
                                       .settings = "power=0.8 eps=1e-30 limit=1 decay=0",
                                       .update = update};
