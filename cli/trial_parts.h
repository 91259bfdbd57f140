/* trial_parts.h - what the files of a trial share, and nobody else needs. All that is made is the trial's: trial_free
 * releases it. */
#pragma once
#include "cli/trial.h"

enum { TRIAL_FILE = 1 << 30 }; /* bytes that a file may have */

bool trial_set_input(const trial *t, int plan, int i, ts_error *e); /* given array i, where that plan reads it */
int trial_exact(const trial *t);                                    /* the plan that gives the values in f64 */
bool trial_derive(trial *t, ts_error *e);                           /* runs plan 1, and keeps what it gives in got */
void trial_call_other(const trial *t, int k); /* the library: values, with k = 1 slopes too, into theirs */
double trial_apart(double a, double b);       /* by ADBench's measure; a NaN is infinitely far from all else */
