//! `garth man`: the manual pages, from the help texts.

use std::path::Path;

use anyhow::Context;
use clap::Command;

/// Writes `garth.1`, and a page for each command, such as `garth-user-create.1`.
pub fn write(command: Command, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), folder)
        .with_context(|| format!("cannot write the manual pages into {}", folder.display()))
}
