//! Finds keys that a session file must not have, and the line and the existing key to name.

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use toml::de::{DeTable, DeValue};

use super::spec::{RingSpec, SessionFile, SpecError};
use crate::protocol::{ModelSpec, PreprocessSpec};

/// A table of the session file and the tables in it.
struct Shape {
    keys: Keys,
    tables: &'static [InnerTable],
}

/// Key and shape of a table in a table.
type InnerTable = (&'static str, fn() -> Shape);

/// Names of the keys of a table.
type Keys = &'static [&'static str];

fn session_shape() -> Shape {
    Shape {
        keys: field_names::<SessionFile>(),
        tables: &[
            ("ring", || Shape {
                keys: field_names::<RingSpec>(),
                tables: &[],
            }),
            ("model", || Shape {
                keys: field_names::<ModelSpec>(),
                tables: &[("preprocess", || Shape {
                    keys: field_names::<PreprocessSpec>(),
                    tables: &[],
                })],
            }),
        ],
    }
}

/// Checks that every key of a session file exists.
///
/// # Errors
/// [`SpecError::UnknownKey`] for the first one that does not; [`SpecError::Syntax`].
pub(super) fn check(text: &str) -> Result<(), SpecError> {
    let table = DeTable::parse(text)?;
    check_table(text, table.get_ref(), &session_shape(), "")
}

fn check_table(
    text: &str,
    table: &DeTable<'_>,
    shape: &Shape,
    prefix: &str,
) -> Result<(), SpecError> {
    for (key, value) in table {
        let name: &str = key.get_ref();
        if !shape.keys.contains(&name) {
            let before = &text.as_bytes()[..key.span().start.min(text.len())];
            return Err(SpecError::UnknownKey {
                line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
                key: format!("{prefix}{name}"),
                nearest: crate::base::nearest(name, shape.keys.iter().copied()).map(str::to_owned),
            });
        }
        let Some((_, inner)) = shape.tables.iter().find(|(table, _)| *table == name) else {
            continue;
        };
        let prefix = format!("{prefix}{name}.");
        match value.get_ref() {
            DeValue::Table(table) => check_table(text, table, &inner(), &prefix)?,
            DeValue::Array(tables) => {
                for entry in tables {
                    if let DeValue::Table(table) = entry.get_ref() {
                        check_table(text, table, &inner(), &prefix)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The paths of a model as they stand in the file.
#[derive(Debug, Default)]
pub(super) struct RawPaths {
    pub(super) path: String,
    pub(super) labels: Option<String>,
}

/// The paths of each `[[model]]`, in order.
///
/// # Errors
/// [`SpecError::Syntax`].
pub(super) fn model_paths(text: &str) -> Result<Vec<RawPaths>, SpecError> {
    let table = DeTable::parse(text)?;
    let Some(DeValue::Array(models)) = table.get_ref().get("model").map(|value| value.get_ref())
    else {
        return Ok(Vec::new());
    };
    let paths = |model: &DeValue<'_>| {
        let text = |key| model.get(key).and_then(|value| value.get_ref().as_str());
        RawPaths {
            path: text("path").unwrap_or_default().to_owned(),
            labels: text("labels").map(str::to_owned),
        }
    };
    Ok(models.iter().map(|model| paths(model.get_ref())).collect())
}

/// Names of the fields that `T` is read from.
fn field_names<T: for<'de> Deserialize<'de>>() -> Keys {
    let mut names: Keys = &[];
    // The deserializer below ends with an error as soon as it knows the names.
    drop(T::deserialize(FieldNames(&mut names)));
    names
}

/// A deserializer that only notes what fields it is asked for.
struct FieldNames<'a>(&'a mut Keys);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("only structs have field names"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("the names are known"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
