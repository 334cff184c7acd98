//! The accent color of the provider's brand, and the shades that the pages derive from it.

use crate::model::reason::{Code, Reason, Reasons};

/// The lowest contrast of text with its background (WCAG 2.2, success criterion 1.4.3).
const MIN_CONTRAST: f64 = 4.5;
/// The contrast of the accent in the dark theme, where it is derived and can be better than the minimum.
const DARK_CONTRAST: f64 = 5.5;

const WHITE: Color = Color([255, 255, 255]);
const BLACK: Color = Color([0, 0, 0]);
/// The backgrounds of the light theme, as in `web/base.css`: cards, the page, and sunk areas.
const LIGHT_GROUNDS: [Color; 3] = [WHITE, Color([0xf5, 0xf6, 0xf8]), Color([0xf0, 0xf2, 0xf5])];
/// The backgrounds of the dark theme.
const DARK_GROUNDS: [Color; 3] = [
    Color([0x18, 0x1c, 0x23]),
    Color([0x10, 0x13, 0x18]),
    Color([0x20, 0x25, 0x2e]),
];
/// The quiet text of both themes, which also appears on the tinted background.
const LIGHT_QUIET: Color = Color([0x56, 0x5e, 0x6c]);
const DARK_QUIET: Color = Color([0xa4, 0xad, 0xba]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Color([u8; 3]);

/// A color that is readable as text on the backgrounds of the light theme, and as the background of white text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccentColor(Color);

/// The colors that replace those of `web/base.css`, each as `#rrggbb`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shades {
    pub accent: String,
    /// The background of a button under the pointer.
    pub hover: String,
    /// The text on the accent.
    pub on_accent: String,
    /// A background with a tint of the accent.
    pub ground: String,
}

impl AccentColor {
    /// Parses `#rrggbb`, and refuses a color with too little contrast.
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let color = Color::parse(raw).ok_or_else(|| {
            let text = "Must be a color in the form #rrggbb, such as #1757c2";
            vec![Reason::new(Code::ColorInvalid, text)]
        })?;
        let (ground, ratio) = lowest_contrast(color);
        if ratio >= MIN_CONTRAST {
            return Ok(Self(color));
        }
        // The ratio is rounded down, so that it never looks sufficient.
        let shown = (ratio * 100.0).floor() / 100.0;
        let text = format!(
            "The contrast with the background {} is {shown}:1, and must be at least {MIN_CONTRAST}:1. The nearest darker \
             color with enough contrast is {}",
            ground.hex(),
            nearest(color).hex()
        );
        Err(vec![Reason::new(Code::ColorContrast, text)])
    }

    /// The color from a database row or a URL, if it is valid.
    pub fn checked(raw: &str) -> Option<Self> {
        Self::parse(raw).ok()
    }

    /// The color as `#rrggbb`, in lower case.
    pub fn hex(self) -> String {
        self.0.hex()
    }

    pub fn light(self) -> Shades {
        let accent = self.0;
        let is_readable = |ground: &Color| {
            contrast(accent, *ground) >= MIN_CONTRAST && contrast(LIGHT_QUIET, *ground) >= MIN_CONTRAST
        };
        let tints = (0..=10).rev().map(|percent| WHITE.mix(accent, percent));
        Shades {
            accent: accent.hex(),
            hover: accent.mix(BLACK, 20).hex(),
            on_accent: WHITE.hex(),
            ground: tints.into_iter().find(is_readable).unwrap_or(WHITE).hex(),
        }
    }

    /// The shades of the dark theme, with an accent that is light enough for it.
    pub fn dark(self) -> Shades {
        let is_readable_on_grounds = |color: &Color| {
            DARK_GROUNDS
                .iter()
                .all(|ground| contrast(*color, *ground) >= DARK_CONTRAST)
        };
        let lighter = (0..=100).map(|percent| self.0.mix(WHITE, percent));
        let accent = lighter.into_iter().find(is_readable_on_grounds).unwrap_or(WHITE);
        let darker = (80..=100).map(|percent| accent.mix(BLACK, percent));
        let on_accent = darker
            .into_iter()
            .find(|text| contrast(*text, accent) >= DARK_CONTRAST);
        let is_readable = |ground: &Color| {
            contrast(accent, *ground) >= MIN_CONTRAST && contrast(DARK_QUIET, *ground) >= MIN_CONTRAST
        };
        let card = DARK_GROUNDS[0];
        let tints = (0..=15).rev().map(|percent| card.mix(accent, percent));
        Shades {
            accent: accent.hex(),
            hover: accent.mix(WHITE, 30).hex(),
            on_accent: on_accent.unwrap_or(BLACK).hex(),
            ground: tints.into_iter().find(is_readable).unwrap_or(card).hex(),
        }
    }
}

/// The background with which a color has the lowest contrast. White text on the color has the contrast with white.
fn lowest_contrast(color: Color) -> (Color, f64) {
    let ratios = LIGHT_GROUNDS.map(|ground| (ground, contrast(color, ground)));
    ratios
        .into_iter()
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .unwrap_or((WHITE, 1.0))
}

/// The color, mixed with as little black as necessary.
fn nearest(color: Color) -> Color {
    let mut darker = (0..=100).map(|percent| color.mix(BLACK, percent));
    let found = darker.find(|color| lowest_contrast(*color).1 >= MIN_CONTRAST);
    found.unwrap_or(BLACK)
}

/// The contrast of two colors, from 1 to 21 (WCAG 2.2).
fn contrast(a: Color, b: Color) -> f64 {
    let (a, b) = (a.luminance(), b.luminance());
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

impl Color {
    fn parse(raw: &str) -> Option<Self> {
        let digits = raw.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some(Color([part(0)?, part(2)?, part(4)?]))
    }

    fn hex(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// This color with a share of another color, in percent.
    fn mix(self, other: Color, percent: u16) -> Color {
        let mut mixed = self.0;
        for (part, other) in mixed.iter_mut().zip(other.0) {
            let sum = u16::from(*part) * (100 - percent) + u16::from(other) * percent;
            *part = u8::try_from(sum / 100).unwrap_or(u8::MAX);
        }
        Color(mixed)
    }

    /// The relative luminance, from 0 to 1 (WCAG 2.2).
    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            match part <= 0.04045 {
                true => part / 12.92,
                false => ((part + 0.055) / 1.055).powf(2.4),
            }
        };
        let [red, green, blue] = self.0.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The style sheet that has the backgrounds.
    const BASE_STYLE: &str = include_str!("../../web/base.css");

    fn color(raw: &str) -> Color {
        Color::parse(raw).unwrap()
    }

    #[test]
    fn the_contrast_is_that_of_the_recommendation() {
        let rounded = |a, b| (contrast(color(a), color(b)) * 100.0).round() / 100.0;
        assert_eq!(rounded("#000000", "#ffffff"), 21.0);
        assert_eq!(rounded("#ff0000", "#ffffff"), 4.0);
        assert_eq!(rounded("#767676", "#ffffff"), 4.54);
        assert_eq!(rounded("#1757c2", "#1757c2"), 1.0);
    }

    #[test]
    fn the_backgrounds_are_those_of_the_style_sheet() {
        let grounds = LIGHT_GROUNDS[1..].iter().chain(&DARK_GROUNDS);
        for expected in grounds.chain([&LIGHT_QUIET, &DARK_QUIET]) {
            assert!(BASE_STYLE.contains(&expected.hex()), "{}", expected.hex());
        }
        assert!(BASE_STYLE.contains("--card: #fff;"));
    }

    #[test]
    fn a_refused_color_names_the_ratio_the_limit_and_a_color_that_passes() {
        let reasons = AccentColor::parse("#ff9900").unwrap_err();
        let text = &reasons[0].text;
        assert_eq!(reasons[0].code, Code::ColorContrast);
        assert!(
            text.contains("is 1.9:1") && text.contains("at least 4.5:1"),
            "{text}"
        );
        let nearest = text.rsplit(' ').next().unwrap();
        assert!(AccentColor::parse(nearest).is_ok(), "{text}");
        for invalid in ["", "1757c2", "#1757c", "#1757c2f", "#17 7c2", "red", "#+1+1+1"] {
            assert_eq!(
                AccentColor::parse(invalid).unwrap_err()[0].code,
                Code::ColorInvalid
            );
        }
    }

    #[test]
    fn all_shades_of_all_accepted_colors_are_readable() {
        let steps = || (0..=255_u8).step_by(15);
        for red in steps() {
            for green in steps() {
                for blue in steps() {
                    let nearest = nearest(Color([red, green, blue]));
                    let accent = AccentColor::parse(&nearest.hex()).unwrap();
                    assert_readable(&accent.light(), &LIGHT_GROUNDS, "#565e6c");
                    assert_readable(&accent.dark(), &DARK_GROUNDS, "#a4adba");
                }
            }
        }
    }

    fn assert_readable(shades: &Shades, grounds: &[Color], quiet: &str) {
        let accent = color(&shades.accent);
        let tint = color(&shades.ground);
        for ground in grounds.iter().chain([&tint]) {
            assert!(
                contrast(accent, *ground) >= MIN_CONTRAST,
                "{shades:?} on {ground:?}"
            );
        }
        assert!(contrast(color(quiet), tint) >= MIN_CONTRAST, "{shades:?}");
        for button in [accent, color(&shades.hover)] {
            let text = color(&shades.on_accent);
            assert!(contrast(text, button) >= MIN_CONTRAST, "{shades:?}");
        }
    }
}
