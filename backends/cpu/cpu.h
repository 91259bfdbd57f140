/* cpu.h - processors as a target: cores, vector registers of an instruction set, three caches. What every back end
 * that runs on the host plans for. A target is of the arena given, or borrows its machine for as long as it lives.
 * The room:  rates, isa, machine (machine_text: one line, machine_json: as doctor shows it), nontemporal, calibrate
 *            (rates, measured); machine_part -> target (tables)
 *            guess -> guess_blocks, guess_window, guess_choice; guess_prefetch: loops where nobody said otherwise */
#pragma once
#include "backends/backend.h"
#include "backends/cpu/machine.h"

/* on: borrowed for the target's life, target.own; threads: as machine_threads gives them */
void cpu_target_of(target *t, const machine *on, const isa *best, int threads);
/* on: of mem, or borrowed as above */
const target *cpu_target_on(arena *mem, const machine *on, const machine_options *asked, err *e);
const target *cpu_target(arena *mem, const machine_options *asked, err *e); /* backend.target */
void cpu_here(const target *t, target *out);                                /* presence.here */
bool cpu_runs(const target *t, err *e);                                     /* presence.runs */
/* Processors to pin a team to, by the system's numbers; NULL: it is not pinned */
const int *cpu_pins(const target *t, int threads);
const isa *cpu_isa(const target *t);
