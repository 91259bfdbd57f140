/* rig.h - for tests of many plans: the driver stays open. PoCL reads its library of functions anew, for most of a
 * second, whenever nobody has a context. */
#ifndef TS_TEST_OPENCL_RIG_H
#define TS_TEST_OPENCL_RIG_H

void rig_hurry(void);
#endif
