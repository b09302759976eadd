//! What kind of file system a directory lies on, and which kinds belong to one kernel.
//!
//! Responsibility: to tell where `flock` is seen by everybody who uses the files. On a network or
//! shared file system it may be seen by this host only, or by nobody.
//!
//! Limits: a list of names known to be good. What isn't on it only loses conveniences (a dead
//! holder is then recognised by waiting), never safety.

use std::borrow::Cow;
use std::fs::File;

use nix::sys::statfs::fstatfs;

/// A kind of file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSystem {
    /// What it is called, for people.
    pub(crate) name: Cow<'static, str>,
    /// Whether a single kernel owns it.
    pub(crate) is_local: bool,
}

#[cfg(target_os = "linux")]
pub(super) fn file_system(directory: &File) -> FileSystem {
    use nix::sys::statfs as known;
    use nix::sys::statfs::FsType;

    // nix has no constants for these on every target.
    const XFS: FsType = FsType(0x5846_5342);
    const ZFS: FsType = FsType(0x2fc1_2fc1);
    const CIFS: FsType = FsType(0xff53_4d42);
    const SMB2: FsType = FsType(0xfe53_4d42);
    const NINE_P: FsType = FsType(0x0102_1997);
    // ext2 and ext3 share ext4's number.
    let local = [
        (known::EXT4_SUPER_MAGIC, "ext4"),
        (XFS, "xfs"),
        (known::BTRFS_SUPER_MAGIC, "btrfs"),
        (known::TMPFS_MAGIC, "tmpfs"),
        (known::OVERLAYFS_SUPER_MAGIC, "overlay"),
        (known::F2FS_SUPER_MAGIC, "f2fs"),
        (ZFS, "zfs"),
    ];
    let shared = [
        (known::NFS_SUPER_MAGIC, "nfs"),
        (known::FUSE_SUPER_MAGIC, "fuse"),
        (CIFS, "cifs"),
        (SMB2, "smb2"),
        (NINE_P, "9p"),
    ];
    let Ok(stat) = fstatfs(directory) else {
        return FileSystem::unknown("unknown");
    };
    let kind = stat.filesystem_type();
    let find = |list: &[(FsType, &'static str)]| {
        let found = list.iter().find(|(number, _)| *number == kind);
        found.map(|(_, name)| *name)
    };
    match (find(&local), find(&shared)) {
        (Some(name), _) => FileSystem {
            name: name.into(),
            is_local: true,
        },
        (None, Some(name)) => FileSystem::unknown(name),
        (None, None) => FileSystem::unknown(format!("type {:#x}", kind.0)),
    }
}

#[cfg(target_os = "macos")]
pub(super) fn file_system(directory: &File) -> FileSystem {
    let Ok(stat) = fstatfs(directory) else {
        return FileSystem::unknown("unknown");
    };
    let name = stat.filesystem_type_name();
    FileSystem {
        name: name.to_owned().into(),
        is_local: matches!(name, "apfs" | "hfs"),
    }
}

impl FileSystem {
    /// One that is not known to belong to a single kernel.
    fn unknown(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            is_local: false,
        }
    }
}
