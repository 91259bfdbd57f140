/* nvrtc_fails.c - an NVRTC that compiles nothing. Every call succeeds but the one that NVRTC_FAILS names; "minimal": it
 * is of a version before that option, and refuses it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FAILED = 6 };
static const char said[] = "kernel.cu(7): error: told to fail\n", code[] = ".version 7.0\n";

static int answer(const char *call)
{
    const char *told = getenv("NVRTC_FAILS");
    return told && !strcmp(told, call) ? FAILED : 0;
}

int nvrtcVersion(int *major, int *minor)
{
    const bool old = answer("minimal");
    *major = old ? 12 : 13, *minor = old ? 3 : 0;
    return answer(__func__);
}

int nvrtcGetNumSupportedArchs(int *n)
{
    *n = 1;
    return answer(__func__);
}

int nvrtcGetSupportedArchs(int *arch)
{
    *arch = 80;
    return answer(__func__);
}

const char *nvrtcGetErrorString(int status)
{
    return status == FAILED ? "NVRTC_ERROR_TOLD_TO_FAIL" : "NVRTC_SUCCESS";
}

int nvrtcCreateProgram(void **made, const char *text, const char *name, int n, const char *const *header,
                       const char *const *include)
{
    (void)text, (void)name, (void)n, (void)header, (void)include;
    *made = answer(__func__) ? NULL : (void *)(uintptr_t)said;
    return answer(__func__);
}

int nvrtcDestroyProgram(void **made)
{
    *made = NULL;
    return 0;
}

int nvrtcCompileProgram(void *made, int n, const char *const *option)
{
    (void)made;
    for (int i = 0; i < n; i++)
        if (!strcmp(option[i], "--minimal") && answer("minimal"))
            return FAILED;
    return answer(__func__) || answer("nvrtcGetProgramLog") ? FAILED : 0;
}

static int size_of(size_t *n, const char *s)
{
    *n = strlen(s) + 1;
    return 0;
}

static int take(char *into, const char *s, const char *call)
{
    if (!answer(call))
        memcpy(into, s, strlen(s) + 1);
    return answer(call);
}

int nvrtcGetPTXSize(void *made, size_t *n)
{
    return (void)made, size_of(n, code);
}

int nvrtcGetPTX(void *made, char *into)
{
    return (void)made, take(into, code, __func__);
}

int nvrtcGetCUBINSize(void *made, size_t *n)
{
    return (void)made, size_of(n, code);
}

int nvrtcGetCUBIN(void *made, char *into)
{
    return (void)made, take(into, code, __func__);
}

int nvrtcGetProgramLogSize(void *made, size_t *n)
{
    return (void)made, size_of(n, said);
}

int nvrtcGetProgramLog(void *made, char *into)
{
    return (void)made, take(into, said, __func__);
}
