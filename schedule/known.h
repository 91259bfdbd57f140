/* known.h - what a weight that is computed from others is computed from, at most. */
#ifndef TS_KNOWN_H
#define TS_KNOWN_H

enum {
    MOST_SOURCES = 16,      /* weights and constants, and operands of one operation */
    MOST_KNOWN_STEPS = 128, /* operations, each as often as it is read */
};
#endif
