# taken.sh - for tests that build a copy of the tree in $copy, a git folder; sourced there. Sets $launcher: a compiler
# launcher that takes objects of the build that is tested, where they are of the same source and newer than what that
# includes.
# shellcheck shell=sh
cat >.git/compile <<'SH'
#!/bin/sh
for word in "$@"; do
    [ "${source:-}" != -o ] || object=$word
    source=$word
done
case $source in
"$COPY/build/"*) same=$BUILD/${source#"$COPY/build/"} ;;
*) same=$SOURCE/${source#"$COPY/"} ;;
esac
taken=$BUILD/${object:-none}
if cmp -s "$source" "$same" && [ "$taken" -nt "$same" ] && [ "$taken" -nt "$NEWEST" ]; then
    exec cp "$taken" "$object"
fi
exec "$@"
SH
chmod +x .git/compile
NEWEST=$SOURCE/$(cd "$SOURCE" && git ls-files -co --exclude-standard -z '*.h' 'CMakeLists.txt' 'cmake/*' | xargs -0 ls -t | sed -n 1p)
COPY=$copy
export COPY NEWEST
launcher=$copy/.git/compile
! grep -q 'TESSERA_SANITIZE:BOOL=ON' "$BUILD/CMakeCache.txt" || launcher=
