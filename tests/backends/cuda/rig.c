#include "tests/backends/cuda/rig.h"
#include "backends/cuda/settings.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int rig_cuda(void)
{
    char path[4096], words[8192];
    const char *asked = getenv("TESSERA_CUDA");
    nvrtc_api rtc;
    err e = {0};
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s/tests/gpusim/libcuda.so.1", build ? build : "build");
    if (access(path, R_OK))
        return check_skip("no stand-in for the driver of CUDA: it is built for x86-64");
    snprintf(words, sizeof words, "driver=%s,ptx,%s", path, asked ? asked : "");
    setenv("TESSERA_CUDA", words, 1);
    setenv("SIMCUDA_CHECK", "all", 0);
    setenv("SIMCUDA_VERBOSE", "0", 0);
    if (!cuda_nvrtc(&rtc, &e))
        return check_skip("no NVRTC");
    nvrtc_close(&rtc);
    return 0;
}

bool rig_load(cuda_host *d, const char *name, const char *source, images *out, err *e)
{
    const settings env = settings_read();
    const image_request r = {.on = d, .env = &env, .n = 1, .text = &source, .name = &name, .cache_folder = "none"};
    image_report report;
    const bool ok = images_load(out, &r, &report, e);
    image_report_free(&report);
    return ok;
}

bool rig_apart(bool (*f)(void *user), void *user)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (!child)
        exit(!f(user));
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
