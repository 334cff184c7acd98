//! The filter language of lists: `{"label": {"+contains": "web"}, "+order_by": "id"}`.
//!
//! `docs/reference.md` documents this language; decision 0004 gives the reasons. A parsed filter contains
//! only fields of the collection. Each value has the type of its field.

use super::conditions::{Condition, Sorted};
use crate::model::cidr::Cidr6;
use crate::model::family::{Family, V6};
use crate::model::input::Input;
use crate::model::interface::parse_address;
use crate::model::reason::{Code, Reason};
use crate::model::time::Time;
use crate::store::filter::{Comparison, Field, Filter, Kind, Order};
use crate::store::stored_family::StoredFamily;
use crate::store::value::Value;

/// The maximum nesting depth of a filter.
const MAX_DEPTH: usize = 16;
/// The maximum number of terms in a filter: comparisons, empty objects and empty lists. Each term is an expression of
/// the query, and SQLite limits the depth of an expression.
const MAX_TERMS: usize = 256;

type Result<T> = std::result::Result<T, Reason>;

/// Parses a filter and its sort order.
pub fn read(input: &Input, fields: &'static [Field]) -> Result<(Filter, Option<Order>)> {
    let Input::Object(entries) = input else {
        return Err(invalid(Code::FilterInvalid, "Must be a JSON object"));
    };
    let mut parser = FilterParser { fields, terms: 0 };
    let order = parser.parse_order(input)?;
    let conditions = entries
        .iter()
        .filter(|(key, _)| key != "+order_by" && key != "+order");
    let filter = parser.parse_object(conditions, 1)?;
    Ok((filter, order))
}

/// Builds the filter of an internal list.
pub fn build(
    conditions: &[Condition],
    sorted: Option<Sorted>,
    fields: &'static [Field],
) -> Result<(Filter, Option<Order>)> {
    let mut parser = FilterParser { fields, terms: 0 };
    let order = sorted.map(|Sorted { field, descending }| {
        let field = parser.find_field(field, "order by")?;
        Ok(Order { field, descending })
    });
    Ok((
        Filter::All(parser.build_conditions(conditions)?),
        order.transpose()?,
    ))
}

struct FilterParser {
    fields: &'static [Field],
    terms: usize,
}

impl FilterParser {
    /// Parses the sort order. The Terraform provider sends `+order` without `+order_by`: this is accepted,
    /// and has no effect.
    fn parse_order(&self, input: &Input) -> Result<Option<Order>> {
        let descending = match input.get("+order") {
            None => false,
            Some(Input::Text(word)) if word == "asc" => false,
            Some(Input::Text(word)) if word == "desc" => true,
            Some(_) => return Err(invalid(Code::FilterType, "+order must be \"asc\" or \"desc\"")),
        };
        let field = match input.get("+order_by") {
            None => return Ok(None),
            Some(Input::Text(name)) => self.find_field(name, "order by")?,
            Some(_) => return Err(invalid(Code::FilterType, "+order_by must be the name of a field")),
        };
        if field.subquery.is_some() {
            return Err(invalid(
                Code::FilterField,
                format!("Cannot order by {}", field.name),
            ));
        }
        Ok(Some(Order { field, descending }))
    }

    /// Parses the entries of an object and combines them with AND.
    fn parse_object<'a>(
        &mut self,
        entries: impl Iterator<Item = &'a (String, Input)>,
        depth: usize,
    ) -> Result<Filter> {
        if depth > MAX_DEPTH {
            let text = format!("Must not be nested deeper than {MAX_DEPTH}");
            return Err(invalid(Code::FilterTooLarge, text));
        }
        let parts = entries.map(|(key, value)| match key.as_str() {
            "+and" => {
                let parts = self.parse_list(key, value, depth)?;
                self.all(parts)
            }
            "+or" => self.parse_list(key, value, depth).map(Filter::Any),
            key if key.starts_with('+') => Err(unknown_operator(key)),
            name => {
                let field = self.find_field(name, "filter on")?;
                self.parse_condition(field, value, depth)
            }
        });
        let parts = parts.collect::<Result<_>>()?;
        self.all(parts)
    }

    /// Parses the filters of an `+and` or `+or`.
    fn parse_list(&mut self, key: &str, value: &Input, depth: usize) -> Result<Vec<Filter>> {
        let Input::List(items) = value else {
            return Err(invalid(
                Code::FilterType,
                format!("{key} must be a list of filters"),
            ));
        };
        if items.is_empty() && key == "+or" {
            return Err(invalid(Code::FilterInvalid, "+or must not be empty"));
        }
        let parts = items.iter().map(|item| match item {
            Input::Object(entries) => self.parse_object(entries.iter(), depth + 1),
            _ => Err(invalid(
                Code::FilterType,
                format!("{key} must be a list of filters"),
            )),
        });
        parts.collect()
    }

    /// Parses the condition on one field: either a value that the field must equal, or an object of
    /// operators.
    fn parse_condition(&mut self, field: &'static Field, value: &Input, depth: usize) -> Result<Filter> {
        if depth > MAX_DEPTH {
            let text = format!("Must not be nested deeper than {MAX_DEPTH}");
            return Err(invalid(Code::FilterTooLarge, text));
        }
        let Input::Object(operators) = value else {
            return self.build_test(field, Comparison::Equal, value);
        };
        let parts = operators.iter().map(|(operator, value)| match operator.as_str() {
            "+or" => self
                .parse_field_list(field, operator, value, depth)
                .map(Filter::Any),
            "+and" => self
                .parse_field_list(field, operator, value, depth)
                .map(Filter::All),
            operator => self.build_test(field, parse_comparison(operator)?, value),
        });
        let parts = parts.collect::<Result<_>>()?;
        self.all(parts)
    }

    /// Parses the list of an `+or` or `+and` on one field. Each item is a plain value or an object of
    /// operators.
    fn parse_field_list(
        &mut self,
        field: &'static Field,
        operator: &str,
        value: &Input,
        depth: usize,
    ) -> Result<Vec<Filter>> {
        match value {
            Input::List(items) if !items.is_empty() => items
                .iter()
                .map(|item| self.parse_condition(field, item, depth + 1))
                .collect(),
            Input::List(_) => Err(invalid(
                Code::FilterInvalid,
                format!("{operator} must not be empty"),
            )),
            _ => Err(invalid(
                Code::FilterType,
                format!("{operator} must be a list of values"),
            )),
        }
    }

    fn build_conditions(&mut self, conditions: &[Condition]) -> Result<Vec<Filter>> {
        let parts = conditions.iter().map(|condition| match condition {
            Condition::All(conditions) => self.build_conditions(conditions).map(Filter::All),
            Condition::Any(conditions) => self.build_conditions(conditions).map(Filter::Any),
            Condition::Test(name, comparison, value) => {
                let field = self.find_field(name, "filter on")?;
                self.build_test(field, *comparison, value)
            }
        });
        parts.collect()
    }

    /// Combines filters with AND. Without filters, the result is a term that matches all items.
    fn all(&mut self, parts: Vec<Filter>) -> Result<Filter> {
        if parts.is_empty() {
            self.count_term()?;
        }
        Ok(Filter::All(parts))
    }

    fn count_term(&mut self) -> Result<()> {
        self.terms += 1;
        if self.terms > MAX_TERMS {
            let text = format!("Must not have more than {MAX_TERMS} terms");
            return Err(invalid(Code::FilterTooLarge, text));
        }
        Ok(())
    }

    fn build_test(&mut self, field: &'static Field, comparison: Comparison, value: &Input) -> Result<Filter> {
        self.count_term()?;
        let value = match comparison {
            Comparison::Contains => parse_substring(field, value)?,
            Comparison::Equal | Comparison::NotEqual if *value == Input::Null => Value::Null,
            _ => parse_value(field, value)?,
        };
        Ok(Filter::Test(field, comparison, value))
    }

    fn find_field(&self, name: &str, verb: &str) -> Result<&'static Field> {
        let field = self.fields.iter().find(|field| field.name == name);
        field.ok_or_else(|| invalid(Code::FilterField, format!("Cannot {verb} {name}")))
    }
}

fn parse_comparison(operator: &str) -> Result<Comparison> {
    Ok(match operator {
        "+neq" => Comparison::NotEqual,
        "+gt" => Comparison::Greater,
        "+gte" => Comparison::GreaterOrEqual,
        "+lt" => Comparison::Less,
        "+lte" => Comparison::LessOrEqual,
        "+contains" => Comparison::Contains,
        _ => return Err(unknown_operator(operator)),
    })
}

/// Converts a value to the field's type.
fn parse_value(field: &Field, value: &Input) -> Result<Value<'static>> {
    let converted = match (field.kind, value) {
        (Kind::Integer, Input::Integer(number)) => Some(Value::Int(*number)),
        (Kind::Address, Input::Text(text)) => parse_address(text).ok().map(Value::from),
        (Kind::SlaacNetwork, Input::Text(text)) => parse_slaac_network(text),
        (Kind::Rank(words), Input::Text(text)) => {
            let rank = words.iter().position(|word| word == text);
            rank.map(|rank| Value::Int(rank as i64))
        }
        (Kind::Boolean, Input::Bool(truth)) => Some(Value::from(*truth)),
        (Kind::Text, Input::Text(text)) => Some(Value::from(resolve_synonym(field, text))),
        (Kind::Time, Input::Text(text)) => Time::parse(text).map(Value::from),
        _ => None,
    };
    let converted = converted.filter(|value| !matches!(value, Value::Text(text) if text.contains('\0')));
    converted.ok_or_else(|| {
        let text = format!(
            "{} must be compared with {}",
            field.name,
            accepted_values(field.kind)
        );
        invalid(Code::FilterType, text)
    })
}

fn parse_slaac_network(text: &str) -> Option<Value<'static>> {
    let network = Cidr6::parse(text).ok()?;
    (network.prefix() == V6::UNIT_PREFIX).then(|| V6::to_value(network.first()))
}

/// The values that a field of this kind can be compared with, for an error text.
fn accepted_values(kind: Kind) -> String {
    match kind {
        Kind::Integer => "an integer".to_owned(),
        Kind::Address => "an IPv4 address".to_owned(),
        Kind::SlaacNetwork => "a /64 such as fd00:1::/64".to_owned(),
        Kind::Rank(words) => format!("one of {}", words.join(", ")),
        Kind::Boolean => "true or false".to_owned(),
        Kind::Text => "a text".to_owned(),
        Kind::Time => "a time like 2024-05-31T17:43:12".to_owned(),
    }
}

/// A substring to search for in a text or in the digits of a number.
fn parse_substring(field: &Field, value: &Input) -> Result<Value<'static>> {
    match (field.kind, value) {
        (Kind::Text | Kind::Integer, Input::Text(text)) if !text.contains('\0') => {
            Ok(Value::from(text.clone()))
        }
        (Kind::Integer, Input::Integer(number)) => Ok(Value::from(number.to_string())),
        (Kind::Text | Kind::Integer, _) => Err(invalid(
            Code::FilterType,
            format!("+contains on {} needs a text", field.name),
        )),
        _ => Err(invalid(
            Code::FilterType,
            format!("+contains cannot be used on {}", field.name),
        )),
    }
}

fn resolve_synonym(field: &Field, text: &str) -> String {
    let synonym = field.synonyms.iter().find(|(word, _)| *word == text);
    synonym.map_or(text, |(_, meaning)| *meaning).to_owned()
}

fn unknown_operator(operator: &str) -> Reason {
    let text = format!(
        "Unknown operator {operator}; must be one of +and, +or, +gt, +gte, +lt, +lte, +contains and +neq, \
         or at the top level +order_by and +order"
    );
    invalid(Code::FilterOperator, text)
}

fn invalid(code: Code, text: impl Into<String>) -> Reason {
    Reason::new(code, text)
}
