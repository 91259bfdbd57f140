# python.sh - for tests that need packages of Python; sourced. `python_with "onnx, numpy"` names the first interpreter that
# has them $python, $PYTHON before python3, or fails; `python_needed` also makes the folder $work, and skips the test instead.
# shellcheck shell=sh
python_with() {
    for python in ${PYTHON:-} python3; do
        "$python" -c "import $1" 2>/dev/null && return
    done
    python=
    return 1
}
python_needed() {
    python_with "$1" || { echo "no Python with $1"; exit 77; }
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
}
