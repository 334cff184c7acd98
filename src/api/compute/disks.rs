//! JSON views of disks.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::disk::Disk;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
struct DiskView<'a> {
    id: i64,
    status: &'static str,
    label: &'a str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
    filesystem: &'static str,
    size: i64,
    disk_encryption: &'static str,
}

impl<'a> DiskView<'a> {
    fn new(disk: &'a Disk) -> Self {
        Self {
            id: disk.id.0,
            status: disk.status.word(),
            label: disk.label.as_str(),
            created: disk.created,
            updated: disk.updated,
            filesystem: disk.filesystem.word(),
            size: disk.size,
            disk_encryption: disk.encryption.word(),
        }
    }
}

pub fn one(disk: &Disk, _: &ViewContext) -> Response {
    answer::one(disk, &DiskView::new(disk))
}

pub fn page(disks: &Paged<Disk>, _: &ViewContext) -> Response {
    answer::page(disks, DiskView::new)
}
