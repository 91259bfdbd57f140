/* device.h - one CUDA device: its context, its stream, its memory. Whoever holds a device works on it from one thread
 * at a time, any one, which calls device_enter first. What goes wrong on the device is TS_DEVICE, with what was being
 * done, the device's name and the driver's own words; a device that is lost stays lost for the process. It is its
 * opener's until device_close; memory is whoever's that took it, and goes before the device does. */
#ifndef TS_CUDA_DEVICE_H
#define TS_CUDA_DEVICE_H
#include "backends/cuda/api.h"

typedef struct device {
    cu_api cu;
    int number, id; /* as people count them; the driver's handle */
    cu_context context;
    cu_stream stream;
    char name[96];
    int major, minor; /* compute capability */
} device;

/* library NULL: where systems have it. False with e set: nothing to close. */
bool device_open(device *d, const char *library, int number, err *e);
void device_close(device *d); /* accepts a zeroed one */
bool device_enter(const device *d, err *e);
int device_fact(const device *d, cu_attribute which); /* 0: the driver does not know it */
int64_t device_bytes(const device *d);                /* of its memory */

/* True when s is success; else the error, "DOING" being what failed: "a copy to the device". */
bool device_did(const device *d, cu_status s, const char *doing, err *e);

/* Memory of the device, and memory of the host that it copies from by itself. 0 bytes give a place, too. */
bool device_memory_make(const device *d, int64_t bytes, const char *what, cu_address *at, err *e);
void device_memory_free(const device *d, cu_address *at);
bool device_pin(const device *d, int64_t bytes, void **at, err *e);
void device_unpin(const device *d, void **at);
/* In the order of the stream; `from` and `to` of the host stay as they are until device_wait */
bool device_write(const device *d, cu_address to, const void *from, int64_t bytes, err *e);
bool device_read(const device *d, void *to, cu_address from, int64_t bytes, err *e);
bool device_clear(const device *d, cu_address at, int64_t bytes, err *e);
bool device_copy_within(const device *d, cu_address to, cu_address from, int64_t bytes, err *e);
bool device_set(const device *d, cu_address at, int64_t number, err *e); /* the 8 bytes there */
bool device_wait(const device *d, const char *doing, err *e);
#endif
