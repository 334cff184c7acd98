//! Numbers as one bar with a segment for each, and as a list with links.

use maud::{Markup, html};

use super::layout::number;

pub struct Segment {
    pub label: String,
    /// The list of the counted objects.
    pub url: String,
    pub count: i64,
    /// The CSS class of the color.
    pub class: &'static str,
}

/// The bar, and below it the numbers. Segments without objects are only in the list.
pub fn status_bar(segments: &[Segment]) -> Markup {
    const WIDTH: f64 = 1000.0;
    let total: i64 = segments.iter().map(|segment| segment.count).sum();
    let width = |count: i64| WIDTH * count as f64 / total.max(1) as f64;
    let mut end = 0.0;
    let blocks: Vec<_> = segments
        .iter()
        .map(|segment| {
            let start = end;
            end += width(segment.count);
            (segment, start)
        })
        .collect();
    html! {
        svg .status-bar viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true" {
            @for (segment, start) in &blocks {
                @if segment.count > 0 {
                    rect .block .(segment.class) x=(format!("{start:.1}")) y="1" width=(format!("{:.1}", width(segment.count))) height="18" {}
                }
            }
        }
        ul .segments {
            @for segment in segments {
                li { a href=(segment.url) { strong { (number(segment.count.unsigned_abs())) } " " (segment.label) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widths_are_proportional_and_zero_has_no_block() {
        let segment = |count| Segment {
            label: "x".to_owned(),
            url: "/x".to_owned(),
            count,
            class: "some",
        };
        let html = status_bar(&[segment(3), segment(0), segment(1)]).into_string();
        assert!(html.contains("x=\"0.0\" y=\"1\" width=\"750.0\""), "{html}");
        assert!(html.contains("x=\"750.0\" y=\"1\" width=\"250.0\""), "{html}");
        assert_eq!(
            (html.matches("<rect").count(), html.matches("<li>").count()),
            (2, 3)
        );
    }
}
