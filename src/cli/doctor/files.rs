//! Permissions of the data folder and of files with secrets, free disk space, and file systems.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::advice::Advice;
use super::folder::FolderProblem;
use crate::cli::settings::Settings;
use crate::cli::store_args::StoreArgs;
use crate::web::Options;

/// Space for several days: below this multiple of the required free space, an operator should act.
const COMFORTABLE_FACTOR: u64 = 4;

/// Permissions of the store.
const PRIVATE_FOLDER: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;
/// Permissions of a file with a secret. It can belong to root, and the server reads it as a member of its group.
const SECRET_FILE: u32 = 0o640;

/// File systems that lose data or locks, by the magic number of `statfs`.
const UNSUITABLE: [(i64, &str, &str); 4] = [
    (0x0102_1994, "tmpfs", "loses its files when the machine restarts"),
    (
        0x6969,
        "NFS",
        "does not lock files reliably, so that the store can be damaged",
    ),
    (
        0xFF53_4D42,
        "SMB",
        "does not lock files reliably, so that the store can be damaged",
    ),
    (
        0xFE53_4D42,
        "SMB",
        "does not lock files reliably, so that the store can be damaged",
    ),
];

pub fn examine(args: &StoreArgs, settings: &Settings) -> Vec<Advice> {
    let data = args.folder(settings);
    let uses_embedded_store = matches!(args.database(settings), Ok(None));
    let mut advice = match FolderProblem::find(&data) {
        Some(problem) => examine_data_folder(&data, &problem, uses_embedded_store),
        None => examine_private_folder(&data, "data folder", settings),
    };
    if uses_embedded_store && data.exists() {
        advice.extend(examine_file_system(&data));
        advice.extend(examine_mode(&data.join("garth.db"), "data folder", PRIVATE_FILE));
    }
    for (setting, path) in secret_files(args, settings) {
        // A missing file prevents the start of the server, so the validation of the settings reports it.
        advice.extend(examine_mode(&path, setting, SECRET_FILE));
    }
    advice
}

fn examine_data_folder(data: &Path, problem: &FolderProblem, uses_embedded_store: bool) -> Vec<Advice> {
    let fix = match (problem, problem.permissions_fix(data)) {
        // A node of a shared database has only files of current uploads in the folder.
        (FolderProblem::Missing, _) if !uses_embedded_store => return Vec::new(),
        (FolderProblem::Missing, _) => {
            "for a new installation, start the server, which creates the folder; otherwise correct --data, GARTH_DATA \
             or data in the settings file"
                .to_owned()
        }
        (_, Some(fix)) => fix,
        (_, None) => "correct --data, GARTH_DATA or data in the settings file".to_owned(),
    };
    vec![Advice::new("data folder", problem.describe(data), fix)]
}

/// Finds permissions that let other users access the folder, and a disk that is nearly full.
pub fn examine_private_folder(folder: &Path, area: &'static str, settings: &Settings) -> Vec<Advice> {
    let mode = examine_mode(folder, area, PRIVATE_FOLDER);
    mode.into_iter().chain(examine_space(folder, settings)).collect()
}

/// The files that only the server's user should be able to read.
fn secret_files(args: &StoreArgs, settings: &Settings) -> Vec<(&'static str, PathBuf)> {
    let named = [
        ("tls_key", &settings.tls_key),
        ("database_password_file", &settings.database_password_file),
        ("bootstrap_token_file", &settings.bootstrap_token_file),
        (
            "attachments.access_key_file",
            &settings.attachments.access_key_file,
        ),
        (
            "attachments.secret_key_file",
            &settings.attachments.secret_key_file,
        ),
        ("mail.password_file", &settings.mail.password_file),
    ];
    let mut files: Vec<_> = named
        .into_iter()
        .filter_map(|(setting, path)| Some((setting, path.clone()?)))
        .collect();
    // The settings file is a secret only if it has a database URL, which can contain a password.
    if settings.database.is_some() {
        files.extend(args.config.clone().map(|path| ("settings file", path)));
    }
    files
}

/// Finds permissions that let other users read or write.
fn examine_mode(path: &Path, area: &'static str, allowed: u32) -> Option<Advice> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    // The owner may have any permission.
    if mode & !(allowed | 0o700) == 0 {
        return None;
    }
    let path = path.display();
    Some(Advice::new(
        area,
        format!("other users can access {path} (mode {mode:04o})"),
        format!("run chmod {allowed:o} {path}"),
    ))
}

fn examine_space(folder: &Path, settings: &Settings) -> Option<Advice> {
    let required = settings
        .min_free_bytes
        .unwrap_or(Options::default().min_free_bytes);
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let path = folder.display();
    if free < required {
        return Some(Advice::new(
            "disk",
            format!("{} MiB are free for {path}: /readyz fails", free >> 20),
            "free disk space, or move the folder to a larger disk",
        ));
    }
    (free < required.saturating_mul(COMFORTABLE_FACTOR)).then(|| {
        Advice::new(
            "disk",
            format!(
                "only {} MiB are free for {path}; below {} MiB, /readyz fails",
                free >> 20,
                required >> 20
            ),
            "free disk space, or move the folder to a larger disk",
        )
    })
}

fn examine_file_system(folder: &Path) -> Option<Advice> {
    let magic = rustix::fs::statfs(folder).ok()?.f_type;
    let (_, name, problem) = UNSUITABLE.iter().find(|(number, ..)| *number == magic)?;
    Some(Advice::new(
        "disk",
        format!("{} is on {name}, which {problem}", folder.display()),
        "move the data folder to a local disk, or use PostgreSQL",
    ))
}
