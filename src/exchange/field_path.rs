//! Paths of fields in a response: `status`, `headers.etag`, `body.data.0.label`.

/// The fields that a comparison ignores.
#[derive(Default)]
pub struct IgnoredFields(Vec<Vec<String>>);

impl IgnoredFields {
    /// `*` stands for one segment. A path includes everything below it.
    pub fn parse(paths: &[String]) -> Result<Self, String> {
        let parse = |path: &String| {
            let segments: Vec<String> = path.split('.').map(str::to_owned).collect();
            let is_known = ["status", "headers", "body"].contains(&segments[0].as_str());
            match is_known && segments.iter().all(|segment| !segment.is_empty()) {
                true => Ok(segments),
                false => Err(format!(
                    "must begin with status, headers or body, such as body.data.*.region, not {path}"
                )),
            }
        };
        paths.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    pub fn contains(&self, path: &[String]) -> bool {
        self.0.iter().any(|pattern| {
            let is_equal = |(expected, segment): (&String, &String)| expected == "*" || expected == segment;
            pattern.len() <= path.len() && pattern.iter().zip(path).all(is_equal)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_one_segment_and_a_path_includes_its_fields() {
        let ignored = |pattern: &str, path: &str| {
            let fields = IgnoredFields::parse(&[pattern.to_owned()]).expect(pattern);
            fields.contains(&path.split('.').map(str::to_owned).collect::<Vec<_>>())
        };
        assert!(ignored("body.data.*.region", "body.data.0.region"));
        assert!(ignored("body.data", "body.data.0.region"));
        assert!(ignored("status", "status"));
        assert!(!ignored("body.data.*.region", "body.data.0.label"));
        assert!(!ignored("body.data.*.region", "body.data"));
        assert!(!ignored("body.*.region", "body.data.0.region"));
        for invalid in ["", "label", "body..x", "body.", ".body"] {
            assert!(IgnoredFields::parse(&[invalid.to_owned()]).is_err(), "{invalid}");
        }
    }
}
