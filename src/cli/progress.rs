//! Progress bars for backups and restores. They appear only if standard error is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

use crate::backup::Progress;

pub struct Bar(ProgressBar);

impl Bar {
    pub fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{wide_bar} {percent} %, {msg}");
        bar.set_style(style.expect("the template is valid"));
        Self(bar)
    }

    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begin(&self, step: &'static str, units: u64) {
        self.0.set_length(units);
        self.0.set_position(0);
        self.0.set_message(step);
    }

    fn advance(&self, units: u64) {
        self.0.inc(units);
    }
}
