#!/bin/sh
# A compiler that does not end over a unit holds nobody up: the unit is compiled at a lower level, which is said, also where
# the cache has it. One that works at no level is refused, with what it did.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >cc <<'CC'
#!/bin/sh
case $* in *" -c "*) ;; *) exec gcc "$@" ;; esac
echo "$*" >>"$0.log"
[ "$(wc -l <"$0.log")" = 1 ] || [ ! -e "$0.works" ] || exec gcc "$@"
while :; do :; done
CC
chmod +x cc
TESSERA_CC=$PWD/cc
export TESSERA_CC
: >cc.works

expect 0 'took too long over unit 1 of 1 (relu): it was compiled with -O' run 'relu f32[32]' --seed 1 --cache-dir cache
[ "$(wc -l <cc.log)" = 2 ] || wrong "the compiler was given a unit $(wc -l <cc.log) times, not twice"
expect 0 'took too long over unit 1 of 1 (relu)' run 'relu f32[32]' --seed 1 --cache-dir cache
[ "$(wc -l <cc.log)" = 2 ] || wrong "what was slow once is compiled again, though it is in the cache"
rm cc.works cc.log
expect 5 'T004' run 'relu f32[32]' --seed 1 --cache-dir none
finish
