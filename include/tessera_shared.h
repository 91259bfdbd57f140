/* tessera_shared.h - what plans hand to each other and share, beside tessera.h, whose conventions hold here too: merged
 * values, memory of a device, and what devices send to each other.
 *
 * Sections: merging, shared memory, exchange. */
#ifndef TESSERA_SHARED_H
#define TESSERA_SHARED_H
#include "tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- merging ---- */
/* From plan to plan, on any devices: in each run of p its input takes what `output` was in the last run of `from`. One
 * output may REPLACE an input. What others ADD is added to that, in their order, or else to what the input holds, and
 * COMPARE then fails with the first element of other bits (TS_FAILED). A value is read once: p cannot run again before
 * `from`, nor `from` before p has (TS_USAGE). A type that is not the input's is refused here; errors have both names.
 * What lies on p's device is not copied there. One thread at a time uses linked plans, and no pipeline takes them. p
 * runs no more once `from` is freed. */
typedef enum ts_merging { TS_ADD, TS_REPLACE, TS_COMPARE } ts_merging;
TS_API bool ts_merge_link(ts_plan *p, const char *input, ts_plan *from, int output, ts_merging how, ts_error *e);

/* ---- shared memory ---- */
/* f32 in the memory of a plan's device, zeros at first, that plans share: what one of them writes there, another one on
 * that device reads, and the host sees nothing of it until it asks. Freed behind the plans. Calls of one thread, while
 * no such plan runs. TS_UNSUPPORTED: the device has no memory of its own, or its back end does not share it. */
typedef struct ts_shared ts_shared;
/* Whether a plan for one of so many devices shares, before it is built: several have to send to each other. */
TS_API bool ts_plan_shares(const ts_plan *p, int devices, ts_error *e);
TS_API ts_shared *ts_shared_make(ts_plan *p, int64_t n, ts_error *e); /* p is built for it */
TS_API void ts_shared_free(ts_shared *s);
/* An input of f32 lies there from now on, from element `at`: a multiple of 16. It keeps what is there. */
TS_API bool ts_plan_share(ts_plan *p, int input, ts_shared *s, int64_t at, ts_error *e);
TS_API bool ts_shared_write(ts_shared *s, int64_t at, const float *from, int64_t n, ts_error *e);
TS_API bool ts_shared_read(const ts_shared *s, int64_t at, float *to, int64_t n, ts_error *e);

/* ---- exchange: parts of shared memory from device to device ---- */
/* Such memory of several devices, of this process or of others, sends parts of itself from device to device (NCCL):
 * s[0 .. n) are the members first .. first + n - 1 of count, which meet by the id that one of them made. */
typedef struct ts_shared_id {
    char bytes[128];
} ts_shared_id;
TS_API bool ts_shared_meeting(const ts_shared *s, ts_shared_id *id, ts_error *e);
TS_API bool ts_shared_join(int n, ts_shared *const *s, int first, int count, const ts_shared_id *id, ts_error *e);
typedef struct ts_transfer { /* `of` sends n elements to a member, or receives as many */
    ts_shared *of;
    int with;
    bool sends;
    int64_t at, n;
} ts_transfer;
/* All at once; done when it returns. A member's transfers with another one are met in the order that they have. */
TS_API bool ts_shared_exchange(int n, const ts_transfer *t, ts_error *e);

#ifdef __cplusplus
}
#endif
#endif
