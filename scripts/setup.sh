# Installs the system packages that leakproof is built with and runs with, and nothing when they
# are there. Sourced by run.sh and test.sh: setup PACKAGE... (besides the ones always needed).
# Works on Debian and its relatives, as root or with sudo.

# What a build of leakproof needs: the compiler that units go through, LLVM's library for bitcode of
# other releases, the solver, and what Rust links with.
LEAKPROOF_PACKAGES="clang-19 llvm-19-dev libclang-19-dev libz3-dev gcc libc6-dev pkg-config"

missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
            echo "$package"
    done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "setup: not root and no sudo here; run this as root: $*" >&2
        return 1
    fi
}

# Without dpkg we can only look for the tools themselves.
setup_without_dpkg() {
    local tool lacking=""
    for tool in clang-19 llvm-config-19; do
        command -v "$tool" >/dev/null || lacking="$lacking $tool"
    done
    if [ -n "$lacking" ]; then
        echo "setup: this is no Debian system, and$lacking cannot be found." >&2
        echo "setup: install LLVM 19 with clang and Z3 with their headers, then start again." >&2
        return 1
    fi
}

setup() {
    if ! command -v cargo >/dev/null; then
        echo "setup: cargo cannot be found; install Rust (rustup.rs), then start again." >&2
        return 1
    fi
    if ! command -v dpkg-query >/dev/null; then
        setup_without_dpkg
        return
    fi
    local missing
    missing=$(missing_packages $LEAKPROOF_PACKAGES "$@" | tr '\n' ' ')
    if [ -z "$missing" ]; then
        return 0
    fi
    echo "setup: installing: $missing" >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 || return 1
    if ! apt-cache show clang-19 >/dev/null 2>&1; then
        echo "setup: this release of $(. /etc/os-release && echo "$PRETTY_NAME") has no package clang-19." >&2
        echo "setup: Debian 12 and later and Ubuntu 24.04 and later have it; on others, add LLVM's" >&2
        echo "setup: own package archive, which has clang-19 and llvm-19-dev, then start again." >&2
        return 1
    fi
    # shellcheck disable=SC2086
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends $missing >&2
}
