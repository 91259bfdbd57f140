# A build in which something is missing installs nothing and says what to build, which is what `./dev bench` builds.
# ctest: fast
set -eu
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
sed "s|$BUILD/|$to/empty/|g" "$BUILD/cmake_install.cmake" >"$to/install.cmake"
if cmake -DCMAKE_INSTALL_PREFIX="$to/usr" -P "$to/install.cmake" >"$to/said" 2>&1; then
    echo "an empty build was installed" && exit 1
fi
tr -s ' \n' '  ' <"$to/said" >"$to/line"
wanted="$to/empty/tessera is not built, so nothing was installed. First: cmake --build $BUILD --target command shared"
grep -qF "$wanted" "$to/line" || { echo "wanted: $wanted"; cat "$to/said"; exit 1; }
[ ! -e "$to/usr" ] || { echo "something was installed"; find "$to/usr"; exit 1; }
grep -q 'cmake --build build --target command shared ' "$SOURCE/dev"
# and it installs before that what draws pictures
sed -n '/^to_build=/,/"$/p' "$SOURCE/dev" | grep -q 'dot:graphviz'
