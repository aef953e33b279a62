//! A hash of any part of the IR that does not depend on how entities happen to be numbered.
//!
//! In: a value of the IR. Out: bytes that stand for it, and their hash. It goes through `serde`, so that a field
//! added to the IR is part of the hash by itself; ids of functions, globals and types, and
//! positions, are recognised by their names and replaced by what a `Scope` says they are.

use serde::ser::{self, Serialize, Serializer};
use std::fmt::{self, Display};

/// A hash, short enough for tables and long enough never to meet another one.
pub type Id = [u8; 16];

/// What ids of a module stand for.
pub trait Scope {
    fn function(&self, id: u32) -> Id;
    fn global(&self, id: u32) -> Id;
    fn ty(&self, id: u32) -> Id;
    /// A position, as two numbers that stay the same when text above it moves.
    fn position(&self, file: u32, line: u32, out: &mut Vec<u8>);
}

pub fn hash(bytes: &[u8]) -> Id {
    let mut id = Id::default();
    id.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    id
}

/// The bytes of a value.
pub fn bytes_of(value: &impl Serialize, scope: &dyn Scope) -> Vec<u8> {
    let mut digest = Digest { out: Vec::new(), scope, inside: Inside::Plain, position: [0; 3] };
    // Nothing below fails, and nothing in the IR refuses to be serialised.
    value.serialize(&mut digest).unwrap_or(());
    digest.out
}

/// What the next number is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Plain,
    Function,
    Global,
    Type,
    /// A field of a position, by its place in it.
    Position(usize),
}

struct Digest<'s> {
    out: Vec<u8>,
    scope: &'s dyn Scope,
    inside: Inside,
    position: [u32; 3],
}

impl Digest<'_> {
    fn number(&mut self, n: u32) {
        match std::mem::replace(&mut self.inside, Inside::Plain) {
            Inside::Plain => self.out.extend(n.to_le_bytes()),
            Inside::Function => self.out.extend(self.scope.function(n)),
            Inside::Global => self.out.extend(self.scope.global(n)),
            Inside::Type => self.out.extend(self.scope.ty(n)),
            Inside::Position(field) => self.position[field] = n,
        }
    }

    fn length(&mut self, n: usize) {
        self.out.extend((n as u64).to_le_bytes());
    }
}

/// A value refused to be serialised; nothing in the IR does.
#[derive(Debug)]
pub struct Unsupported;

impl Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a part of the IR")
    }
}
impl std::error::Error for Unsupported {}
impl ser::Error for Unsupported {
    fn custom<T: Display>(_: T) -> Self {
        Unsupported
    }
}

/// A struct or a list under way.
struct Compound<'d, 's> {
    digest: &'d mut Digest<'s>,
    /// The fields of a position seen so far; `None`: not a position.
    position: Option<usize>,
}

macro_rules! plain_numbers {
    ($($method:ident $ty:ty;)*) => {$(
        fn $method(self, v: $ty) -> Result<(), Unsupported> {
            self.out.extend(v.to_le_bytes());
            Ok(())
        }
    )*};
}

impl<'d, 's> Serializer for &'d mut Digest<'s> {
    type Ok = ();
    type Error = Unsupported;
    type SerializeSeq = Compound<'d, 's>;
    type SerializeTuple = Compound<'d, 's>;
    type SerializeTupleStruct = Compound<'d, 's>;
    type SerializeTupleVariant = Compound<'d, 's>;
    type SerializeMap = Compound<'d, 's>;
    type SerializeStruct = Compound<'d, 's>;
    type SerializeStructVariant = Compound<'d, 's>;

    plain_numbers! {
        serialize_i8 i8; serialize_i16 i16; serialize_i32 i32; serialize_i64 i64;
        serialize_u8 u8; serialize_u16 u16; serialize_u64 u64;
        serialize_f32 f32; serialize_f64 f64;
    }

    fn serialize_u32(self, v: u32) -> Result<(), Unsupported> {
        self.number(v);
        Ok(())
    }
    fn serialize_bool(self, v: bool) -> Result<(), Unsupported> {
        self.out.push(u8::from(v));
        Ok(())
    }
    fn serialize_char(self, v: char) -> Result<(), Unsupported> {
        self.out.extend(u32::from(v).to_le_bytes());
        Ok(())
    }
    fn serialize_str(self, v: &str) -> Result<(), Unsupported> {
        self.serialize_bytes(v.as_bytes())
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<(), Unsupported> {
        self.length(v.len());
        self.out.extend(v);
        Ok(())
    }
    fn serialize_none(self) -> Result<(), Unsupported> {
        self.out.push(0);
        Ok(())
    }
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Unsupported> {
        self.out.push(1);
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Unsupported> {
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unsupported> {
        Ok(())
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), Unsupported> {
        self.out.extend(index.to_le_bytes());
        Ok(())
    }
    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unsupported> {
        self.inside = match name {
            "FuncId" => Inside::Function,
            "GlobalId" => Inside::Global,
            "TypeId" => Inside::Type,
            _ => Inside::Plain,
        };
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unsupported> {
        self.out.extend(index.to_le_bytes());
        value.serialize(self)
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'d, 's>, Unsupported> {
        self.length(len.unwrap_or(usize::MAX));
        Ok(Compound { digest: self, position: None })
    }
    fn serialize_tuple(self, _: usize) -> Result<Compound<'d, 's>, Unsupported> {
        Ok(Compound { digest: self, position: None })
    }
    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Compound<'d, 's>, Unsupported> {
        Ok(Compound { digest: self, position: None })
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Compound<'d, 's>, Unsupported> {
        self.out.extend(index.to_le_bytes());
        Ok(Compound { digest: self, position: None })
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Compound<'d, 's>, Unsupported> {
        self.serialize_seq(len)
    }
    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'d, 's>, Unsupported> {
        let position = (name == "Loc").then_some(0);
        Ok(Compound { digest: self, position })
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Compound<'d, 's>, Unsupported> {
        self.out.extend(index.to_le_bytes());
        Ok(Compound { digest: self, position: None })
    }
}

impl Compound<'_, '_> {
    fn item<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unsupported> {
        if let Some(field) = &mut self.position {
            self.digest.inside = Inside::Position((*field).min(2));
            *field += 1;
        }
        value.serialize(&mut *self.digest)
    }

    fn finish(self) {
        if self.position.is_some() {
            let [file, line, column] = self.digest.position;
            self.digest.scope.position(file, line, &mut self.digest.out);
            self.digest.out.extend(column.to_le_bytes());
        }
    }
}

macro_rules! compounds {
    ($($tr:ident $method:ident;)*) => {$(
        impl ser::$tr for Compound<'_, '_> {
            type Ok = ();
            type Error = Unsupported;
            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unsupported> {
                self.item(value)
            }
            fn end(self) -> Result<(), Unsupported> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

compounds! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

macro_rules! keyed_compounds {
    ($($tr:ident;)*) => {$(
        impl ser::$tr for Compound<'_, '_> {
            type Ok = ();
            type Error = Unsupported;
            fn serialize_field<T: ?Sized + Serialize>(
                &mut self,
                _: &'static str,
                value: &T,
            ) -> Result<(), Unsupported> {
                self.item(value)
            }
            fn end(self) -> Result<(), Unsupported> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

keyed_compounds! { SerializeStruct; SerializeStructVariant; }

impl ser::SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = Unsupported;
    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Unsupported> {
        self.item(key)
    }
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unsupported> {
        self.item(value)
    }
    fn end(self) -> Result<(), Unsupported> {
        Ok(())
    }
}
