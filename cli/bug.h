/* bug.h - a mistake of ours: says where and aborts; main turns that into exit code 70.
 * Never for what a user can cause, which is a value (ts_error). */
#pragma once

_Noreturn void fail_bug(const char *what, const char *name); /* what is wrong, and with which option or verb */
