"""Writes tests/bench/stats_expected.h: what numpy and scipy say about fixed samples. Run by hand when the rules change;
the test itself needs neither.   python3 tests/bench/stats_oracle.py > tests/bench/stats_expected.h"""
import os
import sys
import numpy as np
from scipy import stats

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import threefry  # noqa: E402


def medians(launches, seed, resamples=10000):
    out, draw = [], 0
    bits = threefry.bits(seed, np.arange(resamples * len(launches) * (1 + max(map(len, launches))))) >> np.uint64(32)

    def below(index, n):
        return int(bits[index]) * n >> 32
    for _ in range(resamples):
        drawn = []
        for _ in launches:
            chosen = launches[below(draw, len(launches))]
            draw += 1
            drawn += [chosen[below(draw + i, len(chosen))] for i in range(len(chosen))]
            draw += len(chosen)
        out.append(np.median(drawn))
    return np.array(out)


def central(v, confidence):
    return np.quantile(v, [(1 - confidence) / 2, 1 - (1 - confidence) / 2])


def compare(a, b, seed, threshold=0.01):
    launches = [np.log(np.array(y) / np.array(x)) for x, y in zip(a, b)]
    r = np.median(np.concatenate(launches))
    low, high = central(medians(launches, seed), 0.99)
    m = np.array([np.median(x) for x in launches])
    half = stats.t.ppf(0.995, len(m) - 1) * stats.sem(m)
    low, high, t = min(low, m.mean() - half), max(high, m.mean() + half), np.log1p(threshold)
    verdict = "FASTER" if low > 0 and r >= t else "SLOWER" if high < 0 and r <= -t else \
        "SAME" if low >= -t and high <= t else "UNDECIDED"
    return verdict, np.exp(r), np.exp(low), np.exp(high)


def numbers(name, v):
    text = ", ".join(f"{x:.17g}" for x in v)
    lines, line = [], ""
    for word in text.split(" "):
        if len(line) + len(word) > 110:
            lines, line = lines + [line], ""
        line += word + " "
    print(f"static const double {name}[] = {{\n    " + "\n    ".join(x.strip() for x in lines + [line]) + "};")


rng = np.random.default_rng(3)
counts = [7, 5, 8, 6, 7]
base = [70 * np.exp(rng.normal(0, 0.004) + 0.006 * rng.standard_t(4, n)) for n in counts]
pairs = {"same": 1.0, "slightly": 1.012, "clearly": 1.06, "slower": 0.95}
start = np.concatenate([[0], np.cumsum(counts)])

print("/* stats_expected.h - what numpy and scipy say of fixed samples. "
      "Written by tests/bench/stats_oracle.py; constant. */")
print("static const int expected_start[] = {" + ", ".join(map(str, start)) + "};")
flat = np.round(np.concatenate(base), 6)
base = [flat[start[i]:start[i + 1]] for i in range(5)]
numbers("expected_base", flat)
q = [0, 0.01, 0.25, 0.5, 0.9, 0.99, 1]
numbers("expected_q", q)
numbers("expected_quantiles", np.quantile(flat, q))
numbers("expected_moments", [flat.mean(), flat.std(ddof=1), stats.median_abs_deviation(flat)])
numbers("expected_interval", central(medians(base, 11), 0.95))
print("typedef struct expected_comparison {\n    const char *verdict;\n    double ratio, low, high;\n"
      "} expected_comparison;")
others, results = [], []
for k, (name, factor) in enumerate(pairs.items()):
    other = np.round(flat * factor * np.exp(0.006 * rng.standard_t(4, len(flat))), 6)
    others.append(other)
    results.append(compare(base, [other[start[i]:start[i + 1]] for i in range(5)], 21 + k))
    numbers(f"expected_{name}", other)
print("static const expected_comparison expected_comparisons[] = {")
for verdict, *v in results:
    print(f'    {{"{verdict}", ' + ", ".join(f"{x:.15g}" for x in v) + "},")
print("};")
