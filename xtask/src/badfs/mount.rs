//! Mounts the folder, and answers the kernel.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result};

use super::fault::Fault;
use super::folder::{Folder, ROOT};
use super::wire::{self, Reply, Request, errno, op};
use crate::run;

/// Requests that are answered at once.
const THREADS: usize = 4;

/// A mounted folder; it is unmounted when this value is dropped.
pub(super) struct Mount {
    at: PathBuf,
    folder: Arc<Mutex<Folder>>,
}

impl Mount {
    /// Mounts an empty folder here.
    pub(super) fn new(at: &Path) -> Result<Self> {
        // One that an earlier run left behind does not answer any more.
        unmount(at);
        fs::create_dir_all(at)?;
        let device = OpenOptions::new().read(true).write(true).open("/dev/fuse");
        let device = Arc::new(device.context("/dev/fuse is missing or not permitted; be root")?);
        // The device is the standard input of `mount`: number 0.
        let options = "fd=0,rootmode=40000,user_id=0,group_id=0";
        let mut command = Command::new("mount");
        command.args(["-i", "-t", "fuse", "-o", options, "tet-badfs"]).arg(at);
        run::output(command.stdin(device.try_clone()?))
            .context("a FUSE file system cannot be mounted; be root")?;
        let folder = Arc::new(Mutex::new(Folder::new()));
        for _ in 0..THREADS {
            let (device, folder) = (Arc::clone(&device), Arc::clone(&folder));
            thread::spawn(move || serve(&device, &folder));
        }
        Ok(Self { at: at.to_owned(), folder })
    }

    /// Where it is mounted.
    pub(super) fn at(&self) -> &Path {
        &self.at
    }

    /// The folder.
    pub(super) fn folder(&self) -> MutexGuard<'_, Folder> {
        lock(&self.folder)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        unmount(&self.at);
    }
}

/// Unmounts what is mounted here, if anything is.
fn unmount(at: &Path) {
    let mut command = Command::new("umount");
    let _ = command.args(["-q", "-l"]).arg(at).stderr(Stdio::null()).status();
}

fn lock(folder: &Mutex<Folder>) -> MutexGuard<'_, Folder> {
    folder.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers requests until the folder is unmounted.
fn serve(device: &File, folder: &Mutex<Folder>) {
    let mut buffer = vec![0; usize::try_from(wire::WRITE_LEN_MAX).unwrap_or(0) + 4096];
    let mut device = device;
    loop {
        let len = match device.read(&mut buffer) {
            Ok(len) => len,
            // A request that was taken back.
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::NotFound) => {
                continue;
            }
            Err(_) => return,
        };
        let Some(request) = Request::parse(&buffer[..len]) else { return };
        if matches!(request.op, op::FORGET | op::BATCH_FORGET | op::INTERRUPT) {
            continue;
        }
        let reply = answer(&request, folder);
        // Who asked may be gone by now.
        let _ = device.write(&wire::reply(request.unique, reply));
    }
}

fn answer(request: &Request<'_>, folder: &Mutex<Folder>) -> Reply {
    match request.op {
        op::INIT => wire::init(request).ok_or(errno::EINVAL),
        op::DESTROY | op::RELEASE | op::RELEASEDIR => Ok(Vec::new()),
        op::STATFS => Ok(wire::statfs()),
        op::READ => {
            let fields = request.u64(8).zip(request.u32(16));
            let (offset, len) = fields.ok_or(errno::EINVAL)?;
            let (bytes, pause) = lock(folder).read(request.node, offset, len)?;
            if !pause.is_zero() {
                thread::sleep(pause);
            }
            Ok(bytes)
        }
        op::OPEN | op::OPENDIR | op::READDIR | op::FLUSH | op::FSYNC | op::FSYNCDIR => {
            answer_of_open(request, &lock(folder))
        }
        _ => answer_of_names(request, &mut lock(folder)),
    }
}

/// Requests for a file or folder that is open, or becomes so.
fn answer_of_open(request: &Request<'_>, folder: &Folder) -> Reply {
    let fault = folder.fault();
    match request.op {
        op::OPENDIR if *fault == Fault::ListFails => Err(errno::EIO),
        op::OPENDIR => Ok(wire::opened(0)),
        op::OPEN if fault.counts_reads() => Ok(wire::opened(wire::DIRECT_IO)),
        op::OPEN => Ok(wire::opened(0)),
        op::READDIR => {
            let fields = request.u64(8).zip(request.u32(16));
            let (from, len) = fields.ok_or(errno::EINVAL)?;
            Ok(wire::dirents(folder.names(), from, len))
        }
        op::FLUSH if *fault == Fault::CloseFails => Err(errno::EIO),
        op::FSYNC if *fault == Fault::SyncFails => Err(errno::EIO),
        op::FSYNCDIR if *fault == Fault::FolderSyncFails => Err(errno::EIO),
        _ => Ok(Vec::new()),
    }
}

/// Requests for names and for what files hold.
fn answer_of_names(request: &Request<'_>, folder: &mut Folder) -> Reply {
    let name = |at| request.names(at).next().ok_or(errno::EINVAL);
    let number = |at| request.u32(at).ok_or(errno::EINVAL);
    match request.op {
        op::LOOKUP if request.node == ROOT => {
            let node = folder.find(&name(0)?)?;
            Ok(folder.attributes(node)?.entry())
        }
        op::GETATTR => Ok(folder.attributes(request.node)?.stat()),
        op::SETATTR => {
            let valid = number(0)?;
            let len = request.u64(16).filter(|_| valid & 8 != 0);
            let mode = request.u32(68).filter(|_| valid & 1 != 0);
            folder.change(request.node, len, mode)?;
            Ok(folder.attributes(request.node)?.stat())
        }
        op::CREATE => {
            let node = folder.create(&name(16)?, number(4)?)?;
            let mut out = folder.attributes(node)?.entry();
            out.extend(wire::opened(0));
            Ok(out)
        }
        op::LINK => {
            let node = request.u64(0).ok_or(errno::EINVAL)?;
            folder.link(node, &name(8)?)?;
            Ok(folder.attributes(node)?.entry())
        }
        op::UNLINK => folder.remove(&name(0)?).map(|()| Vec::new()),
        op::RENAME | op::RENAME2 => {
            let (flags, at) = if request.op == op::RENAME { (0, 8) } else { (number(8)?, 16) };
            let mut names = request.names(at);
            let (from, to) = names.next().zip(names.next()).ok_or(errno::EINVAL)?;
            folder.rename(&from, &to, flags).map(|()| Vec::new())
        }
        op::WRITE => {
            let fields = request.u64(8).zip(request.u32(16));
            let (offset, len) = fields.ok_or(errno::EINVAL)?;
            let len = usize::try_from(len).map_err(|_| errno::EINVAL)?;
            let new = request.body.get(40..).and_then(|new| new.get(..len));
            let written = folder.write(request.node, offset, new.ok_or(errno::EINVAL)?)?;
            let mut out = written.to_le_bytes().to_vec();
            out.resize(8, 0);
            Ok(out)
        }
        _ => Err(errno::ENOSYS),
    }
}
