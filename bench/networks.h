/* networks.h - networks of a suite beside built-in models: few layers, hard to walk well. Each is its caller's. */
#pragma once

const char *network_name(int i); /* NULL: there are no more */
char *network_make(int i);       /* graph/1, for free() */
