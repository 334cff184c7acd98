//! Reports of the desk for a period (decision 0041).

use std::collections::HashMap;
use std::hash::Hash;

use crate::model::clock::Clock;
use crate::model::report::{AccountFigures, Figures, Period, Report, ResponseTimes, Volume};
use crate::rules::error::{Error, Result};
use crate::store::{self, ReadTx};

/// The maximum number of accounts and of tags in a report.
pub const MAX_GROUPS: usize = 100;

/// The figures of some tickets, while they are counted.
#[derive(Default)]
struct Counts {
    volume: Volume,
    response_seconds: Vec<i64>,
}

impl Counts {
    fn add_opened(&mut self, response_seconds: Option<i64>) {
        self.volume.opened += 1;
        self.response_seconds.extend(response_seconds);
    }

    fn figures(self) -> Figures {
        Figures {
            volume: self.volume,
            first_response: ResponseTimes::of(self.response_seconds),
        }
    }
}

/// The report of the period from the day `from` to the day `to`.
pub fn view(tx: &mut ReadTx, from: Option<&str>, to: Option<&str>) -> Result<Report> {
    let period = Period::parse(from, to, tx.now()).map_err(|(field, reason)| Error::on(field, reason))?;
    let tags = store::reports::tags(tx, &period)?;
    let steps = store::targets::steps_of_opened_tickets(tx, &period)?;
    let mut days = vec![Volume::default(); period.days().count()];
    let (mut total, mut by_account, mut by_tag) = (Counts::default(), HashMap::new(), HashMap::new());
    for opened in store::reports::opened(tx, &period)? {
        let clock = steps.get(&opened.ticket).map(|(_, steps)| Clock::after(steps));
        let seconds = clock.and_then(|clock| Some(clock.first_response()?.seconds));
        if let Some(day) = period.day_of(opened.at) {
            days[day].opened += 1;
        }
        total.add_opened(seconds);
        counts_of(&mut by_account, opened.account).add_opened(seconds);
        for tag in tags.get(&opened.ticket).into_iter().flatten() {
            counts_of(&mut by_tag, tag.as_str()).add_opened(seconds);
        }
    }
    for closed in store::reports::closed(tx, &period)? {
        if let Some(day) = period.day_of(closed.at) {
            days[day].closed += 1;
        }
        total.volume.closed += 1;
        counts_of(&mut by_account, closed.account).volume.closed += 1;
        for tag in tags.get(&closed.ticket).into_iter().flatten() {
            counts_of(&mut by_tag, tag.as_str()).volume.closed += 1;
        }
    }
    let accounts = largest(by_account);
    let names = accounts.iter().map(|(account, _)| *account).collect::<Vec<_>>();
    let mut names = store::reports::account_names(tx, &names)?;
    let named = |(account, figures)| AccountFigures {
        account,
        name: names.remove(&account).unwrap_or_default(),
        figures,
    };
    Ok(Report {
        period,
        total: total.figures(),
        days,
        accounts: accounts.into_iter().map(named).collect(),
        tags: largest(by_tag)
            .into_iter()
            .map(|(tag, figures)| (tag.to_owned(), figures))
            .collect(),
    })
}

fn counts_of<K: Eq + Hash>(groups: &mut HashMap<K, Counts>, key: K) -> &mut Counts {
    groups.entry(key).or_default()
}

/// The groups with the most tickets, in descending order.
fn largest<K: Eq + Hash + Ord>(groups: HashMap<K, Counts>) -> Vec<(K, Figures)> {
    let figures = groups.into_iter().map(|(key, counts)| (key, counts.figures()));
    let mut groups: Vec<_> = figures.collect();
    groups.sort_by(|(one, one_figures), (other, other_figures)| {
        let size = |figures: &Figures| (figures.volume.opened, figures.volume.closed);
        size(other_figures)
            .cmp(&size(one_figures))
            .then_with(|| one.cmp(other))
    });
    groups.truncate(MAX_GROUPS);
    groups
}
