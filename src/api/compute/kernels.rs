//! JSON views of kernels.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::kernel::Kernel;
use crate::model::page::Paged;
use crate::web::answer;

#[derive(Serialize)]
struct KernelView<'a> {
    id: &'a str,
    label: &'a str,
    version: &'a str,
    kvm: bool,
    architecture: &'a str,
    pvops: bool,
    deprecated: bool,
    built: &'a str,
}

impl<'a> KernelView<'a> {
    fn new(kernel: &'a Kernel) -> Self {
        Self {
            id: kernel.id,
            label: kernel.label,
            version: kernel.version,
            kvm: Kernel::KVM,
            architecture: kernel.architecture,
            pvops: kernel.pvops,
            deprecated: Kernel::DEPRECATED,
            built: kernel.built,
        }
    }
}

pub fn one(kernel: &Kernel, _: &ViewContext) -> Response {
    answer::one(kernel, &KernelView::new(kernel))
}

pub fn page(kernels: &Paged<Kernel>, _: &ViewContext) -> Response {
    answer::page(kernels, KernelView::new)
}
