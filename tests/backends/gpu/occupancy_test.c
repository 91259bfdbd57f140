/* How many groups a processor holds, by numbers worked out by hand from the rules of the CUDA occupancy calculator. */
/* ctest: fast */
#include "backends/gpu/gpu.h"
#include "tests/check.h"

static void holds(const char *card, int64_t lanes, int64_t registers, int64_t shared, int64_t groups, const char *limit)
{
    gpu_facts f;
    err e = {0};
    gpu_room r = {.lanes = lanes, .registers = registers, .shared = shared};
    CHECK(gpu_read(&f, card, &e));
    gpu_resident(&f, &r);
    CHECK(r.resident == groups);
    CHECK_TEXT(r.limit, limit);
}

int main(void)
{
    holds("gpu:h100", 256, 32, 0, 8, "lanes");      /* 2048 / 256 */
    holds("gpu:h100", 256, 33, 0, 6, "registers");  /* 33 * 32 = 1056, taken as 1280: 51 warps, 48 by fours */
    holds("gpu:h100", 256, 64, 0, 4, "registers");  /* 65536 / 2048 = 32 warps */
    holds("gpu:h100", 256, 255, 0, 1, "registers"); /* 8192 a warp: 8 warps */
    holds("gpu:h100", 32, 32, 0, 32, "groups");
    holds("gpu:h100", 33, 16, 0, 32, "lanes");                 /* two warps: 2048 / 64 */
    holds("gpu:h100", 128, 32, 40 * 1024, 5, "shared memory"); /* 228 KiB / 41 KiB */
    holds("gpu:h100", 128, 32, 40 * 1024 + 1, 5, "shared memory");
    holds("gpu:h100", 1024, 72, 0, 0, "registers"); /* 28 warps of 32 */
    holds("gpu:h100", 1025, 16, 0, 0, "lanes");
    holds("gpu:h100", 256, 256, 0, 0, "registers");
    holds("gpu:h100", 256, 16, 48 * 1024 + 1, 4, "shared memory"); /* asked for: 228 KiB / 49.125 KiB */
    holds("gpu:h100", 256, 16, 227 * 1024, 1, "shared memory");
    holds("gpu:h100", 256, 16, 227 * 1024 + 1, 0, "shared memory");
    holds("gpu:h100 capability:0", 256, 16, 48 * 1024 + 1, 0, "shared memory");
    holds("gpu:rtx4090", 256, 32, 0, 6, "lanes"); /* 1536 / 256 */
    holds("gpu:mi300x", 256, 64, 16 * 1024, 4, "shared memory");
    holds("gpu:x processor:1 lane:0(64) warp:8 group:0 register:0(64) shared:0(4KB)", 64, 64, 4096, 1, "lanes");
    return check_done();
}
