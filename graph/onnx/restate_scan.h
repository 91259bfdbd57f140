/* restate_scan.h - what the files of the way back share. Names and copies are of its arena. */
#pragma once
#include "graph/onnx/restate.h"

const char *back_new_name(back *b, const char *stem);
/* Appends a copy of it, called as its first output, which is made where it has none; gives that name. */
const char *back_add_step(back *b, const step *from);
const char *back_add_value(back *b, const type *t, const void *data); /* a constant; its name */
/* restate_scan.c: the loop that n is; and whether n is one of the outputs of such a loop, which then has its name. */
bool back_scan(back *b, const node *n, err *e);
bool back_output(back *b, const node *n);
