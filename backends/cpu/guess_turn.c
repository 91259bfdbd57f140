/* guess_turn.c - loops of stages without sums that store along one axis and read along another, as a transposed matrix:
 * squares of vectors, which are turned in registers. A vector is half a line: longer ones cross a line wherever they
 * begin, but where rows are whole lines. Of columns so many at a time that the lines that rows of squares read are in
 * the first cache when the next row comes. */
#include "backends/cpu/guess_parts.h"

/* The axis along which some operand lies, but not along the column; -1: there is none */
static int row_of(const plan *p, const stage *s, int column, int64_t lanes)
{
    for (int i = 0; i < s->n_load; i++)
        for (int a = 0; a < column; a++)
            if (s->extent[a] >= lanes && guess_stride(p, s, i, a) == 1 && guess_stride(p, s, i, column) > 1)
                return a;
    return -1;
}

bool guess_turn(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    const int column = s->n_result - 1;
    const bool turns = column > 0 && k->n_stage == 1 && !s->folds && !p->reference;
    const int64_t half = p->on->line / 2 / ts_dtype_bytes(s->node->type.dtype),
                  lanes = turns ? int_min(nest_lanes(p, s), half) : 0,
                  columns = target_bytes(p->on, L1) / (2 * p->on->line);
    const int row = lanes > 1 && s->extent[column] >= lanes ? row_of(p, s, column, lanes) : -1;
    if (row < 0)
        return false;
    bool core = guess_cores(p, k, s);
    for (int a = 0; a < column; a++)
        if (a != row && s->extent[a] > 1) {
            const bool spread = core && s->extent[a] >= p->threads;
            nest_put(b, a, 1, spread ? CPU_CORE : CPU_SERIAL);
            core = core && !spread;
        }
    const int64_t part = int_ceil_div(int_ceil_div(s->extent[row], p->threads), lanes) * lanes;
    if (core && part < s->extent[row])
        nest_put(b, row, part, CPU_CORE);
    if (s->extent[column] > columns)
        nest_put(b, column, columns, CPU_SERIAL);
    nest_put(b, row, lanes, CPU_SERIAL);
    if (s->extent[column] > lanes)
        nest_put(b, column, lanes, CPU_SERIAL);
    nest_put(b, row, 1, CPU_UNROLL);
    nest_put(b, column, 1, CPU_VECTOR);
    return true;
}
