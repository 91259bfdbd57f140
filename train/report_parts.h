/* report_parts.h - the sections of a run's report. Private to train/report*.c.
 * What a story points to is read and freed by report.c; foreign text enters through html.h alone. */
#pragma once
#include "bench/report/chart.h"
#include "train/metrics.h"
#include "train/run_folder.h"

typedef struct story { /* all that there is of a run */
    const char *run;
    const train_options *asked;
    const run_facts *facts;
    metrics metrics;
    cJSON *misjudged; /* NULL: none were written */
    report *step;     /* NULL: no step was timed */
} story;
/* Each writes its section, or nothing and one sentence on what is lacking. */
typedef const char *story_writer(text *t, const story *s);
story_writer story_outcome, story_learning, story_steps, story_misjudged, story_kernels, story_plan;
