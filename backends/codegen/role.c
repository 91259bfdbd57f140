/* role.c - how the trips of a loop of a role are written. */
#include "backends/codegen/emit.h"

bool role_unrolled(const role *r)
{
    return r->in_registers && !r->lanes && !r->group;
}

opening role_opening(const role *r, bool vectors)
{
    return role_unrolled(r) ? WRITTEN_OUT : r->lanes && vectors ? IN_LANES : AS_IT_IS;
}
