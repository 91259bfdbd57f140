/* rig.h - a private place for a test of the C tool chain: a folder for everything, with its own TMPDIR, and scripts
 * that stand in for compilers. */
#ifndef TS_TESTS_RIG_H
#define TS_TESTS_RIG_H
#include "graph/base/base.h"

typedef struct rig {
    char *root, *temporary; /* temporary is TMPDIR */
    arena mem;
} rig;

void rig_make(rig *g);
void rig_free(rig *g);                    /* removes the whole folder */
char *rig_path(rig *g, const char *name); /* a path in it */
/* A program that answers who it is and otherwise runs the script, with $out the file to make; TESSERA_CC names it, and
 * each start adds a line to NAME.log. */
void rig_compiler(rig *g, const char *name, const char *script);
/* Runs a program in a folder, its words in the file `log` there; its exit status. */
int rig_program(const char *folder, const char *const *argv);
int rig_lines(const char *path);   /* 0 when there is no such file */
int rig_count(const char *folder); /* what is in it, -1 when there is no such folder */
#endif
