/* mapped.h - models and checkpoints are mapped, not copied; somebody else may cut such a file while it is read.
 * Once for the process; nothing is undone. */
#pragma once

/* From now on that ends the process with the code for files and a message that names the file. */
void mapped_watch(void);
