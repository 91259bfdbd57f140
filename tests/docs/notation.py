"""The drawings of docs/notation.md, made from the nests above them: `notation.py PAGE` prints the page as it should be.

A block begins ```drawing WHAT AXIS=EXTENT..., then a nest. Its rows and columns are the first two axes. WHAT:
  order        the trips of all loops of these axes, counted: elements are walked from 0 on
  tile         loops that are neither written out nor in vectors: elements of one number are one register tile
  instruction  all loops but vectors, dots and matrix units: elements of one number are one instruction
  core, block, warp, lane  who has an element
  memory       the nest is a layout: where an element lies
  copy         where an element lies in the copy that the loop with + makes, dots where it is not of the first copy
  next, ring   by trip of the loop with +, what is used and what is on its way
"""
import re
import sys

THREADS = "AB"


def read(nest):
    loops = []
    for word in nest.split():
        axis, step, role, plus = re.fullmatch(r"([a-z]+)(?:/(\d+))?(?:@([a-z]+))?((?:\+\S+)?)", word).groups()
        loops.append((axis, int(step or 1), role, plus))
    return loops


def walk(loops, extents):
    """(place by axis, trip of each loop), in the order of the nest; an axis that has no extent has one element"""
    def go(i, at, trips):
        if i == len(loops):
            yield {a: low for a, (low, _) in at.items()}, trips
            return
        axis, step = loops[i][:2]
        low, high = at.get(axis, (0, 1))
        for trip, begin in enumerate(range(low, high, step)):
            yield from go(i + 1, {**at, axis: (begin, min(begin + step, high))}, trips + (trip,))
    return go(0, {a: (0, n) for a, n in extents.items()}, ())


def numbers(loops, extents, counts, by_value=False):
    """The number of each place, and how many there are: the trips of those loops that count, as they come."""
    met, out, axes = {}, {}, list(extents)[:2]
    for place, trips in walk(loops, extents):
        key = tuple(t for t, loop, i in zip(trips, loops, range(99)) if counts(i, loop))
        out.setdefault(tuple(place[a] for a in axes), met.setdefault(key, len(met)))
    if by_value:  # lanes have the numbers of their trips, whoever is walked first
        rank = {met[key]: i for i, key in enumerate(sorted(met))}
        out = {place: rank[n] for place, n in out.items()}
    return out, len(met)


def grid(extents, cell):
    (rows, n_rows), (columns, n_columns) = list(extents.items())[:2]
    text = [[str(cell(i, j)) for j in range(n_columns)] for i in range(n_rows)]
    width = max(len(c) for row in text for c in row)
    head = f"{rows} ↓  {columns} →\n" if n_rows > 1 else f"{columns} →\n"
    return head + "".join(("  " + " ".join(c.rjust(width) for c in row)).rstrip() + "\n" for row in text)


def staged(loops, extents):
    """The loop with +, and the ranges of its axis, a trip each"""
    at = next(i for i, loop in enumerate(loops) if loop[3])
    axis, step = loops[at][:2]
    inner = [a for a, *_ in loops[at + 1:]]
    return at, axis, inner, [(b, min(b + step, extents[axis])) for b in range(0, extents[axis], step)]


def draw(what, nest, extents):
    loops = read(nest)
    if what in ("next", "ring"):
        _, axis, _, trips = staged(loops, extents)
        name, depth = re.fullmatch(r"\+([a-z]+)(?:@[a-z0-9]+)?\*(\d)", next(x[3] for x in loops if x[3])).groups()
        slots, out = int(depth), ""
        for t, (low, high) in enumerate(trips):
            way = [f"{name}[{axis} {b} to {e - 1}]" + (f" into slice {u % slots}" if what == "ring" else "")
                   for u, (b, e) in enumerate(trips) if t < u < t + slots]
            of = f" of slice {t % slots}" if what == "ring" else ""
            out += f"trip {t}: uses {name}[{axis} {low} to {high - 1}]{of}"
            out += (f", on its way: {', '.join(way)}" if way else "") + "\n"
        return out
    if what == "copy":
        at, axis, inner, trips = staged(loops, extents)
        axes = list(extents)[:2]
        loops = [x for x in loops[at:] if x[0] in axes]
        first = {p: n for p, n in numbers(loops, extents, lambda i, x: i > 0)[0].items()
                 if p[axes.index(axis)] < trips[0][1]}
        order = {n: i for i, n in enumerate(sorted(set(first.values())))}
        return grid(extents, lambda i, j: order[first[i, j]] if (i, j) in first else ".")
    if what in ("core", "block"):
        last = max(i for i, x in enumerate(loops) if x[2] == what)
        of, n = numbers(loops, extents, lambda i, x: i <= last)
        return grid(extents, lambda i, j: THREADS[of[i, j] * len(THREADS) // n] if what == "core" else of[i, j])
    apart = {"order": (), "memory": (), "tile": ("unroll", "vector"), "instruction": ("vector", "dot", "mma")}
    if what in apart:
        axes = list(extents)[:2]
        of, _ = numbers(loops, extents, lambda i, x: x[0] in axes and x[2] not in apart[what])
    else:
        of, _ = numbers(loops, extents, lambda i, x: x[2] == what, True)
    return grid(extents, lambda i, j: of[i, j])


def block(match):
    what, given, nest = match.group(1), match.group(2), match.group(3)
    extents = {a: int(n) for a, n in (x.split("=") for x in given.split())}
    return f"```drawing {what} {given}\n{nest}\n\n{draw(what, nest, extents)}```"


page = open(sys.argv[1], encoding="utf-8").read()
sys.stdout.reconfigure(encoding="utf-8")
sys.stdout.write(re.sub(r"```drawing (\S+) (.*)\n(.*)\n(?:.*\n)*?```", block, page))
