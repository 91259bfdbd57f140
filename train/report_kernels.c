/* Where the time of a step goes, kernel by kernel: the bench report's own sections on the step as its contestant. */
#include "bench/report/parts.h"
#include "train/report_parts.h"

const char *story_kernels(text *t, const story *s)
{
    if (!s->step)
        return "no step was timed kernel by kernel";
    html_add(t, "<p.lead>One step is one program: forward pass, loss, backward pass, clipping and update. Steps 1, 2, "
                "4, 8, … of the run went kernel by kernel and were timed; these are their medians.");
    if (!s->step->ceilings)
        text_add(t, " The run was too short to probe the machine's peaks as well, so shares of them are not known.");
    html_add(t, "</p>\n");
    const char *lacking = part_write(t, s->step, "time");
    if (lacking)
        return lacking;
    part_write(t, s->step, "all-kernels");
    if (s->step->ceilings)
        part_write(t, s->step, "roofline");
    return NULL;
}

const char *story_plan(text *t, const story *s)
{
    if (!s->step)
        return "no step was timed kernel by kernel";
    const char *lacking = part_write(t, s->step, "memory");
    if (lacking)
        return lacking;
    html_add(t, "<h3>The loops of each kernel</h3>\n");
    part_write(t, s->step, "kernels");
    return NULL;
}
