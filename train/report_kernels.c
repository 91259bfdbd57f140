/* Where the time of a step goes, kernel by kernel: the bench report's own sections on the step as its contestant. */
#include "bench/report/parts.h"
#include "train/report_parts.h"

#include <math.h>

static double per(double v, double by)
{
    return by > 0 ? v / by : (double)NAN;
}

/* By time, as r->kinds are. */
static void all_kernels(page *p, const report *r)
{
    table_open(
        p, "All kernels, with their operations and bytes", 9,
        (const char *const[]){"kernel", "rule", "#calls", "#time", "#FLOP", "#bytes", "#GFLOP/s", "#GB/s", "#of peak"});
    for (int i = 0; i < r->n_kind; i++) {
        const kind *k = &r->kinds[i];
        const part *of = &k->of[0];
        if (!of->heaviest)
            continue;
        page_add(p, "<tr><td>");
        kind_name(p, k);
        page_add(p, "</td>");
        td_text(p, of->heaviest->rule);
        td_number(p, word_count(of->heaviest->calls * of->count));
        td_number(p, word_time(of->ns));
        td_number(p, word_number(k->flops * of->count));
        td_number(p, word_bytes(of->bytes));
        td_number(p, word_number(per(k->flops * of->count, of->ns)));
        td_number(p, word_number(per(of->bytes, of->ns)));
        td_number(p, word_share(of->peak_share));
        page_add(p, "</tr>\n");
    }
    table_close(p);
}

const char *story_kernels(page *p, const story *s)
{
    if (!s->step)
        return "no step was timed kernel by kernel";
    page_add(p, "<p class=\"lead\">One step is one program: forward pass, loss, backward pass, clipping and update. "
                "Steps 1, 2, 4, 8, … of the run went kernel by kernel and were timed; these are their medians.");
    if (!s->step->ceilings)
        page_add(p, " The run was too short to probe the machine's peaks as well, so shares of them are not known.");
    page_add(p, "</p>\n");
    const char *lacking = part_time(p, s->step);
    if (lacking)
        return lacking;
    all_kernels(p, s->step);
    if (s->step->ceilings)
        roofline(p, s->step);
    return NULL;
}

const char *story_plan(page *p, const story *s)
{
    if (!s->step)
        return "no step was timed kernel by kernel";
    const char *lacking = part_memory(p, s->step);
    if (lacking)
        return lacking;
    page_add(p, "<h3>The loops of each kernel</h3>\n");
    part_kernels(p, s->step);
    return NULL;
}
