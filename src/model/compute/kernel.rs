//! Kernels that configs can name. There is no real machine that boots them.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    pub id: &'static str,
    pub label: &'static str,
    pub version: &'static str,
    pub architecture: &'static str,
    /// Whether the kernel supports paravirtualization. Boot loaders do not.
    pub pvops: bool,
    /// The time of the build, in the format of the API.
    pub built: &'static str,
}

impl Kernel {
    /// All kernels have these values.
    pub const KVM: bool = true;
    pub const DEPRECATED: bool = false;
}

/// The public service also has kernels with a fixed version. Garth does not have them.
pub const KERNELS: [Kernel; 5] = [
    Kernel {
        id: "linode/latest-64bit",
        label: "Latest 64 bit (6.14.3-x86_64-linode168)",
        version: "6.14.3",
        architecture: "x86_64",
        pvops: true,
        built: "2025-04-24T14:24:37",
    },
    Kernel {
        id: "linode/latest-32bit",
        label: "Latest 32 bit (6.14.3-x86-linode188)",
        version: "6.14.3",
        architecture: "i386",
        pvops: true,
        built: "2025-04-24T14:24:22",
    },
    Kernel {
        id: "linode/grub2",
        label: "GRUB 2",
        version: "2.06",
        architecture: "x86_64",
        pvops: false,
        built: "2022-08-24T14:06:27",
    },
    Kernel {
        id: "linode/direct-disk",
        label: "Direct Disk",
        version: "",
        architecture: "x86_64",
        pvops: false,
        built: "2014-12-03T00:00:00",
    },
    Kernel {
        id: "linode/grub-legacy",
        label: "GRUB (Legacy)",
        version: "2.0.0",
        architecture: "x86_64",
        pvops: false,
        built: "2014-12-03T00:00:00",
    },
];
