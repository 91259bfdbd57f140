/* run.h - what the tests of the stand-in share. They are compiled against the toolkit's own cuda.h, so that a
 * difference from the driver's interface shows. */
#ifndef SIM_RUN_H
#define SIM_RUN_H
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern CUmodule good, bad;
extern CUcontext context;
extern uint32_t seed;

/* Ends the test where the call failed. */
static inline void check_call(CUresult r, const char *call, const char *file, int line)
{
    const char *name = "?";
    if (!r)
        return;
    cuGetErrorName(r, &name);
    printf("%s:%d: %s gave %s\n", file, line, call, name);
    exit(1);
}
#define CHECK(call) check_call((call), #call, __FILE__, __LINE__)

#define ARGS(...) ((void *[]){__VA_ARGS__})

void result(const char *name, bool ok, const char *detail);
double now(void);
float rnd(void); /* -1 to 1 */
CUdeviceptr upload(const void *p, size_t n);
CUfunction fn(CUmodule m, const char *name);
CUresult go(CUfunction f, int gx, int gy, int threads_x, int threads_y, unsigned shared, void **args);
void compare(const char *name, const float *got, const float *want, size_t n, double tol);

void test_kernels(void); /* kernels.c, numbers.c: right kernels against results of the CPU */
void test_numbers(void);
void test_host(void); /* host.c: the API */
#endif
