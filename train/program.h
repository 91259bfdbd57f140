/* program.h - a run as a program of its own: the training step as C sources with a main, which need a C compiler and
 * libm only, the data in the order of the run, and the weights that it begins with. It trains to the run's bits. All
 * that a training_program points to is borrowed for the call. */
#pragma once
#include "train/order.h"
#include "train/step.h"

typedef struct training_program {
    const net *net;
    step *step; /* its first values are set */
    const data *data;
    order *order;
    int64_t updates;
} training_program;
bool program_write(const training_program *t, const char *folder, ts_error *e);

/* data.bin (program_data.c), as main.c describes it; input[i]: the number in the program of the net's array i,
 * or -1. */
bool program_data(const training_program *t, const int *input, const char *path, ts_error *e);
extern const char program_main[]; /* the text of emitted/main.c */
