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
    table_open(
        t, "All kernels, with their operations and bytes", 9,
        (const char *const[]){"kernel", "rule", "#calls", "#time", "#FLOP", "#bytes", "#GFLOP/s", "#GB/s", "#of peak"});
    for (int i = 0; i < r->n_kind; i++) {
        const kind *k = &r->kinds[i];
        const part *of = &k->of[0];
        if (!of->heaviest)
            continue;
        text_add(t, "<tr><td>");
        kind_name(t, k);
        text_add(t, "</td>");
        td_text(t, of->heaviest->rule);
        td_number(t, word_count(of->heaviest->calls * of->count));
        td_number(t, word_time(of->ns));
        td_number(t, word_number(k->flops * of->count));
        td_number(t, word_bytes(of->bytes));
        td_number(t, word_number(per(k->flops * of->count, of->ns)));
        td_number(t, word_number(per(of->bytes, of->ns)));
        td_number(t, word_share(of->peak_share));
        text_add(t, "</tr>\n");
    }
    table_close(t);
}

const char *story_kernels(text *t, const story *s)
{
    if (!s->step)
        return "no step was timed kernel by kernel";
    text_add(t, "<p class=\"lead\">One step is one program: forward pass, loss, backward pass, clipping and update. "
                "Steps 1, 2, 4, 8, … of the run went kernel by kernel and were timed; these are their medians.");
    if (!s->step->ceilings)
        text_add(t, " The run was too short to probe the machine's peaks as well, so shares of them are not known.");
    text_add(t, "</p>\n");
    const char *lacking = part_time(t, s->step);
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
    const char *lacking = part_memory(t, s->step);
    if (lacking)
        return lacking;
    text_add(t, "<h3>The loops of each kernel</h3>\n");
    part_kernels(t, s->step);
    return NULL;
}
