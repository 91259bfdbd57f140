#!/bin/sh
# aarch64_root.sh FOLDER - the libraries that Tessera is built with, for AArch64, from Debian's archive, laid out below
# FOLDER as on such a machine. Nothing is installed here, and nobody need be root: lists, packages and what is unpacked
# lie there.
set -eu
root=$1
packages='libprotobuf-c-dev libcjson-dev libhwloc-dev libssl-dev libutf8proc-dev libpcre2-dev libarchive-dev'
[ "$(cat "$root/complete" 2>/dev/null)" != "$packages" ] || exit 0 # of all that is built with today
rm -rf "$root"
mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial"
: >"$root/apt/status"
get() {
    apt-get -qq -o Dir::State="$root/apt" -o Dir::State::status="$root/apt/status" -o Dir::Cache="$root/apt" \
        -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Debug::NoLocking=1 "$@"
}
get update
# shellcheck disable=SC2086 # words
get install -y --download-only --no-install-recommends $packages >/dev/null
for package in "$root"/apt/archives/lib*.deb "$root"/apt/archives/linux-libc-dev*.deb "$root"/apt/archives/zlib*.deb; do
    dpkg-deb -x "$package" "$root"
done
rm -rf "$root/apt"
echo "$packages" >"$root/complete"
