/* team.h - the team of backends/c/runtime with the library's errors. A program has one team, its own until
 * team_close; who runs it is its first member. */
#pragma once
#include "backends/c/runtime/team.h"
#include "graph/base/base.h"

team *team_make(int threads, const int *os_cpu, err *e);    /* as team_open */
bool team_run(team *t, team_work *work, void *arg, err *e); /* false: nothing ran */
