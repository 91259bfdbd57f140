/* calibration.h - the ranges that values inside a model take over samples of its inputs: quantize --calibrate.
 * A sample is a folder with NAME.npy of each input, or input_0.pb, input_1.pb, ..., or a .safetensors file with a
 * tensor of each input; a folder of such is all of them. Nothing is kept from one sample to the next but the ranges. */
#pragma once
#include "cli/args.h"

typedef struct calibration {
    const args *args; /* --calibrate, and options of sessions */
    const char *model;
    int samples; /* seen so far */
} calibration;

/* As ts_quantization.observe; user is a calibration. */
bool calibration_observe(void *user, int n, const char *const *value, ts_range *range, ts_error *e);
