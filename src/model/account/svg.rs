//! Reads an SVG image, and writes it again with only the elements and attributes of an allow list.
//!
//! The result has no scripts, event handlers, links, animations, embedded documents or references to other files.
//! Everything that is not on the list is removed, with its content. The browser never sees a byte of the original: names
//! come from the list, and values are escaped.

use std::collections::BTreeMap;

use quick_xml::NsReader;
use quick_xml::XmlVersion;
use quick_xml::escape::{escape, resolve_predefined_entity};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};

const SVG_NAMESPACE: &[u8] = b"http://www.w3.org/2000/svg";
const MAX_DEPTH: usize = 64;
const MAX_ELEMENTS: usize = 5000;
const MAX_ATTRIBUTES: usize = 100;

/// The elements that draw something.
const SHAPES: &[&str] = &[
    "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text",
];
/// The other elements. There is no `use`, because nested uses multiply the size of an image.
const STRUCTURE: &[&str] = &[
    "svg",
    "g",
    "defs",
    "title",
    "desc",
    "tspan",
    "style",
    "linearGradient",
    "radialGradient",
    "stop",
    "clipPath",
    "mask",
];
/// The elements whose text remains.
const WITH_TEXT: &[&str] = &["text", "tspan", "title", "desc", "style"];

/// The attributes, which are geometry and presentation. `style` is read separately.
const ATTRIBUTES: &[&str] = &[
    "class",
    "clip-path",
    "clip-rule",
    "clipPathUnits",
    "color",
    "cx",
    "cy",
    "d",
    "display",
    "dominant-baseline",
    "dx",
    "dy",
    "fill",
    "fill-opacity",
    "fill-rule",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "fx",
    "fy",
    "gradientTransform",
    "gradientUnits",
    "height",
    "id",
    "letter-spacing",
    "mask",
    "maskUnits",
    "offset",
    "opacity",
    "paint-order",
    "points",
    "preserveAspectRatio",
    "r",
    "rx",
    "ry",
    "spreadMethod",
    "stop-color",
    "stop-opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-miterlimit",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "transform",
    "vector-effect",
    "viewBox",
    "visibility",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
];

/// Returns the cleaned image. The error is a message for the user.
pub fn clean(file: &[u8]) -> Result<Vec<u8>, String> {
    let Ok(text) = std::str::from_utf8(file) else {
        return Err("The file must be a PNG image, or an SVG image in UTF-8".to_owned());
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = NsReader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut cleaner = Cleaner::default();
    loop {
        let event = reader.read_event().map_err(|_| not_well_formed())?;
        match event {
            Event::Start(element) => {
                cleaner.count(&element)?;
                let (namespace, local_name) = reader.resolver().resolve_element(element.name());
                let is_svg = namespace == ResolveResult::Bound(Namespace(SVG_NAMESPACE));
                let name = std::str::from_utf8(local_name.as_ref()).unwrap_or_default();
                cleaner.start(is_svg.then_some(name), &element)?;
            }
            Event::End(_) => cleaner.end(),
            Event::Text(text) => cleaner.text(&text.decode().map_err(|_| not_well_formed())?),
            Event::CData(text) => cleaner.text(&text.decode().map_err(|_| not_well_formed())?),
            Event::GeneralRef(reference) => cleaner.text(&resolve(&reference)?),
            // A document type without declarations has no effect. Declarations can define entities.
            Event::DocType(declaration) if declaration.contains(&b'[') => {
                return Err("The SVG image must not declare entities".to_owned());
            }
            Event::Eof => break,
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    cleaner.finish()
}

fn not_well_formed() -> String {
    "The file is neither a PNG image nor a well-formed SVG image".to_owned()
}

/// The text of a character reference or of one of the five entities of XML.
fn resolve(reference: &BytesRef) -> Result<String, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|_| not_well_formed())? {
        return Ok(character.to_string());
    }
    let name = reference.decode().map_err(|_| not_well_formed())?;
    let resolved = resolve_predefined_entity(&name).map(str::to_owned);
    resolved.ok_or_else(|| "The SVG image must not use entities".to_owned())
}

#[derive(Default)]
struct Cleaner {
    output: String,
    /// The open elements that remain.
    open: Vec<&'static str>,
    /// The number of open elements inside the removed element, including it.
    removed: usize,
    elements: usize,
    has_shapes: bool,
    /// The text of the open `style` element.
    style: String,
}

impl Cleaner {
    fn count(&mut self, element: &BytesStart) -> Result<(), String> {
        self.elements += 1;
        let attributes = element.attributes().with_checks(false).count();
        let depth = self.open.len() + self.removed;
        match self.elements > MAX_ELEMENTS || depth >= MAX_DEPTH || attributes > MAX_ATTRIBUTES {
            true => Err(format!(
                "The SVG image is too complex: it can have {MAX_ELEMENTS} elements, {MAX_DEPTH} levels, and \
                 {MAX_ATTRIBUTES} attributes of an element"
            )),
            false => Ok(()),
        }
    }

    /// Begins an element. `name` is `None` if the element is not in the namespace of SVG.
    fn start(&mut self, name: Option<&str>, element: &BytesStart) -> Result<(), String> {
        let is_root = self.elements == 1;
        if is_root && name != Some("svg") {
            return Err(
                "The root element must be svg in the namespace http://www.w3.org/2000/svg".to_owned(),
            );
        }
        let allowed = SHAPES
            .iter()
            .chain(STRUCTURE)
            .find(|allowed| Some(**allowed) == name);
        let Some(name) = allowed.filter(|_| self.removed == 0) else {
            self.removed += 1;
            return Ok(());
        };
        if !is_root && self.open.is_empty() {
            return Err(not_well_formed());
        }
        self.has_shapes |= SHAPES.contains(name);
        self.open.push(name);
        self.output.push('<');
        self.output.push_str(name);
        if is_root {
            self.output.push_str(" xmlns=\"http://www.w3.org/2000/svg\"");
        }
        for (name, value) in attributes(name, element)? {
            self.output.push_str(&format!(" {name}=\"{}\"", escape(value)));
        }
        self.output.push('>');
        Ok(())
    }

    fn end(&mut self) {
        if self.removed > 0 {
            self.removed -= 1;
            return;
        }
        let Some(name) = self.open.pop() else { return };
        if name == "style" {
            let style = std::mem::take(&mut self.style);
            if is_plain_style(&style) {
                self.output.push_str(&escape(style));
            }
        }
        self.output.push_str(&format!("</{name}>"));
    }

    fn text(&mut self, text: &str) {
        match self.open.last() {
            _ if self.removed > 0 => {}
            Some(&"style") => self.style.push_str(text),
            Some(name) if WITH_TEXT.contains(name) => self.output.push_str(&escape(text)),
            _ => {}
        }
    }

    fn finish(self) -> Result<Vec<u8>, String> {
        match (self.elements, self.open.len() + self.removed, self.has_shapes) {
            (0, ..) | (_, 1.., _) => Err(not_well_formed()),
            (.., false) => Err(format!(
                "The SVG image must contain at least one of {}",
                SHAPES.join(", ")
            )),
            _ => Ok(self.output.into_bytes()),
        }
    }
}

/// The attributes that remain. The declarations of a `style` attribute become attributes, which they override.
fn attributes(element: &str, start: &BytesStart) -> Result<BTreeMap<&'static str, String>, String> {
    let mut found = BTreeMap::new();
    let mut style = String::new();
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|_| not_well_formed())?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|_| not_well_formed())?.into_owned();
        // The prefix of `xlink:href` can have any name, and all other names with a prefix are unknown.
        let name = std::str::from_utf8(attribute.key.as_ref()).unwrap_or_default();
        let local_name = name.rsplit(':').next().unwrap_or_default();
        if name == "style" {
            style = value;
        } else if local_name == "href" && element.ends_with("Gradient") {
            if value.strip_prefix('#').is_some_and(is_name) {
                found.insert("href", value);
            }
        } else {
            insert(&mut found, name, value);
        }
    }
    for declaration in style.split(';') {
        let (name, value) = declaration.split_once(':').unwrap_or_default();
        insert(&mut found, name.trim(), value.trim().to_owned());
    }
    Ok(found)
}

fn insert(found: &mut BTreeMap<&'static str, String>, name: &str, value: String) {
    let allowed = ATTRIBUTES.iter().find(|allowed| **allowed == name);
    if let Some(name) = allowed.filter(|_| is_plain_value(&value)) {
        found.insert(name, value);
    }
}

/// Whether a value has only harmless characters, and refers only to elements of the image.
fn is_plain_value(value: &str) -> bool {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || " \t\r\n#%.,-+()'\"_".contains(character);
    let lower = value.to_ascii_lowercase();
    let reference = lower
        .trim()
        .strip_prefix("url(#")
        .and_then(|rest| rest.strip_suffix(')'));
    let has_function = ["url", "image", "src", "attr", "element"].iter().any(|name| {
        lower
            .replace(char::is_whitespace, "")
            .contains(&format!("{name}("))
    });
    value.chars().all(is_plain) && (!has_function || reference.is_some_and(is_name))
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Whether a style sheet has only simple rules: no imports, fonts, animations, functions that load files, or escapes.
fn is_plain_style(style: &str) -> bool {
    let lower = style.to_ascii_lowercase();
    let is_plain = |character: char| {
        character.is_ascii_alphanumeric() || " \t\r\n#%.,-+()'\"_:;{}>*!".contains(character)
    };
    let loads = [
        "url",
        "image",
        "src",
        "attr",
        "element",
        "expression",
        "behavior",
        "binding",
    ];
    style.chars().all(is_plain) && !loads.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(content: &str) -> String {
        let file = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\">{content}<path d=\"M0 0h9\"/></svg>"
        );
        let cleaned = String::from_utf8(clean(file.as_bytes()).unwrap()).unwrap();
        let inner = cleaned
            .strip_prefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\">")
            .and_then(|rest| rest.strip_suffix("<path d=\"M0 0h9\"></path></svg>"));
        inner.unwrap_or_else(|| panic!("{cleaned}")).to_owned()
    }

    #[test]
    fn harmless_parts_remain() {
        assert_eq!(
            cleaned(
                "<!-- x --><g transform='scale(2)'><title>A &amp; &#60;B</title><circle r=\"4\" fill=\"url(#a)\"/></g>"
            ),
            "<g transform=\"scale(2)\"><title>A &amp; &lt;B</title><circle fill=\"url(#a)\" r=\"4\"></circle></g>"
        );
        assert_eq!(
            cleaned("<style><![CDATA[.a > b{fill:#fff}]]></style>"),
            "<style>.a &gt; b{fill:#fff}</style>"
        );
        let inkscape =
            "<rect fill=\"red\" style=\"fill:url(#b);stroke : none;-inkscape-x:y\" inkscape:label=\"x\"/>";
        assert_eq!(
            cleaned(inkscape),
            "<rect fill=\"url(#b)\" stroke=\"none\"></rect>"
        );
        assert_eq!(
            cleaned(
                "<linearGradient id=\"b\" xlink:href=\"#a\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"/>"
            ),
            "<linearGradient href=\"#a\" id=\"b\"></linearGradient>"
        );
        assert_eq!(
            cleaned("<s:rect xmlns:s=\"http://www.w3.org/2000/svg\" x=\"1\"/>"),
            "<rect x=\"1\"></rect>"
        );
    }

    #[test]
    fn a_removed_element_takes_its_content_with_it() {
        assert_eq!(cleaned("<a href=\"x\"><rect/>text</a>"), "");
        assert_eq!(cleaned("text<g>text<x>text</x></g>"), "<g></g>");
    }
}
