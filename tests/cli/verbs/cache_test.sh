#!/bin/sh
# The cache of compiled programs as the command shows it: sizes, damage, pruning, clearing; beside processes that use it.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
mkdir work && cd work || exit 1
here="--cache-dir $PWD/kept"

number() { # number KEY COMMAND...: of the object that it prints
    key=$1
    shift
    "$TESSERA" cache "$@" --json $here | python3 -c "import json, sys; print(json.load(sys.stdin)['$key'])"
}
is() { # is WHAT GOT WANTED
    checked=$((checked + 1))
    [ "$2" = "$3" ] || wrong "$1: $2, expected $3"
}
# (of 96 products, planning tries a cheaper way and leaves it: too many weights to turn)
model() { "$TESSERA" run products --seed 1 $here -q "$@" >/dev/null || wrong "run products $*"; }

expect 0 '0 entries, 0 B; limit 1 GiB' cache size $here
expect 0 "$PWD/kept" cache path $here
model
entries=$(number entries size)
[ "$entries" -gt 1 ] || wrong "$entries entries after a run"
is list "$("$TESSERA" cache ls $here | grep -c '^20')" "$entries"
expect 0 "$entries entries are whole, 0 were damaged" cache verify $here

# damage is told once, set aside, and built again by who needs it
victim=$(find kept/v1 -name object | head -1)
printf x >>"$victim"
"$TESSERA" cache verify $here >out 2>err
is 'verify of damage' $? 1
grep -q "$((entries - 1)) entries are whole, 1 were damaged" out || wrong "verify: $(cat out)"
grep -q 'is damaged; set aside' err || wrong "verify: $(cat err)"
is 'after damage' "$(number entries size)" $((entries - 1))
expect 0 '0 were damaged' cache verify $here
model

# what was used longest ago goes; nothing else
oldest=$(dirname "$victim")
touch -d 2001-01-01 "$oldest"
bytes=$(number bytes size)
is 'prune of what fits' "$(number removed prune --limit "$bytes")" 0
is 'prune of one byte less' "$([ "$(number removed prune --limit $((bytes - 1)))" -ge 1 ] && echo some)" some
[ ! -e "$oldest" ] || wrong "the oldest entry is still there"

# processes that use the cache while it is emptied again and again
for i in 1 2 3; do
    model --threads $i &
done
for i in 1 2 3 4 5 6; do
    "$TESSERA" cache clear $here -q >/dev/null || wrong "clear"
done
wait
model
expect 0 '0 entries, 0 B' cache clear $here
is 'left by clear' "$(find kept/v1 -name object | wc -l)" 0
is 'left in tmp' "$(find kept/v1/tmp -mindepth 1 | wc -l)" 0

# refusals
expect 2 'cache folder "none"' cache size --cache-dir none
expect 2 'there is nothing to look at' cache clear --cache-dir none
expect 4 'target interp keeps nothing on disk' cache ls --target interp
expect 2 'no target "cuba"' cache ls --target cuba
mkdir open && chmod 777 open
expect 8 'is not safe: others than its owner may write to it' cache clear --cache-dir open
expect 2 'cache: say what to do' cache
expect 2 'cache does not know "prun"' cache prun
expect 2 '--limit' cache prune --limit much
printf x >file
expect 0 'cannot be used' cache size --cache-dir file
finish
