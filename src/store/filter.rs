//! The filter and the order of a list, evaluated in SQL or in memory.
//!
//! A filter refers only to the fields of its collection (`Field`), and its values are bound as arguments. Input from a
//! caller never becomes SQL text.

use super::value::Value;

/// A field by which a collection can be filtered and sorted.
#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    /// The SQL expression; empty for collections in memory.
    pub sql: &'static str,
    /// If the field belongs to related rows, such as the subnets of a VPC, the query for these rows. An item
    /// matches if at least one of its related rows matches.
    pub subquery: Option<&'static str>,
    /// Alternative values that callers can use, each with the stored value.
    pub synonyms: &'static [(&'static str, &'static str)],
    /// Whether the value increases with the ID of the item, with few exceptions.
    pub increasing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An IPv4 address: a number in the database, dotted decimal in requests.
    Address,
    /// An IPv6 network with the prefix length 64: its first address in the database, a CIDR range in requests.
    SlaacNetwork,
    Integer,
    /// One of these values, stored as its index. The values are in ascending order.
    Rank(&'static [&'static str]),
    Text,
    Time,
    Boolean,
}

impl Field {
    pub const fn new(name: &'static str, kind: Kind, sql: &'static str) -> Self {
        Self {
            name,
            kind,
            sql,
            subquery: None,
            synonyms: &[],
            increasing: false,
        }
    }

    pub const fn increasing(mut self) -> Self {
        self.increasing = true;
        self
    }

    pub const fn subquery(mut self, query: &'static str) -> Self {
        self.subquery = Some(query);
        self
    }

    pub const fn synonyms(mut self, synonyms: &'static [(&'static str, &'static str)]) -> Self {
        self.synonyms = synonyms;
        self
    }
}

#[derive(Clone, Debug)]
pub enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Test(&'static Field, Comparison, Value<'static>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Contains,
}

#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub field: &'static Field,
    pub descending: bool,
}

/// The shape of a filter. For some shapes, a tallied collection can find a page without a scan.
pub enum FilterShape<'a> {
    /// The filter matches all items.
    All,
    /// The field has this value.
    Equal(&'static Field, &'a Value<'static>),
    Other,
}

impl Filter {
    pub fn shape(&self) -> FilterShape<'_> {
        match self {
            Filter::All(parts) if parts.is_empty() => FilterShape::All,
            Filter::All(parts) | Filter::Any(parts) if parts.len() == 1 => parts[0].shape(),
            Filter::Test(field, Comparison::Equal, value) => FilterShape::Equal(field, value),
            _ => FilterShape::Other,
        }
    }

    /// An increasing field for which the filter has a lower bound. Most matches are then among the latest
    /// items. `None` if the filter also tests increasing fields in another way.
    pub fn lower_bounded_field(&self) -> Option<&'static Field> {
        let mut found = None;
        self.has_only_lower_bounds(&mut found).then_some(found).flatten()
    }

    /// Whether all tests of increasing fields, except tests in `Any`, are lower bounds. Sets `found` to a
    /// tested increasing field, if there is one.
    fn has_only_lower_bounds(&self, found: &mut Option<&'static Field>) -> bool {
        match self {
            Filter::All(parts) => parts.iter().all(|part| part.has_only_lower_bounds(found)),
            Filter::Any(_) => true,
            Filter::Test(field, _, _) if !field.increasing => true,
            Filter::Test(field, comparison, _) => {
                *found = Some(field);
                matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual)
            }
        }
    }

    /// The filter as an SQL condition. Appends the filter's values to `args`. The condition is written so that the
    /// engine does not use an index on the field `unindexed`.
    pub fn to_sql<'a>(&'a self, unindexed: Option<&Field>, args: &mut Vec<Value<'a>>) -> String {
        match self {
            Filter::All(parts) => join_parts(parts, (" AND ", "1 = 1"), unindexed, args),
            Filter::Any(parts) => join_parts(parts, (" OR ", "1 = 0"), unindexed, args),
            Filter::Test(field, comparison, value) => {
                let indexed = unindexed.is_none_or(|other| other.sql != field.sql);
                let test = match indexed {
                    true => test_sql(field.sql, *comparison, value, args),
                    // The engine does not use the index of a column for an expression such as `+column`.
                    false => test_sql(&format!("+{}", field.sql), *comparison, value, args),
                };
                match field.subquery {
                    Some(query) => format!("EXISTS ({query} AND {test})"),
                    None => test,
                }
            }
        }
    }

    /// Whether an object in memory matches. `value_of` returns the value of a field.
    pub fn matches<'v>(&self, value_of: &impl Fn(&'static str) -> Value<'v>) -> bool {
        match self {
            Filter::All(parts) => parts.iter().all(|part| part.matches(value_of)),
            Filter::Any(parts) => parts.iter().any(|part| part.matches(value_of)),
            Filter::Test(field, comparison, value) => test(&value_of(field.name), *comparison, value),
        }
    }
}

/// Joins the conditions of the parts with `operator`. Without parts, the condition is `empty`.
fn join_parts<'a>(
    parts: &'a [Filter],
    (operator, empty): (&str, &str),
    unindexed: Option<&Field>,
    args: &mut Vec<Value<'a>>,
) -> String {
    let parts: Vec<_> = parts.iter().map(|part| part.to_sql(unindexed, args)).collect();
    match parts.is_empty() {
        true => empty.to_owned(),
        false => format!("({})", parts.join(operator)),
    }
}

fn test_sql<'a>(
    sql: &str,
    comparison: Comparison,
    value: &'a Value<'static>,
    args: &mut Vec<Value<'a>>,
) -> String {
    if comparison == Comparison::Contains {
        // Only ASCII letters are converted to lower case, because the engines convert other letters
        // differently.
        args.push(Value::from(contains_pattern(value)));
        return format!("lower(CAST({sql} AS TEXT)) LIKE ${} ESCAPE '\\'", args.len());
    }
    if *value == Value::Null {
        return match comparison {
            Comparison::NotEqual => format!("{sql} IS NOT NULL"),
            _ => format!("{sql} IS NULL"),
        };
    }
    args.push(value.borrowed());
    let operator = match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "IS DISTINCT FROM",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Contains => unreachable!("returned above"),
    };
    format!("{sql} {operator} ${}", args.len())
}

/// The pattern for LIKE that matches texts in lower case that contain a value.
pub(in crate::store) fn contains_pattern(value: &Value) -> String {
    format!("%{}%", escape(value).to_ascii_lowercase())
}

/// The text of a value, with the special characters of LIKE escaped.
fn escape(value: &Value) -> String {
    let mut escaped = String::new();
    for c in text_of(value).chars() {
        if matches!(c, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn test(actual: &Value, comparison: Comparison, value: &Value) -> bool {
    if comparison == Comparison::Contains {
        let actual = text_of(actual).to_ascii_lowercase();
        return actual.contains(&text_of(value).to_ascii_lowercase());
    }
    // As in SQL, NULL is neither greater nor less than another value.
    let is_present = *actual != Value::Null;
    match comparison {
        Comparison::Equal => actual == value,
        Comparison::NotEqual => actual != value,
        Comparison::Greater => is_present && actual > value,
        Comparison::GreaterOrEqual => is_present && actual >= value,
        Comparison::Less => is_present && actual < value,
        Comparison::LessOrEqual => is_present && actual <= value,
        Comparison::Contains => unreachable!("returned above"),
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Int(number) => number.to_string(),
        Value::Text(text) => text.clone().into_owned(),
    }
}
