/* networks.h - networks of a suite beside built-in models: few layers, hard to walk well. Each is its caller's. */
#pragma once

char *network_make(const char *name); /* graph/1, for free(); NULL: there is none of that name */
