//! Kernels that configs can name. There is no real machine that boots them.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    pub id: &'static str,
    pub label: &'static str,
    pub version: &'static str,
    pub architecture: &'static str,
    /// The time of the build, in the format of the API.
    pub built: &'static str,
}

pub const KERNELS: [Kernel; 4] = [
    Kernel {
        id: "linode/latest-64bit",
        label: "Latest 64 bit (6.14.3-x86_64-linode168)",
        version: "6.14.3",
        architecture: "x86_64",
        built: "2025-04-24T14:24:37",
    },
    Kernel {
        id: "linode/latest-32bit",
        label: "Latest 32 bit (6.14.3-x86-linode192)",
        version: "6.14.3",
        architecture: "i386",
        built: "2025-04-24T14:24:22",
    },
    Kernel {
        id: "linode/grub2",
        label: "GRUB 2",
        version: "2.06",
        architecture: "x86_64",
        built: "2022-08-24T14:06:27",
    },
    Kernel {
        id: "linode/direct-disk",
        label: "Direct Disk",
        version: "1",
        architecture: "x86_64",
        built: "2014-12-03T00:00:00",
    },
];
