/* protocol.h - what a contestant is told and answers, line by line (bench/worker.c and bench/peers/ speak it):
 *
 *   plan {as for open}  -> PLANNED            or FAILED: mistakes in what was given, before anything takes long
 *   open {"model","dims","inputs":[{"name","path"}],"seed","threads",...}
 *                       -> READY {"plan","inputs","outputs","hash","version",...}
 *                          "compared", of a peer: so many outputs, from the first, are the candidates'
 *                          FAILED {"code","text","planned"}   ABSENT {"text"}: there is nothing to run it with
 *                          "planned": what failed is the plan or what came after it, not the model
 *                          with "train" (members as in train/options.h) passes are steps of training: inputs are
 *                          a batch and train.label, outputs the loss and the norm of all gradients, each of the
 *                          first "trajectory" steps of a run on that batch, which has "schedule_steps" of them
 *   save DIR            -> SAVED [WHY]        outputs of one pass, or of the trajectory, as DIR/0.npy, DIR/1.npy,
 *                                             ... in the model's order;
 *                                             WHY: a peer's reason why they cannot be compared, and none is written
 *   check               -> PLANNED            of a peer, before all: whether it could run here, else ABSENT
 *   run WARM PASSES     -> TIME NS TAKEN LOST WARM untimed passes, then PASSES timed ones as one interval; TAKEN:
 *                                             how often a processor was taken from one of its threads meanwhile;
 *                                             LOST (may be missing): ns that its threads waited for one, summed
 *   profile REPEATS     -> PROFILE {"seconds":[...]}   per kernel, or null
 *   quit                   (or end of input)
 *
 * Any answer may be preceded by lines PROGRESS {"what","done","total"}. FAILED may answer any command.
 * Nobody works unasked: a contestant that waits for a command is blocked in a read. Lines are all that the two share:
 * neither owns anything of the other. */
#pragma once

#define SAY_PLANNED "PLANNED"
#define SAY_READY "READY"
#define SAY_FAILED "FAILED"
#define SAY_ABSENT "ABSENT"
#define SAY_SAVED "SAVED"
#define SAY_TIME "TIME"
#define SAY_PROFILE "PROFILE"
