/* chart.h - a run as a page. */
#ifndef TRAIN_CHART_H
#define TRAIN_CHART_H
#include "bench/train/wish.h"

/* Writes RUN/report.html from RUN/metrics.jsonl. */
bool run_report(const char *run, const train_wish *w, ts_error *e);
#endif
