//! A reader that sends the ID of its last event misses no event, even if several nodes write.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::connection::number;
use crate::harness::three_nodes;

const WRITERS: usize = 16;
const WRITES: usize = 25;

#[test]
fn readers_see_all_events_in_order_while_sixteen_clients_write_on_three_nodes() {
    let (_postgres, nodes) = three_nodes("events");
    let writing = AtomicUsize::new(WRITERS);
    let sequences: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|reader| {
                let (mut client, writing) = (nodes.client(reader), &writing);
                scope.spawn(move || {
                    let mut ids: Vec<i64> = Vec::new();
                    loop {
                        let is_finished = writing.load(Ordering::SeqCst) == 0;
                        let last = ids.last().copied().unwrap_or(0);
                        let list = client
                            .get(&format!("/v4/account/events?page_size=500&after={last}"))
                            .ok();
                        let events = list["data"].as_array().expect("data is a list");
                        ids.extend(events.iter().map(|event| number(&event["id"])));
                        if is_finished && events.is_empty() {
                            return ids;
                        }
                    }
                })
            })
            .collect();
        for writer in 0..WRITERS {
            let (mut client, writing) = (nodes.client(writer), &writing);
            scope.spawn(move || {
                for write in 0..WRITES {
                    client.create_vpc(&format!("w-{writer}-{write}"));
                }
                writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        readers
            .into_iter()
            .map(|reader| reader.join().expect("the reader does not panic"))
            .collect()
    });
    for ids in sequences {
        assert!(ids.is_sorted_by(|a, b| a < b), "out of order");
        assert_eq!(ids.len(), WRITERS * WRITES, "a reader missed events");
    }
}
