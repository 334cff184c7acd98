//! What remains on a host that the server refuses: the agent removes only the ports that it has restored itself.

use serde::Serialize;

use super::kernel_state::KernelState;
use super::names::{self, Namespace, Prefix};
use super::state_folder::StateFolder;

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Remains {
    /// The IDs of the interfaces whose ports exist.
    pub ports: Vec<i64>,
    pub namespaces: Vec<String>,
    /// The links in the namespace of the host.
    pub links: Vec<String>,
    /// The folder of the agent, which `garth agent purge` does not delete.
    pub folder: String,
    /// Why the kernel could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Remains {
    pub fn new(prefix: &Prefix, observed: Result<KernelState, String>, folder: &StateFolder) -> Self {
        let mut remains = Self {
            folder: folder.path().display().to_string(),
            ..Self::default()
        };
        let kernel = match observed {
            Ok(kernel) => kernel,
            Err(problem) => {
                remains.problem = Some(problem);
                return remains;
            }
        };
        for (namespace, state) in kernel.namespaces {
            let links = state.links.into_keys();
            match namespace {
                Namespace::Host => remains.links.extend(links),
                Namespace::Vpc(_) => remains
                    .ports
                    .extend(links.filter_map(|link| names::interface_of(&link))),
                Namespace::Instance(_) => {}
            }
            remains.namespaces.extend(namespace.name(prefix));
        }
        remains.ports.sort_unstable();
        remains
    }

    /// Logs one line.
    pub fn log(&self) {
        tracing::error!(
            ports = ?self.ports,
            namespaces = ?self.namespaces,
            links = ?self.links,
            folder = self.folder,
            problem = self.problem,
            "left on this host, which the server refuses, until garth agent purge"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::kernel_state::{Link, LinkKind, NamespaceState};

    fn with_links(links: &[&str]) -> NamespaceState {
        let link = Link {
            kind: LinkKind::Bridge,
            mac: None,
            mtu: 1500,
            up: true,
            bridge: None,
        };
        let links = links.iter().map(|name| ((*name).to_owned(), link.clone()));
        NamespaceState {
            links: links.collect(),
            ..NamespaceState::default()
        }
    }

    #[test]
    fn the_ports_namespaces_and_links_of_the_agent_remain() {
        let folder = std::env::temp_dir();
        let folder = StateFolder::open(&folder).unwrap();
        let path = folder.path().display().to_string();
        let kernel = KernelState {
            namespaces: [
                (Namespace::Host, with_links(&["garth-u1"])),
                (Namespace::Vpc(1), with_links(&["br10", "gi12", "gi5", "vx10"])),
                (Namespace::Instance(7), with_links(&["eth0"])),
            ]
            .into(),
        };
        let expected = Remains {
            ports: vec![5, 12],
            namespaces: vec!["garth-vpc-1".to_owned(), "gi-7".to_owned()],
            links: vec!["garth-u1".to_owned()],
            folder: path.clone(),
            problem: None,
        };
        assert_eq!(Remains::new(&Prefix::default(), Ok(kernel), &folder), expected);
        let unknown = Remains::new(&Prefix::default(), Err("ip: not found".to_owned()), &folder);
        assert_eq!(
            (unknown.folder, unknown.problem.as_deref()),
            (path, Some("ip: not found"))
        );
    }
}
