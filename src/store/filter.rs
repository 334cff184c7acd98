//! Filters and orders of lists, and their meaning in SQL and in memory.
//!
//! A filter only ever names fields from its collection's own table (`Field`), and its values are
//! bound as arguments: nothing a caller sent becomes SQL text.

use super::value::Value;

/// Something a collection can be filtered and sorted by.
#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    /// The SQL expression; empty for collections that are not in the database.
    pub sql: &'static str,
    /// For a field of many (a VPC's subnets): the query it is looked up in. It holds if any has it.
    pub within: Option<&'static str>,
    /// Words that mean another word.
    pub synonyms: &'static [(&'static str, &'static str)],
    /// Whether later items have greater values, but for the odd one.
    pub grows: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An IPv4 address, kept as a number and written as one writes it.
    Address,
    Integer,
    /// One of these words, from the least to the greatest, kept as its place among them.
    Rank(&'static [&'static str]),
    Text,
    Time,
    Truth,
}

impl Field {
    pub const fn new(name: &'static str, kind: Kind, sql: &'static str) -> Self {
        Self {
            name,
            kind,
            sql,
            within: None,
            synonyms: &[],
            grows: false,
        }
    }

    pub const fn growing(mut self) -> Self {
        self.grows = true;
        self
    }

    pub const fn within(mut self, query: &'static str) -> Self {
        self.within = Some(query);
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

/// What a filter comes to, for those who can do better than look at every row.
pub enum Gist<'a> {
    Everything,
    /// Only what has this one value.
    Equal(&'static Field, &'a Value<'static>),
    Other,
}

impl Filter {
    pub fn gist(&self) -> Gist<'_> {
        match self {
            Filter::All(parts) if parts.is_empty() => Gist::Everything,
            Filter::All(parts) | Filter::Any(parts) if parts.len() == 1 => parts[0].gist(),
            Filter::Test(field, Comparison::Equal, value) => Gist::Equal(field, value),
            _ => Gist::Other,
        }
    }

    /// The field whose values have to be at least so great, if it grows and nothing is too great: what is wanted is
    /// then mostly among the latest.
    pub fn latest_by(&self) -> Option<&'static Field> {
        let mut found = None;
        self.none_too_great(&mut found).then_some(found).flatten()
    }

    /// Whether all that it says of growing fields is how great they have to be at least; finds one of them.
    fn none_too_great(&self, found: &mut Option<&'static Field>) -> bool {
        match self {
            Filter::All(parts) => parts.iter().all(|part| part.none_too_great(found)),
            Filter::Any(_) => true,
            Filter::Test(field, _, _) if !field.grows => true,
            Filter::Test(field, comparison, _) => {
                *found = Some(field);
                matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual)
            }
        }
    }

    /// The filter as an SQL condition; its values are added to `args`. No index is used for the field `unindexed`.
    pub fn to_sql<'a>(&'a self, unindexed: Option<&Field>, args: &mut Vec<Value<'a>>) -> String {
        match self {
            Filter::All(parts) => joined(parts, (" AND ", "1 = 1"), unindexed, args),
            Filter::Any(parts) => joined(parts, (" OR ", "1 = 0"), unindexed, args),
            Filter::Test(field, comparison, value) => {
                let plain = unindexed.is_none_or(|other| other.sql != field.sql);
                let test = match plain {
                    true => test_sql(field.sql, *comparison, value, args),
                    // An expression is not the column that the index is on.
                    false => test_sql(&format!("+{}", field.sql), *comparison, value, args),
                };
                match field.within {
                    Some(query) => format!("EXISTS ({query} AND {test})"),
                    None => test,
                }
            }
        }
    }

    /// The same meaning, for a thing in memory whose fields `look` finds.
    pub fn holds<'v>(&self, look: &impl Fn(&'static str) -> Value<'v>) -> bool {
        match self {
            Filter::All(parts) => parts.iter().all(|part| part.holds(look)),
            Filter::Any(parts) => parts.iter().any(|part| part.holds(look)),
            Filter::Test(field, comparison, value) => test(&look(field.name), *comparison, value),
        }
    }
}

/// All of the parts between a word, or what holds if there are none.
fn joined<'a>(
    parts: &'a [Filter],
    (word, none): (&str, &str),
    unindexed: Option<&Field>,
    args: &mut Vec<Value<'a>>,
) -> String {
    let parts: Vec<_> = parts.iter().map(|part| part.to_sql(unindexed, args)).collect();
    match parts.is_empty() {
        true => none.to_owned(),
        false => format!("({})", parts.join(word)),
    }
}

fn test_sql<'a>(
    sql: &str,
    comparison: Comparison,
    value: &'a Value<'static>,
    args: &mut Vec<Value<'a>>,
) -> String {
    if comparison == Comparison::Contains {
        // Lowered here: a database may know more letters than a to z, and its columns are not to.
        args.push(Value::from(format!("%{}%", escaped(value).to_ascii_lowercase())));
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
        Comparison::Contains => unreachable!("answered above"),
    };
    format!("{sql} {operator} ${}", args.len())
}

fn escaped(value: &Value) -> String {
    let mut escaped = String::new();
    for c in written(value).chars() {
        if matches!(c, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn test(is: &Value, comparison: Comparison, value: &Value) -> bool {
    if comparison == Comparison::Contains {
        let is = written(is).to_ascii_lowercase();
        return is.contains(&written(value).to_ascii_lowercase());
    }
    // What is not there is neither greater nor less than anything.
    let there = *is != Value::Null;
    match comparison {
        Comparison::Equal => is == value,
        Comparison::NotEqual => is != value,
        Comparison::Greater => there && is > value,
        Comparison::GreaterOrEqual => there && is >= value,
        Comparison::Less => there && is < value,
        Comparison::LessOrEqual => there && is <= value,
        Comparison::Contains => unreachable!("answered above"),
    }
}

fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Int(number) => number.to_string(),
        Value::Text(text) => text.clone().into_owned(),
    }
}
