/* known.h - what a weight that is computed from others is computed from, at most: bounds that keep what is done at load
 * small beside a run, shared by the pass that makes such weights and the loader that computes them. Constants alone:
 * nothing to own. */
#pragma once

enum {
    MOST_SOURCES = 16,      /* weights and constants, and operands of one operation */
    MOST_KNOWN_STEPS = 128, /* operations, each as often as it is read */
};
