//! Runs steps: consecutive steps of the same kind are one process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;
use std::path::Path;

use super::commands::{StepCommand, command_of};
use super::observe;
use super::process::{KernelError, inside, reason, run};
use super::rules_record::{RulesRecord, record_key};
use crate::agent::kernel_state::LinkKind;
use crate::agent::names::{Namespace, Prefix};
use crate::agent::plan::{Action, Step};
use crate::agent_protocol::is_inner_address;

/// Why steps failed, by namespace and link. `None` is the namespace itself.
pub type Failures = BTreeMap<(Namespace, Option<String>), String>;

pub fn execute(prefix: &Prefix, steps: &[Step], record: &mut RulesRecord) -> Failures {
    let mut execution = Execution {
        prefix,
        record,
        failures: Failures::new(),
        blocked: BTreeSet::new(),
        batch: Batch::default(),
    };
    for step in steps {
        execution.add(step);
    }
    execution.flush();
    execution.failures
}

struct Execution<'a> {
    prefix: &'a Prefix,
    record: &'a mut RulesRecord,
    failures: Failures,
    /// Namespaces that do not exist or have no filters. Nothing is added to them.
    blocked: BTreeSet<Namespace>,
    batch: Batch,
}

/// Lines for one process, each with the place that gets its error.
#[derive(Default)]
struct Batch {
    program: Option<(&'static str, Namespace)>,
    lines: Vec<(String, Namespace, Option<String>)>,
}

impl Execution<'_> {
    fn add(&mut self, step: &Step) {
        if self.blocked.contains(&step.namespace) && !is_deletion(&step.action) {
            return;
        }
        let at = step.namespace;
        if self.blocked.contains(&Namespace::Host) && is_inside_encryption(&step.action) {
            // Without the filter of the host, its packets could leave in clear text.
            let reason = "the filter of the host cannot be applied".to_owned();
            return self.note(at, link_of(&step.action), Err(reason));
        }
        match command_of(self.prefix, step) {
            StepCommand::HostIp(lines) => self.add_lines("ip", Namespace::Host, step, lines),
            StepCommand::Ip(lines) => self.add_lines("ip", at, step, lines),
            StepCommand::Bridge(line) => self.add_lines("bridge", at, step, vec![line]),
            StepCommand::Setting { path, value } => {
                self.flush();
                let file = Path::new("/proc/sys/net").join(&path);
                let written = inside(self.prefix, at, || fs::write(&file, &value));
                let written = written.and_then(|written| written.map_err(|error| format!("{path}: {error}")));
                self.note(at, None, written);
            }
            StepCommand::Rules(text) => {
                self.flush();
                let applied = self.apply_rules(step, &text);
                if applied.is_err() && !is_deletion(&step.action) {
                    self.blocked.insert(at);
                }
                self.note(at, None, applied);
            }
        }
        if step.action == Action::AddNamespace {
            self.flush();
            self.mark(at);
        }
    }

    /// Marks a new namespace as the agent's. If it existed before, it belongs to another program.
    fn mark(&mut self, at: Namespace) {
        if self.failures.contains_key(&(at, None)) {
            self.blocked.insert(at);
            return;
        }
        let command = ["ip", "link", "set", "lo", "alias", self.prefix.as_str(), "up"];
        let marked = run(self.prefix, at, &command, "").map(drop);
        self.note(at, None, marked);
    }

    fn add_lines(&mut self, program: &'static str, at: Namespace, step: &Step, lines: Vec<String>) {
        if self.batch.program != Some((program, at)) {
            self.flush();
            self.batch.program = Some((program, at));
        }
        let link = link_of(&step.action);
        let lines = lines.into_iter().map(|line| (line, step.namespace, link.clone()));
        self.batch.lines.extend(lines);
    }

    fn flush(&mut self) {
        let Batch {
            program: Some((program, at)),
            lines,
        } = std::mem::take(&mut self.batch)
        else {
            return;
        };
        let input: String = lines.iter().map(|(line, ..)| format!("{line}\n")).collect();
        let output = match run(self.prefix, at, &[program, "-force", "-batch", "-"], &input) {
            Ok(output) => output,
            Err(error) => {
                for (_, namespace, link) in lines {
                    self.note(namespace, link, Err(error.clone()));
                }
                return;
            }
        };
        for (number, message) in batch_failures(&output.stderr) {
            let Some((line, namespace, link)) = lines.get(number.wrapping_sub(1)) else {
                continue;
            };
            let is_deleted = (line.contains(" delete ") || line.contains(" del ")) && is_absent(&message);
            if !is_deleted {
                self.note(
                    *namespace,
                    link.clone(),
                    Err(format!("{program} {line}: {message}")),
                );
            }
        }
    }

    fn apply_rules(&mut self, step: &Step, text: &str) -> Result<(), KernelError> {
        let at = step.namespace;
        let (Action::SetTable { table, .. } | Action::DeleteTable { table }) = &step.action else {
            return Ok(());
        };
        let key = record_key(self.prefix, at, *table);
        let text = with_counters(text, &observe::counters(self.prefix, at));
        let output = run(self.prefix, at, &["nft", "-f", "-"], &text)?;
        if !output.status.success() {
            return Err(format!("nft: {}", reason(&output.stderr)));
        }
        self.record.remove(&key);
        if let Action::SetTable { text, .. } = &step.action
            && let Some(listing) = observe::listing(self.prefix, at, *table)
        {
            self.record.set(key, &listing, text);
        }
        Ok(())
    }

    /// Records the first failure of a place.
    fn note(&mut self, namespace: Namespace, link: Option<String>, result: Result<(), KernelError>) {
        if let Err(error) = result {
            self.failures.entry((namespace, link)).or_insert(error);
        }
    }
}

/// Gives counters that exist their current value, because a new table starts at zero.
fn with_counters(text: &str, counters: &BTreeMap<String, u64>) -> String {
    let with_value = |line: &str| {
        let name = line
            .trim()
            .strip_prefix("counter ")
            .and_then(|rest| rest.strip_suffix(" { }"));
        match name.and_then(|name| Some((name, counters.get(name)?))) {
            Some((name, packets)) => format!("  counter {name} {{ packets {packets} bytes 0 }}\n"),
            None => format!("{line}\n"),
        }
    };
    text.lines().map(with_value).collect()
}

fn is_deletion(action: &Action) -> bool {
    matches!(
        action,
        Action::DeleteNamespace | Action::DeleteLink { .. } | Action::DeleteTable { .. }
    )
}

/// Whether the step adds a VXLAN link that uses encrypted tunnels.
fn is_inside_encryption(action: &Action) -> bool {
    let Action::AddLink { link, .. } = action else {
        return false;
    };
    matches!(link.kind, LinkKind::Tunnel { local: IpAddr::V6(local), .. } if is_inner_address(local))
}

fn is_absent(message: &str) -> bool {
    ["Cannot find device", "No such", "does not exist"]
        .iter()
        .any(|text| message.contains(text))
}

fn link_of(action: &Action) -> Option<String> {
    match action {
        Action::AddLink { name, .. } | Action::DeleteLink { name } => Some(name.clone()),
        Action::SetMac { link, .. }
        | Action::SetMtu { link, .. }
        | Action::SetBridge { link, .. }
        | Action::SetUp { link, .. }
        | Action::SetNeighbor { link, .. }
        | Action::DeleteNeighbor { link, .. } => Some(link.clone()),
        Action::AddAddress(address) | Action::DeleteAddress(address) => Some(address.link.clone()),
        Action::SetRoute { route, .. } | Action::DeleteRoute { route, .. } => Some(route.link.clone()),
        Action::AddForwarding(entry) | Action::DeleteForwarding(entry) => Some(entry.link().to_owned()),
        _ => None,
    }
}

/// The failed lines of a batch with their messages: `ip` prints the message, then `Command failed -:LINE`.
fn batch_failures(stderr: &[u8]) -> Vec<(usize, String)> {
    let mut failures = Vec::new();
    let mut message = Vec::new();
    for line in String::from_utf8_lossy(stderr).lines() {
        match line.strip_prefix("Command failed -:") {
            Some(number) => {
                let text = std::mem::take(&mut message).join("; ");
                failures.extend(number.trim().parse().ok().map(|number| (number, text)));
            }
            None => message.push(line.trim().to_owned()),
        }
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_line_of_a_batch_has_its_message() {
        let text = b"RTNETLINK answers: File exists\nCommand failed -:4\nDevice \"x\" does not exist.\nCommand failed -:5\n";
        let expected = [
            (4, "RTNETLINK answers: File exists"),
            (5, "Device \"x\" does not exist."),
        ];
        let expected = expected.map(|(number, text)| (number, text.to_owned()));
        assert_eq!(batch_failures(text), expected);
    }

    #[test]
    fn replaced_rules_retain_their_counters() {
        let counters = [("p5_mac".to_owned(), 7)].into();
        let text = "table bridge garth {\n  counter p5_mac { }\n  counter p5_ip { }\n}\n";
        let expected =
            "table bridge garth {\n  counter p5_mac { packets 7 bytes 0 }\n  counter p5_ip { }\n}\n";
        assert_eq!(with_counters(text, &counters), expected);
    }
}
