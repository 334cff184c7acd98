//! `garth backup` and `garth restore` on the embedded store. `tests/nodes` tests them on PostgreSQL.

mod command;
pub mod content;
mod damage;
mod files;
mod kills;
mod target;

use std::path::PathBuf;
use std::process::Command;

use crate::harness::{Folder, Server};
use crate::process::{Process, ProcessOutput};
use content::Amount;

/// A store for tests that need only some objects of each kind.
const SMALL: Amount = Amount {
    vpcs: 2,
    subnets_per_vpc: 30,
    files: 5,
};

/// A server whose first account has these objects.
fn server_with(folder: &Folder, amount: Amount) -> Server {
    let server = folder.start();
    folder.run("account quota 1 --vpcs-per-region 1000 --subnets-per-vpc 1000");
    content::create(&mut server.client(), amount);
    server
}

/// Runs a command to its end.
fn run(command: &mut Command) -> ProcessOutput {
    Process::spawn(command).wait()
}

/// Backs up the folder's store; returns the archive.
fn back_up(folder: &Folder, name: &str) -> PathBuf {
    let archive = folder.path(name);
    let output = run(folder.garth_with_files("backup").arg(&archive));
    assert_eq!(output.code, Some(0), "{output:?}");
    archive
}

/// Restores an archive into the folder's store.
fn restore(folder: &Folder, archive: &PathBuf) -> ProcessOutput {
    run(folder.garth_with_files("restore").arg(archive))
}

/// Starts a server on the restored store, and compares everything that the API shows.
fn assert_restored(folder: &Folder, expected: &content::Responses) {
    let server = folder.start();
    content::assert_equal(&content::read(&mut server.client()), expected);
    assert_eq!(server.stop().code, Some(0));
    folder.assert_sound();
}
