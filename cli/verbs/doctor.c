/* doctor.c - tessera doctor: what this machine has, how fast and how quiet it is. */
#include "bench/machine/environment.h"
#include "bench/machine/probe.h"
#include "cli/say.h"

#include <stdlib.h>

/* One part of the examination. A part that fails is a warning and an object with the reason: the others still count. */
static void examine(cJSON *root, const char *name, char *text, const args *a, ts_error *e)
{
    cJSON *part = text ? cJSON_Parse(text) : NULL;
    free(text);
    if (!part) {
        if (!e->code)
            snprintf(e->text, sizeof e->text, "no result");
        console_warn(&a->console, "%s: %s", name, e->text);
        part = cJSON_CreateObject();
        js_text(part, "failed", e->text);
    }
    *e = (ts_error){0};
    cJSON_AddItemToObject(root, name, part);
}

static const char form[] = "[machine?{!bold}machine{!}\n{machine!!  }]"
                           "[targets?{!bold}targets{!}\n{targets!  name|usable|with|reason}]"
                           "[ceilings?{!bold}ceilings{!}\n{ceilings!!  }]"
                           "[noise?{!bold}noise{!}\n{noise!!  }]"
                           "[environment?{!bold}environment{!}\n{environment!!  }]";

static int run(const args *a, ts_error *e)
{
    ts_options o = {.threads = (int)args_integer(a, "threads"),
                    .isa = args_text(a, "isa"),
                    .cache_folder = args_text(a, "cache-dir")};
    const bool calibrate = args_flag(a, "calibrate");
    progress p = progress_open(&a->console);
    cJSON *root = reply_make("doctor/1");
    js_text(root, "version", TS_VERSION);
    char *machine = calibrate ? ts_machine_calibrate(&o, e) : ts_machine_json(&o, e);
    /* What was asked for by option and does not exist here is an error, not a finding. */
    if (machine)
        examine(root, "machine", machine, a, e);
    if (js_get_flag(root, "machine/disturbed"))
        console_warn(&a->console,
                     "rates were measured beside other work and may be too low; the next plan that is made "
                     "on a quiet machine measures them again");
    if (machine && calibrate) {
        progress_close(&p);
        reply_give(a, root, form);
    } else if (machine) {
        examine(root, "targets", ts_targets_json(), a, e);
        progress_step(&p, "probing peaks", 1, 3);
        examine(root, "ceilings", probe_json(o.isa, o.threads, 1, e), a, e);
        progress_step(&p, "listening for noise", 2, 3);
        examine(root, "noise", noise_json(e), a, e);
        const int threads = (int)js_get_number(root, "machine/threads", 0);
        examine(root, "environment", environment_json(o.isa, threads, 0, e), a, e);
        cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, "environment"), "machine");
        progress_close(&p);
        reply_give(a, root, form);
    } else
        cJSON_Delete(root);
    return TS_OK;
}

static const option options[] = {
    {"threads", 0, INTEGER, "N", "probe with so many threads (default: one per core)", NULL, false, 1, TS_MAX_THREADS},
    {"isa", 0, AN_ISA, "NAME", "instruction set to probe (default: the best one here)", ONCE},
    {"calibrate", 0, FLAG, NULL,
     "measure the rates by which plans are decided anew, keep them, and show the machine alone", ONCE},
    {"cache-dir", 0, A_FOLDER, "FOLDER|none", "where rates are kept (default: the user's cache)", ONCE},
    {0},
};

const verb verb_doctor = {
    .name = "doctor",
    .brief = "Show the machine, its compilers, probed peaks and noise",
    .usage = "",
    .own = {"Options", options, NULL},
    .examples = "tessera doctor\n"
                "tessera doctor --json > machine.json # to attach to a bug report\n"
                "tessera doctor --calibrate # after the machine has changed, or was busy",
    .run = run,
};
