/* host.c - the API: graphs, streams, events, module variables, calls that are wrong. */
#include "tests/gpusim/check/run.h"

#include <string.h>

static void test_reuse(void)
{
    bool ok = true;
    for (int i = 0; i < 200 && ok; i++) { /* more in all than there are addresses */
        CUdeviceptr p;
        ok = cuMemAlloc(&p, (size_t)1 << 29) == CUDA_SUCCESS && cuMemsetD32(p, 7, 16) == CUDA_SUCCESS &&
             cuMemFree(p) == CUDA_SUCCESS;
    }
    result("addresses are reused in the end", ok, "");
}
static void test_host_api(void)
{
    int n = 256;
    float one = 1, two = 2, three = 3, x[256], *pin;
    CUdeviceptr d = upload(NULL, 1024), g;
    size_t size;
    CUstream s, t;
    CUevent e, f;
    CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&e, 0));
    CHECK(cuEventCreate(&f, 0));
    CHECK(cuMemAllocHost((void **)&pin, 1024));
    /* a graph captured from two streams joined by events */
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuLaunchKernel(fn(good, "fill"), 1, 1, 1, 256, 1, 1, 0, s, ARGS(&d, &one, &n), NULL));
    CHECK(cuEventRecord(e, s));
    CHECK(cuStreamWaitEvent(t, e, 0));
    CHECK(cuLaunchKernel(fn(good, "scale"), 1, 1, 1, 256, 1, 1, 0, t, ARGS(&d, &three, &n), NULL));
    CHECK(cuEventRecord(f, t));
    CHECK(cuStreamWaitEvent(s, f, 0));
    CHECK(cuLaunchKernel(fn(good, "scale"), 1, 1, 1, 256, 1, 1, 0, s, ARGS(&d, &two, &n), NULL));
    CHECK(cuMemcpyDtoHAsync(pin, d, 1024, s));
    CHECK(cuStreamEndCapture(s, &graph));
    size_t nodes = 0;
    CHECK(cuGraphGetNodes(graph, NULL, &nodes));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    memset(pin, 0, 1024);
    CHECK(cuGraphLaunch(exec, s));
    CHECK(cuStreamSynchronize(s));
    result("graph capture, instantiate, launch", nodes == 4 && pin[0] == 6 && pin[255] == 6, "");
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    /* capture errors */
    CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUresult r1 = cuStreamSynchronize(s), r2 = cuStreamEndCapture(s, &graph);
    CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuLaunchKernel(fn(good, "fill"), 1, 1, 1, 256, 1, 1, 0, s, ARGS(&d, &one, &n), NULL));
    CHECK(cuEventRecord(e, s));
    CHECK(cuStreamWaitEvent(t, e, 0));
    CHECK(cuLaunchKernel(fn(good, "scale"), 1, 1, 1, 256, 1, 1, 0, t, ARGS(&d, &three, &n), NULL));
    CUresult r3 = cuStreamEndCapture(s, &graph);
    result("capture errors",
           r1 == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && r2 == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED &&
               r3 == CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
           "");
    /* an explicit graph */
    CUDA_KERNEL_NODE_PARAMS kp = {.func = fn(good, "scale"),
                                  .gridDimX = 1,
                                  .gridDimY = 1,
                                  .gridDimZ = 1,
                                  .blockDimX = 256,
                                  .blockDimY = 1,
                                  .blockDimZ = 1,
                                  .kernelParams = ARGS(&d, &three, &n)};
    CUDA_MEMSET_NODE_PARAMS mp = {.dst = d, .value = 0x40000000, .elementSize = 4, .width = 256, .height = 1};
    CUgraphNode n1, n2;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemsetNode(&n1, graph, NULL, 0, &mp, context));
    CHECK(cuGraphAddKernelNode(&n2, graph, &n1, 1, &kp));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, s));
    CHECK(cuStreamSynchronize(s));
    CHECK(cuMemcpyDtoH(x, d, 1024));
    result("graph built by hand", x[7] == 6, "");
    kp.kernelParams = ARGS(&d, &two, &n);
    CHECK(cuGraphExecKernelNodeSetParams(exec, n2, &kp));
    CHECK(cuGraphLaunch(exec, s));
    CHECK(cuStreamSynchronize(s));
    CHECK(cuMemcpyDtoH(x, d, 1024));
    result("graph parameters changed", x[7] == 4, "");
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    /* streams run late; events order them and measure */
    CHECK(cuMemsetD32(d, 0, 256));
    CHECK(cuCtxSynchronize());
    CHECK(cuEventRecord(e, s));
    CHECK(cuLaunchKernel(fn(good, "fill"), 1, 1, 1, 256, 1, 1, 0, s, ARGS(&d, &three, &n), NULL));
    CHECK(cuEventRecord(f, s));
    memset(pin, 0, 1024);
    CHECK(cuMemcpyDtoHAsync(pin, d, 1024, t)); /* not ordered after the fill: sees zeros */
    CHECK(cuStreamSynchronize(t));
    bool stale = pin[0] == 0;
    CHECK(cuStreamWaitEvent(t, f, 0));
    CHECK(cuMemcpyDtoHAsync(pin, d, 1024, t));
    CHECK(cuStreamSynchronize(t));
    float ms = -1;
    CHECK(cuEventElapsedTime(&ms, e, f));
    result("streams run as late as allowed, events order them",
           (stale || getenv("SIMCUDA_STREAMS")) && pin[0] == 3 && ms >= 0 && ms < 1000, "");
    /* module globals and constants */
    float o[64];
    CUdeviceptr od = upload(NULL, sizeof o);
    CHECK(go(fn(good, "globals"), 1, 1, 64, 1, 0, ARGS(&od)));
    CHECK(cuModuleGetGlobal(&g, &size, good, "counter"));
    int counter;
    CHECK(cuMemcpyDtoH(o, od, sizeof o));
    CHECK(cuMemcpyDtoH(&counter, g, 4));
    result("module variables", size == 4 && counter == 6 && o[0] == 6 && o[15] == 13, "");
    /* wrong calls */
    CUdeviceptr big;
    CUmodule m;
    CUfunction fun;
    char log[512] = "";
    CUjit_option opts[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    bool ok = cuMemAlloc(&big, (size_t)1 << 50) == CUDA_ERROR_OUT_OF_MEMORY &&
              cuMemcpyHtoD(d, x, 1025) == CUDA_ERROR_INVALID_VALUE && cuMemFree(d + 4) == CUDA_ERROR_INVALID_VALUE;
    ok &= cuModuleGetFunction(&fun, good, "nothing") == CUDA_ERROR_NOT_FOUND;
    ok &= cuModuleLoadDataEx(
              &m, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { frobnicate.u32 1, 2; }", 2,
              opts, ARGS(log, (void *)sizeof log)) == CUDA_ERROR_INVALID_PTX &&
          strstr(log, "frobnicate");
    ok &= cuLaunchKernel(fn(good, "fill"), 1, 1, 1, 2048, 1, 1, 0, s, ARGS(&d, &one, &n), NULL) ==
          CUDA_ERROR_INVALID_VALUE;
    ok &= cuLaunchKernel(fn(good, "fill"), 1, 1, 1, 32, 1, 1, 50000, s, ARGS(&d, &one, &n), NULL) ==
          CUDA_ERROR_INVALID_VALUE;
    void *p = NULL;
    CUdriverProcAddressQueryResult st;
    ok &= cuGetProcAddress("cuMemAlloc", &p, 13000, 0, &st) == CUDA_SUCCESS && p == (void *)cuMemAlloc;
    int regs = 0, cc = 0;
    CHECK(cuFuncGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, fn(good, "gemm_bf16")));
    CHECK(cuDeviceGetAttribute(&cc, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    if (!ok || regs <= 40 || regs >= 200)
        printf("     ok %d regs %d cc %d log %s\n", ok, regs, cc, log);
    result("wrong calls give the documented errors", ok && regs > 40 && regs < 200 && cc >= 8, "");
    cuMemFree(d);
    cuMemFree(od);
    cuMemFreeHost(pin);
    cuStreamDestroy(s);
    cuStreamDestroy(t);
    cuEventDestroy(e);
    cuEventDestroy(f);
}

/* Calls that are told to fail, and what a lost device leaves */
static void test_told(void)
{
    CUdeviceptr d = upload(NULL, 1024), e;
    char x[16];
    setenv("SIMCUDA_FAIL", "cuMemAlloc=2,cuMemcpy:2=719", 1);
    const CUresult none = cuMemAlloc(&e, 16), first = cuMemcpyHtoD(d, x, 16), second = cuMemcpyHtoD(d, x, 16);
    unsetenv("SIMCUDA_FAIL");
    const CUresult later = cuMemFree(d);
    CHECK(cuDevicePrimaryCtxReset(0));
    result("calls fail as they are told",
           none == CUDA_ERROR_OUT_OF_MEMORY && !first && second == CUDA_ERROR_LAUNCH_FAILED &&
               later == CUDA_ERROR_LAUNCH_FAILED && cuMemFree(d) == CUDA_SUCCESS,
           "");
}

void test_host(void)
{
    test_reuse();
    test_host_api();
    test_told();
}
