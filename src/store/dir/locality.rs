//! Which file systems belong to one kernel.
//!
//! Responsibility: to tell where `flock` is seen by everybody who uses the files. On a network or
//! shared file system it may be seen by this host only, or by nobody.
//!
//! Limits: a list of names known to be good. What isn't on it only loses conveniences (a dead
//! holder is then recognised by waiting), never safety.

use std::fs::File;

use nix::sys::statfs::fstatfs;

#[cfg(target_os = "linux")]
pub(super) fn is_local(directory: &File) -> bool {
    use nix::sys::statfs as known;
    use nix::sys::statfs::FsType;

    // nix has no constants for these two on every target.
    const XFS: FsType = FsType(0x5846_5342);
    const ZFS: FsType = FsType(0x2fc1_2fc1);
    // ext2 and ext3 share ext4's number.
    let local = [
        known::EXT4_SUPER_MAGIC,
        XFS,
        known::BTRFS_SUPER_MAGIC,
        known::TMPFS_MAGIC,
        known::OVERLAYFS_SUPER_MAGIC,
        known::F2FS_SUPER_MAGIC,
        ZFS,
    ];
    fstatfs(directory).is_ok_and(|stat| local.contains(&stat.filesystem_type()))
}

#[cfg(target_os = "macos")]
pub(super) fn is_local(directory: &File) -> bool {
    fstatfs(directory).is_ok_and(|stat| matches!(stat.filesystem_type_name(), "apfs" | "hfs"))
}
