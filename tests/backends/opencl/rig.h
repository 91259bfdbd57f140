/* rig.h - for tests of many plans: the driver stays open. PoCL reads its library of functions anew, for most of a
 * second, whenever nobody has a context. */
#ifndef TS_TEST_OPENCL_RIG_H
#define TS_TEST_OPENCL_RIG_H

/* A card for tests of groups of lanes: what is made for it runs on any device, processors too, and on PoCL. */
#define RIG_CARD "gpu:lanes processor:2 lane:0(1024) group:0 warp:16 register:0(255) shared:0B(48KB) clock:2600MHz"

void rig_hurry(void);
int rig_opencl(void); /* hurries; 0, or what main is to return where there is no device */
#endif
