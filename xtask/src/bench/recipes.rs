//! Real programs of different build systems and sizes: where they come from and how they are built.

use super::judged::recipes::JUDGED;
use super::projects::BenchProject;

/// Every program that costs are measured on, the quick ones first.
pub fn all() -> impl Iterator<Item = &'static BenchProject> {
    PROJECTS.iter().chain(LARGE)
}

/// Every program that can be asked for by name.
pub fn known() -> impl Iterator<Item = &'static BenchProject> {
    all().chain(JUDGED)
}

/// Built within a minute each: every benchmark can afford them.
pub const PROJECTS: &[BenchProject] = &[
    BenchProject {
        name: "bzip2",
        release: None,
        build_system: "make",
        packages: &[],
        configure: "make clean",
        build: "make -j2 bzip2 bzip2recover",
    },
    BenchProject {
        name: "zlib",
        release: None,
        build_system: "own configure",
        packages: &[],
        configure: "./configure && make clean",
        build: "make -j2",
    },
    BenchProject {
        name: "json-c",
        release: None,
        build_system: "cmake, ninja",
        packages: &["cmake", "ninja-build"],
        configure: "rm -rf out && cmake -G Ninja -S . -B out",
        build: "ninja -C out",
    },
    BenchProject {
        name: "pkgconf",
        release: None,
        build_system: "meson, ninja",
        packages: &["meson", "ninja-build"],
        configure: "rm -rf out && meson setup out -Dtests=false",
        build: "ninja -C out",
    },
    BenchProject {
        name: "memcached",
        release: None,
        build_system: "autotools",
        packages: &["autoconf", "automake", "libevent-dev"],
        configure: "([ -x configure ] || autoreconf -fi) && ./configure --disable-docs && make clean",
        build: "make -j2 memcached",
    },
    BenchProject {
        name: "htop",
        release: None,
        build_system: "autotools",
        packages: &["autoconf", "automake", "libncurses-dev"],
        configure: "([ -x configure ] || ./autogen.sh) && ./configure && make clean",
        build: "make -j2",
    },
    BenchProject {
        name: "tmux",
        release: None,
        build_system: "autotools",
        packages: &[
            "autoconf",
            "automake",
            "bison",
            "libevent-dev",
            "libncurses-dev",
            "libutempter-dev",
        ],
        configure: "([ -x configure ] || autoreconf -fi) && ./configure --enable-utempter && make clean",
        build: "make -j2",
    },
    BenchProject {
        name: "openssh",
        release: None,
        build_system: "autotools",
        packages: &["autoconf", "automake", "libssl-dev", "zlib1g-dev"],
        configure: "autoreconf -fi && ./configure && make clean",
        build: "make -j2",
    },
];

/// For the benchmarks of scale.
pub const LARGE: &[BenchProject] = &[
    BenchProject {
        name: "wget",
        release: None,
        build_system: "autotools",
        packages: &["libssl-dev", "pkg-config", "texinfo", "zlib1g-dev"],
        configure: "./configure --with-ssl=openssl --disable-nls && make clean",
        build: "make -j2",
    },
    BenchProject {
        name: "curl",
        release: None,
        build_system: "cmake, ninja",
        packages: &["cmake", "ninja-build", "libssl-dev", "zlib1g-dev"],
        configure: "rm -rf out && cmake -G Ninja -S . -B out -DBUILD_TESTING=OFF",
        build: "ninja -C out",
    },
    BenchProject {
        name: "libxml2",
        release: None,
        build_system: "cmake, ninja",
        packages: &["cmake", "ninja-build"],
        configure: "rm -rf out && cmake -G Ninja -S . -B out -DLIBXML2_WITH_PYTHON=OFF \
                    -DLIBXML2_WITH_LZMA=OFF -DLIBXML2_WITH_ICU=OFF",
        build: "ninja -C out",
    },
    BenchProject {
        name: "sqlite3",
        release: None,
        build_system: "autotools",
        packages: &["tcl"],
        configure: "./configure --disable-tcl --disable-readline && make sqlite3.c && make clean \
                    && make sqlite3.c",
        build: "make sqlite3",
    },
    BenchProject {
        name: "coreutils",
        release: None,
        build_system: "autotools",
        packages: &[],
        configure: "FORCE_UNSAFE_CONFIGURE=1 ./configure --disable-nls && make clean",
        build: "make -j2",
    },
    BenchProject {
        name: "apache2",
        release: None,
        build_system: "autotools",
        packages: &["libapr1-dev", "libaprutil1-dev", "libpcre2-dev", "libssl-dev", "zlib1g-dev"],
        configure: "./configure --enable-mods-static=most --with-mpm=event && make clean",
        build: "make -j2",
    },
    BenchProject {
        name: "openssl",
        release: None,
        build_system: "own configure",
        packages: &["perl"],
        configure: "./Configure linux-x86_64-clang no-asm no-tests && make build_generated",
        build: "make -j2 CC=clang-19",
    },
    BenchProject {
        name: "ffmpeg",
        release: None,
        build_system: "own configure",
        packages: &["pkg-config"],
        configure: "./configure --cc=clang-19 --disable-x86asm --disable-inline-asm \
                    --disable-optimizations --disable-doc",
        build: "make -j2",
    },
];
