#!/bin/bash
# Sets up and runs every check and test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. scripts/setup.sh
# Build systems that the tests watch, what applies a fix, and the sanitizer runtime that confirms
# witnesses.
# Chromium opens the HTML report.
setup make cmake ninja-build patch libclang-rt-19-dev chromium chromium-driver

cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace --no-fail-fast
else
    cargo test --workspace --no-fail-fast
fi
