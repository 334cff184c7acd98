//! Opens the attachment storage at a URL.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;

use super::BucketKeys;
use super::error::FilesError;

pub struct Storage {
    pub store: Box<dyn ObjectStore>,
    /// The path, if the storage is a folder.
    pub folder: Option<PathBuf>,
    pub prefix: Key,
    pub part: usize,
    pub permits: usize,
}

/// The folder of the storage. `None` if the URL does not name a folder.
pub fn folder_of(url: Option<&str>, data: &Path) -> Option<PathBuf> {
    match url.map(|url| (url, url.split_once("://"))) {
        None => Some(data.join("attachments")),
        Some((_, Some(("file", path)))) if path.starts_with('/') => Some(PathBuf::from(path)),
        Some((path, None)) if !path.is_empty() => Some(PathBuf::from(path)),
        Some(_) => None,
    }
}

/// Opens the attachment storage: the folder or bucket at `url`, or a folder below `data`.
pub fn find(url: Option<&str>, data: &Path, keys: Option<&BucketKeys>) -> Result<Storage, FilesError> {
    const SETTING: &str = "attachments.url";
    match url {
        None => open_folder(SETTING, &data.join("attachments")),
        Some(url) => open(SETTING, url, keys),
    }
}

/// Opens the folder or bucket of a setting. The folder must exist.
pub fn open(setting: &'static str, url: &str, keys: Option<&BucketKeys>) -> Result<Storage, FilesError> {
    match url.split_once("://") {
        None if !url.is_empty() => open_folder(setting, Path::new(url)),
        Some(("file", path)) if path.starts_with('/') => open_folder(setting, Path::new(path)),
        Some(("s3", bucket)) if !bucket.starts_with('/') && !bucket.is_empty() => {
            open_bucket(setting, bucket, keys)
        }
        _ => Err(FilesError::new(setting, not_a_storage(url))),
    }
}

fn not_a_storage(url: &str) -> String {
    format!("{url:?} is neither a folder, nor file:///folder, nor s3://bucket/prefix")
}

fn open_folder(setting: &'static str, path: &Path) -> Result<Storage, FilesError> {
    if !path.is_dir() {
        let path = path.display();
        let text = format!("{path} is not a folder: mount the disk, or correct the setting");
        return Err(FilesError::new(setting, text));
    }
    let store = LocalFileSystem::new_with_prefix(path);
    let store = store.map_err(|cause| FilesError::new(format!("opening {}", path.display()), cause))?;
    Ok(Storage {
        // Stored files must survive a power failure.
        store: Box::new(store.with_fsync(true)),
        folder: Some(path.to_owned()),
        prefix: Key::default(),
        part: 256 * 1024,
        permits: 64,
    })
}

/// Opens a bucket, optionally with a prefix. All settings come from the environment (`AWS_…`), and also the
/// credentials if `keys` is `None`.
#[cfg(feature = "s3")]
fn open_bucket(
    setting: &'static str,
    bucket: &str,
    keys: Option<&BucketKeys>,
) -> Result<Storage, FilesError> {
    use object_store::RetryConfig;
    use object_store::aws::AmazonS3Builder;

    // Only the first call installs the provider; later calls have no effect.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (bucket, prefix) = bucket.split_once('/').unwrap_or((bucket, ""));
    // The client waits for the response. An early 503 is better than a success after the client has
    // disconnected.
    let retry = RetryConfig {
        max_retries: 5,
        retry_timeout: std::time::Duration::from_secs(10),
        ..RetryConfig::default()
    };
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_retry(retry);
    if let Some(keys) = keys {
        builder = builder
            .with_access_key_id(keys.access.reveal())
            .with_secret_access_key(keys.secret.reveal());
    }
    if !has_credentials(&builder) {
        return Err(FilesError::new(setting, MISSING_CREDENTIALS));
    }
    let store = builder.build();
    let store = store.map_err(|cause| FilesError::new("setting up S3", cause))?;
    let prefix = Key::parse(prefix.trim_matches('/'));
    let prefix = prefix.map_err(|cause| FilesError::new(format!("{setting}: the prefix"), cause))?;
    Ok(Storage {
        store: Box::new(store),
        folder: None,
        prefix,
        // S3 requires at least 5 MiB per part, except for the last part. Parts are held in memory, so only a
        // few files are uploaded concurrently.
        part: 8 * 1024 * 1024,
        permits: 4,
    })
}

#[cfg(feature = "s3")]
const MISSING_CREDENTIALS: &str = "a bucket needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
     attachments.access_key_file and attachments.secret_key_file. To use the role of a cloud machine, set \
     AWS_METADATA_ENDPOINT";

/// Whether the operator named a source of credentials. Without one, the library would request them from the metadata
/// address of a cloud, which can be any machine in the operator's network.
#[cfg(feature = "s3")]
fn has_credentials(builder: &object_store::aws::AmazonS3Builder) -> bool {
    use object_store::aws::AmazonS3ConfigKey as Key;
    let has = |key| builder.get_config_value(&key).is_some();
    let is_unsigned = builder.get_config_value(&Key::SkipSignature).as_deref() == Some("true");
    is_unsigned
        || has(Key::AccessKeyId)
        || has(Key::SecretAccessKey)
        || (has(Key::WebIdentityTokenFile) && has(Key::RoleArn))
        || has(Key::ContainerCredentialsRelativeUri)
        || (has(Key::ContainerCredentialsFullUri) && has(Key::ContainerAuthorizationTokenFile))
        || has(Key::MetadataEndpoint)
}

#[cfg(not(feature = "s3"))]
fn open_bucket(setting: &'static str, _: &str, _: Option<&BucketKeys>) -> Result<Storage, FilesError> {
    let cause = "this build of garth does not support S3; build it with the feature \"s3\"";
    Err(FilesError::new(setting, cause))
}

pub fn make_private_folder(path: &Path) -> Result<(), FilesError> {
    let created = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path);
    created.map_err(|cause| FilesError::new(format!("creating the folder {}", path.display()), cause))
}
