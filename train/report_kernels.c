/* Where the time of a step goes, kernel by kernel: the bench report's own sections on the step as its contestant. */
#include "bench/report/parts.h"
#include "train/report_parts.h"

#include <math.h>

static double per(double v, double by)
{
    return by > 0 ? v / by : (double)NAN;
}

/* By time, as r->kinds are. */
static void all_kernels(text *t, const report *r)
{
    table_open(t, "All kernels, with their operations and bytes",
               "kernel|rule|#calls|#time|#FLOP|#bytes|#GFLOP/s|#GB/s|#of peak");
    for (int i = 0; i < r->n_kind; i++) {
        const kind *k = &r->kinds[i];
        const part *of = &k->of[0];
        if (!of->heaviest)
            continue;
        html_row(t, "%-s|%s|#%s|#%s|#%s|#%s|#%s|#%s|#%s", k->shown, of->heaviest->rule,
                 word_count(of->heaviest->calls * of->count).s, word_time(of->ns).s,
                 word_number(k->flops * of->count).s, word_bytes(of->bytes).s,
                 word_number(per(k->flops * of->count, of->ns)).s, word_number(per(of->bytes, of->ns)).s,
                 word_share(of->peak_share).s);
    }
    table_close(t);
}

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
    all_kernels(t, s->step);
    if (s->step->ceilings)
        roofline_figure(t, s->step);
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
