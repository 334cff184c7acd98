//! `garth export` and `garth apply` on PostgreSQL, next to several nodes.

use crate::folder::Folder;
use crate::harness::Nodes;
use crate::postgres::Postgres;
use crate::process::Process;

const COMPANY: &str = include_str!("../process/declared/company.yaml");

#[test]
fn concurrent_applications_have_one_effect_and_an_export_fits_the_other_engine() {
    let postgres = Postgres::new("declared");
    let nodes = Nodes::start("declared", &postgres.url());
    let file = nodes.folder.write("document.yaml", COMPANY);
    let apply = format!("apply {}", file.display());
    let dry_run = nodes.run(&format!("{apply} --dry-run"));
    assert!(dry_run.contains("9 to create"), "{dry_run}");
    assert_eq!(nodes.client(0).get("/v4/vpcs").ok()["results"], 0);

    // Some clients write to the same account at the same time.
    let outputs = nodes.run_concurrently(6, |number, client| match number % 2 {
        0 => Some(nodes.run(&apply)),
        _ => {
            client.create_vpc(&format!("other-{number}"));
            None
        }
    });

    let outputs: Vec<_> = outputs.into_iter().flatten().collect();
    let unchanged = outputs.iter().filter(|output| *output == "nothing to change\n");
    assert_eq!((outputs.len(), unchanged.count()), (3, 2), "{outputs:?}");
    for number in 0..3 {
        assert_eq!(nodes.client(number).get("/v4/vpcs").ok()["results"], 5);
    }
    let pruned = nodes.run(&format!("{apply} --prune"));
    assert!(pruned.ends_with("0 created, 0 changed, 4 deleted\n"), "{pruned}");
    nodes.assert_sound();

    let exported = nodes.run("export");
    assert_eq!(nodes.run("export"), exported);
    let copy = Folder::new("declared-copy");
    assert_eq!(copy.start().stop().code, Some(0));
    let file = copy.write("exported.yaml", &exported);
    let mut command = copy.garth("apply --prune");
    let applied = Process::spawn(command.arg(file)).wait();
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert_eq!(copy.run("export"), exported);
    copy.assert_sound();
}
