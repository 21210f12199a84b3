//! The types of expressions, as far as they are known before evaluation.

use std::fmt;

/// The type of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueType {
    /// Known only at evaluation, as the values of objects are.
    Dyn,
    /// The element type of an empty list, which matches every type.
    Never,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    /// The type of a type name.
    Meta,
    /// The type of the elements; `None` for `dyn`.
    List(Option<Box<ValueType>>),
    /// The types of keys and values; `None` for `dyn`.
    Map(Option<Box<(ValueType, ValueType)>>),
    /// A variable with these fields.
    Object(&'static [&'static str]),
}

impl ValueType {
    pub(super) fn list(element: ValueType) -> Self {
        Self::List(Some(Box::new(element)))
    }

    pub(super) fn map(key: ValueType, value: ValueType) -> Self {
        Self::Map(Some(Box::new((key, value))))
    }

    /// Whether a parameter of this type takes a value of the other.
    pub(super) fn takes(&self, found: &Self) -> bool {
        found.is_open()
            || match self {
                Self::Dyn => true,
                Self::List(_) => matches!(found, Self::List(_)),
                Self::Map(_) => matches!(found, Self::Map(_) | Self::Object(_)),
                known => known == found,
            }
    }

    /// Whether the type is unknown, so that it matches every type.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Dyn | Self::Never)
    }

    /// The common type of two alternatives; `None` if they have none.
    pub(super) fn unify(&self, other: &Self) -> Option<Self> {
        use ValueType::{Dyn, List, Map, Never, Object};
        Some(match (self, other) {
            (Never, known) | (known, Never) => known.clone(),
            (Dyn, _) | (_, Dyn) => Dyn,
            (List(Some(a)), List(Some(b))) => ValueType::list(a.unify(b)?),
            (Map(Some(a)), Map(Some(b))) => ValueType::map(a.0.unify(&b.0)?, a.1.unify(&b.1)?),
            (list @ List(None), List(_)) | (List(_), list @ List(None)) => list.clone(),
            (Object(_) | Map(..), Object(_) | Map(..)) => Dyn,
            (a, b) if a == b => a.clone(),
            _ => return None,
        })
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dyn | Self::Never => "dyn",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::Timestamp => "timestamp",
            Self::Meta => "type",
            Self::List(None) => "list(dyn)",
            Self::List(Some(element)) => return write!(f, "list({element})"),
            Self::Map(None) => "map(dyn, dyn)",
            Self::Map(Some(entry)) => return write!(f, "map({}, {})", entry.0, entry.1),
            Self::Object(_) => "object",
        })
    }
}

/// The name, parameters and result of a function.
pub(super) type Overload = (&'static str, &'static [ValueType], ValueType);

use ValueType::{
    Bool, Bytes, Double, Duration, Dyn as Any, Int, Meta, String as Str, Timestamp, Uint,
};

const LIST: ValueType = ValueType::List(None);
const MAP: ValueType = ValueType::Map(None);

/// Functions called as `f(x)`, and operators.
#[rustfmt::skip]
pub(super) const GLOBAL: &[Overload] = &[
    ("_+_", &[Int, Int], Int), ("_+_", &[Uint, Uint], Uint), ("_+_", &[Double, Double], Double),
    ("_+_", &[Str, Str], Str), ("_+_", &[Bytes, Bytes], Bytes), ("_+_", &[LIST, LIST], LIST),
    ("_+_", &[Duration, Duration], Duration), ("_+_", &[Timestamp, Duration], Timestamp),
    ("_+_", &[Duration, Timestamp], Timestamp),
    ("_-_", &[Int, Int], Int), ("_-_", &[Uint, Uint], Uint), ("_-_", &[Double, Double], Double),
    ("_-_", &[Duration, Duration], Duration), ("_-_", &[Timestamp, Duration], Timestamp),
    ("_-_", &[Timestamp, Timestamp], Duration),
    ("_*_", &[Int, Int], Int), ("_*_", &[Uint, Uint], Uint), ("_*_", &[Double, Double], Double),
    ("_/_", &[Int, Int], Int), ("_/_", &[Uint, Uint], Uint), ("_/_", &[Double, Double], Double),
    ("_%_", &[Int, Int], Int), ("_%_", &[Uint, Uint], Uint),
    ("-_", &[Int], Int), ("-_", &[Double], Double),
    ("!_", &[Bool], Bool), ("_&&_", &[Bool, Bool], Bool), ("_||_", &[Bool, Bool], Bool),
    ("@not_strictly_false", &[Bool], Bool),
    ("_<_", &[Bool, Bool], Bool), ("_<_", &[Str, Str], Bool), ("_<_", &[Bytes, Bytes], Bool),
    ("_<_", &[Duration, Duration], Bool), ("_<_", &[Timestamp, Timestamp], Bool),
    ("_<_", &[Int, Int], Bool), ("_<_", &[Int, Uint], Bool), ("_<_", &[Int, Double], Bool),
    ("_<_", &[Uint, Int], Bool), ("_<_", &[Uint, Uint], Bool), ("_<_", &[Uint, Double], Bool),
    ("_<_", &[Double, Int], Bool), ("_<_", &[Double, Uint], Bool), ("_<_", &[Double, Double], Bool),
    ("_==_", &[Any, Any], Bool), ("_!=_", &[Any, Any], Bool),
    ("@in", &[Any, LIST], Bool), ("@in", &[Any, MAP], Bool),
    ("size", &[Str], Int), ("size", &[Bytes], Int), ("size", &[LIST], Int), ("size", &[MAP], Int),
    ("matches", &[Str, Str], Bool),
    ("string", &[Str], Str), ("string", &[Bool], Str), ("string", &[Int], Str), ("string", &[Uint], Str),
    ("string", &[Double], Str), ("string", &[Bytes], Str), ("string", &[Duration], Str),
    ("string", &[Timestamp], Str),
    ("int", &[Int], Int), ("int", &[Uint], Int), ("int", &[Double], Int), ("int", &[Str], Int),
    ("int", &[Timestamp], Int),
    ("uint", &[Uint], Uint), ("uint", &[Int], Uint), ("uint", &[Double], Uint), ("uint", &[Str], Uint),
    ("double", &[Double], Double), ("double", &[Int], Double), ("double", &[Uint], Double),
    ("double", &[Str], Double),
    ("bool", &[Bool], Bool), ("bool", &[Str], Bool),
    ("bytes", &[Bytes], Bytes), ("bytes", &[Str], Bytes),
    ("dyn", &[Any], Any), ("type", &[Any], Meta),
    ("duration", &[Duration], Duration), ("duration", &[Str], Duration),
    ("timestamp", &[Timestamp], Timestamp), ("timestamp", &[Str], Timestamp), ("timestamp", &[Int], Timestamp),
];

/// Functions called as `x.f()`.
#[rustfmt::skip]
pub(super) const MEMBER: &[Overload] = &[
    ("size", &[Str], Int), ("size", &[Bytes], Int), ("size", &[LIST], Int), ("size", &[MAP], Int),
    ("contains", &[Str, Str], Bool), ("startsWith", &[Str, Str], Bool), ("endsWith", &[Str, Str], Bool),
    ("matches", &[Str, Str], Bool),
    ("getFullYear", &[Timestamp], Int), ("getFullYear", &[Timestamp, Str], Int),
    ("getMonth", &[Timestamp], Int), ("getMonth", &[Timestamp, Str], Int),
    ("getDayOfYear", &[Timestamp], Int), ("getDayOfYear", &[Timestamp, Str], Int),
    ("getDayOfMonth", &[Timestamp], Int), ("getDayOfMonth", &[Timestamp, Str], Int),
    ("getDate", &[Timestamp], Int), ("getDate", &[Timestamp, Str], Int),
    ("getDayOfWeek", &[Timestamp], Int), ("getDayOfWeek", &[Timestamp, Str], Int),
    ("getHours", &[Timestamp], Int), ("getHours", &[Timestamp, Str], Int), ("getHours", &[Duration], Int),
    ("getMinutes", &[Timestamp], Int), ("getMinutes", &[Timestamp, Str], Int), ("getMinutes", &[Duration], Int),
    ("getSeconds", &[Timestamp], Int), ("getSeconds", &[Timestamp, Str], Int), ("getSeconds", &[Duration], Int),
    ("getMilliseconds", &[Timestamp], Int), ("getMilliseconds", &[Timestamp, Str], Int),
    ("getMilliseconds", &[Duration], Int),
];

/// The names of types, which can be used as values.
pub(super) const TYPE_NAMES: [&str; 12] = [
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "list",
    "map",
    "null_type",
    "type",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
];
