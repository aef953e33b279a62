//! The model files that come with the tool, embedded in the binary.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../models/", $name)))),*]
    };
}

/// File name and text. A file is added to the library by a line here.
pub(crate) const FILES: &[(&str, &str)] = files![
    "libc/alloc.model",
    "libc/string.model",
    "libc/wide.model",
    "libc/stdio.model",
    "libc/stdlib.model",
    "libc/files.model",
    "libc/unix.model",
    "libc/net.model",
    "libc/threads.model",
    "libc/cxx.model",
    "lib/glib.model",
    "lib/openssl.model",
    "lib/compress.model",
    "lib/libxml2.model",
    "lib/sqlite.model",
    "lib/curl.model",
    "lib/json.model",
    "lib/pcre.model",
    "lib/event.model",
    "lib/terminal.model",
    "lib/expat.model",
    "lib/image.model",
    "lib/auth.model",
    "lib/bus.model",
    "lib/archive.model",
    "lib/system.model",
    "lib/crypto.model",
    "lib/pools.model",
    "lib/data.model",
    "lib/display.model",
    "lib/netlink.model",
    "lib/alsa.model",
];
