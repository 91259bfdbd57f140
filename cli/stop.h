/* stop.h - Ctrl-C while something is compiled: compilers go, then what they left, then the process.
 * Handlers call only what is safe in one. It is the process's, and nothing is owned. */
#pragma once

void stop_now(int signal); /* handler of the signals that ask to stop, and of SIGALRM */
int stop_code(int code); /* exit code of a command that ended with `code`: 128 + the signal if one ended its building */
