#!/bin/bash
# Sets up, builds and runs leakproof. Without arguments it checks the bundled example; with
# arguments it passes them on: ./run.sh check -p build
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$root/scripts/setup.sh"
setup

cargo build --release --quiet --manifest-path "$root/Cargo.toml" --package leakproof
leakproof="${CARGO_TARGET_DIR:-$root/target}/release/leakproof"
if [ $# -gt 0 ]; then
    exec "$leakproof" "$@"
fi

cd "$root/examples/inventory"
echo "\$ cd examples/inventory && leakproof check"
status=0
"$leakproof" check || status=$?
# The example has leaks on purpose: finding them (1) is success here, a failed run (2) is not.
if [ "$status" -gt 1 ]; then
    exit "$status"
fi
