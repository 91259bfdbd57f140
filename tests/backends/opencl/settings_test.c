/* TESSERA_OPENCL has a word for the loader, wherever it stands; all others are options for compilers as they are. */
/* ctest: fast */
#include "backends/opencl/settings.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static void says(const char *words, const char *loader, const char *options)
{
    ocl_settings s;
    err e = {0};
    CHECK(setenv("TESSERA_OPENCL", words, 1) == 0 && ocl_settings_read(&s, &e));
    CHECK_TEXT(s.loader ? s.loader : "none", loader);
    CHECK_TEXT(s.options ? s.options : "none", options);
}

int main(void)
{
    says("", "none", "none");
    says("loader=/path/to/libOpenCL.so.1", "/path/to/libOpenCL.so.1", "none");
    says("loader=/a -cl-opt-disable -DX=1", "/a", "-cl-opt-disable -DX=1");
    says("loader=/a,-cl-opt-disable,-DX=1", "/a", "-cl-opt-disable -DX=1");
    says(" -cl-opt-disable ,loader=a=b loader=/c -DX=1,loader=2 ", "a=b", "-cl-opt-disable -DX=1");
    says("-cl-opt-disable", "none", "-cl-opt-disable");
    says("loader= loaders=/a", "none", "loader= loaders=/a"); /* compilers refuse them by name */

    char long_one[9000];
    ocl_settings s;
    err e = {0};
    memset(long_one, 'x', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = 0;
    CHECK(setenv("TESSERA_OPENCL", long_one, 1) == 0 && !ocl_settings_read(&s, &e));
    CHECK_TEXT(e.text, "TESSERA_OPENCL has 8999 bytes, at most 8191 expected");
    long_one[8191] = 0; /* as long as may be, and no blank is added */
    e = (err){0};
    CHECK(setenv("TESSERA_OPENCL", long_one, 1) == 0 && ocl_settings_read(&s, &e) && strlen(s.options) == 8191);
    return check_done();
}
