/* networks.h - networks of a suite that are no built-in models: few layers, in shapes that are hard to walk well. */
#ifndef BENCH_NETWORKS_H
#define BENCH_NETWORKS_H

char *network_make(const char *name); /* graph/1, for free(); NULL: there is none of that name */
#endif
