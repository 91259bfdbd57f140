/* Cards from text: known ones, described ones, what is left out, and refusals; each prints as text that reads back. */
/* ctest: fast */
#include "backends/gpu/gpu.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static void prints(const char *in, const char *want)
{
    gpu_facts f;
    err e = {0};
    text t = {0}, again = {0};
    if (CHECK(gpu_read(&f, in, &e))) {
        gpu_print(&t, &f);
        CHECK_TEXT(t.s, want);
        CHECK(gpu_read(&f, t.s, &e));
        gpu_print(&again, &f);
        CHECK_TEXT(again.s, t.s);
    }
    text_free(&t), text_free(&again);
}

static void test_text(void)
{
    prints("gpu:h100", "gpu:h100 processor:132 lane:2048(1024) warp:32 group:32 register:65536(255) shared:228KB(48KB) "
                       "l1:256KB l2:50MB memory:80GB(3350GB/s) clock:1980MHz f32:66900GFLOP bf16:989400GFLOP "
                       "capability:9.0");
    prints("  gpu:h100  l2:25MiB shared:100K(99KB) bf16:0 capability:8.6 ",
           "gpu:h100 processor:132 lane:2048(1024) warp:32 group:32 register:65536(255) shared:100KB(99KB) l1:256KB "
           "l2:25MB memory:80GB(3350GB/s) clock:1980MHz f32:66900GFLOP bf16:0FLOP capability:8.6");
    /* f32: 4 processors, 128 multiply-adds each, 1 GHz */
    prints("gpu:tiny processor:4 lane:256(64) warp:8 clock:1GHz memory:1GB(10GB/s)",
           "gpu:tiny processor:4 lane:256(64) warp:8 group:16 register:65536(255) shared:100KB(48KB) l1:128KB l2:4MB "
           "memory:1GB(10GB/s) clock:1GHz f32:1024GFLOP bf16:0FLOP capability:0.0");
    prints("gpu:a\x1b[0m processor:1 lane:0 group:0 register:0 shared:0B(32KB)",
           "gpu:a\\x1b[0m processor:1 lane:0(1024) warp:32 group:0 register:0(255) shared:0B(32KB) l1:128KB l2:4MB "
           "memory:8GB(256GB/s) clock:1500MHz f32:384GFLOP bf16:0FLOP capability:0.0");
}

static void test_cards(void)
{
    for (int i = 0; gpu_card(i); i++) {
        gpu_facts f;
        arena mem = {0};
        err e = {0};
        text t = {0};
        gpu_print(&t, gpu_card(i));
        CHECK(gpu_read(&f, t.s, &e) && !strcmp(f.name, gpu_card(i)->name));
        CHECK(f.bf16 == gpu_card(i)->bf16 && f.bandwidth == gpu_card(i)->bandwidth && f.l1 == gpu_card(i)->l1);
        const target *on = gpu_target(&mem, gpu_card(i), &e);
        CHECK(on && gpu_facts_of(on) == gpu_card(i));
        CHECK(on && on->cost.fma_per_cycle > 60 && on->cost.fma_per_cycle < 260); /* 64 to 256 units */
        CHECK(i == 0 || strcmp(gpu_card(i - 1)->name, gpu_card(i)->name) < 0);
        arena_free(&mem), text_free(&t);
    }
    CHECK(!gpu_card(-1) && gpu_card(0));
}

static void is_refused(const char *in, const char *want)
{
    gpu_facts f;
    err e = {0};
    CHECK(!gpu_read(&f, in, &e) && e.code == TS_BAD_INPUT);
    e.text[strcspn(e.text, "\n")] = 0; /* the hint is tested below */
    CHECK_TEXT(e.text, want);
}

static void test_refusals(void)
{
    is_refused("gpu:h101", "machine: a known card, or processor:N beside the name, expected at 'gpu:h101'");
    is_refused("gpu:mine lane:64", "machine: processor:N expected at 'gpu:mine lane:64'");
    is_refused("gpu:", "machine: a name, as in gpu:h100, expected at 'gpu:'");
    is_refused("core:2", "machine: a card begins with gpu:NAME at 'core:2'");
    is_refused("gpu:h100 core:2", "machine: one of processor, lane, warp, group, register, shared, l1, l2, memory, "
                                  "clock, f32, bf16, capability or subgroup "
                                  "expected at 'core:2'");
    is_refused("gpu:h100 x", "machine: NAME:FIGURE expected at 'x'");
    is_refused("gpu:h100 processor:0",
               "machine: processor:FIGURE expected, a count of at most 1048576, at 'processor:0'");
    is_refused("gpu:h100 processor:99999999999999999999",
               "machine: processor:FIGURE expected, a count of at most 1048576, at 'processor:99999999999999999999'");
    is_refused("gpu:h100 lane:64(",
               "machine: lane:FIGURE expected, a count of at most 1048576, of a group in brackets, at 'lane:64('");
    is_refused("gpu:h100 lane:64(32",
               "machine: lane:FIGURE expected, a count of at most 1048576, of a group in brackets, at 'lane:64(32'");
    is_refused("gpu:h100 memory:8GB(1GB)",
               "machine: memory:FIGURE expected, a size and a rate, as in 8GB(400GB/s), at 'memory:8GB(1GB)'");
    is_refused("gpu:h100 memory:8XB", "machine: a blank between words expected at 'XB'");
    is_refused("gpu:h100 clock:1980", "machine: clock:FIGURE expected, a frequency, as in 1500MHz, at 'clock:1980'");
    is_refused("gpu:h100 capability:9.",
               "machine: capability:FIGURE expected, one to 99 with a digit, as in 9.0, at 'capability:9.'");
    is_refused("gpu:h100 capability:9.0a", "machine: a blank between words expected at 'a'");
    is_refused("gpu:mine processor:1000000 clock:9000000THz",
               "machine: clock times lanes and processors over 2^63 operations a second, fewer expected, at 'gpu:mine "
               "processor:1000000 clock:9000000'");
    CHECK(!gpu_is_text(NULL) && !gpu_is_text("core:2 gpu:1") && gpu_is_text(" gpu:x"));
}

static void test_hint(void)
{
    gpu_facts f;
    err e = {0};
    CHECK(!gpu_read(&f, "gpu:h101", &e));
    CHECK_TEXT(
        strchr(e.text, '\n'),
        "\n  hint: did you mean h100?\n  hint: known cards are a10, a100, a100-40gb, h100, h200, l4, l40s, mi300x, "
        "rtx3090, rtx4090\n  hint: write it like: gpu:h100, or gpu:mine processor:40 lane:1536(1024) "
        "shared:100KB(48KB) memory:8GB(400GB/s) clock:1500MHz");
}

static void cannot_be(const char *in, const char *want)
{
    gpu_facts f;
    arena mem = {0};
    err e = {0};
    CHECK(gpu_read(&f, in, &e) && !gpu_target(&mem, &f, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, want);
    arena_free(&mem);
}

static void test_implausible(void)
{
    cannot_be("gpu:h100 lane:16(16)", "machine h100: 16 lanes of a group, expected at least 32");
    cannot_be("gpu:h100 register:65536(8)", "machine h100: 8 registers of a lane, expected at least 16");
    cannot_be("gpu:h100 shared:1KB(512B)", "machine h100: 512 bytes of shared memory, expected at least 1024");
}

/* Whatever a text says, it is refused with words, or prints as text that reads back the same. */
static void test_any_text(void)
{
    static const char from[] = "gpu:hl10 processlwm2:4(8)KMGTB/s.FOHz-9";
    uint64_t seed = 1;
    for (int i = 0; i < 4000; i++) {
        char in[300];
        gpu_facts f, g;
        err e = {0};
        text t = {0}, again = {0};
        gpu_print(&t, gpu_card(i % 10));
        snprintf(in, sizeof in, "%s", t.s);
        for (int k = 0; k < 1 + i % 3; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            in[4 + (seed >> 33) % (strlen(in) - 4)] = from[(seed >> 20) % (sizeof from - 1)];
        }
        t.length = 0;
        if (!gpu_read(&f, in, &e)) {
            CHECK(e.code == TS_BAD_INPUT && !strncmp(e.text, "machine: ", 9));
        } else {
            gpu_print(&t, &f);
            CHECK(gpu_read(&g, t.s, &e));
            gpu_print(&again, &g);
            CHECK_TEXT(again.s, t.s);
        }
        text_free(&t), text_free(&again);
    }
}

int main(void)
{
    test_any_text();
    test_text();
    test_cards();
    test_refusals();
    test_hint();
    test_implausible();
    return check_done();
}
