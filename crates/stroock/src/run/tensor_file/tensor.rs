//! A tensor at rest: an element type, a shape and the entries.

use std::fmt;
use std::io::{self, Write};

use safetensors::Dtype;

use super::TensorFileProblem;

/// A tensor as it is stored: entries in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: TensorValues,
}

impl Tensor {
    /// A tensor from its shape and its entries in row-major order; `[]` is the shape of a single number.
    ///
    /// ```
    /// use stroock::run::{ElementType, Tensor};
    ///
    /// let tensor = Tensor::new(vec![2, 2], vec![1.0_f64, 2.0, 3.0, 4.0])?;
    /// assert_eq!(tensor.element_type(), ElementType::F64);
    /// assert_eq!(tensor.entries::<f64>(), Some(&[1.0, 2.0, 3.0, 4.0][..]));
    /// assert_eq!(tensor.entries::<f32>(), None);
    /// assert!(Tensor::new(vec![3], vec![1.0_f64]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(shape: Vec<usize>, values: impl Into<TensorValues>) -> Result<Self, TensorFileProblem> {
        let values = values.into();
        if shape.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent)) != Some(values.len()) {
            return Err(TensorFileProblem::Length { shape, values: values.len() });
        }
        Ok(Tensor { shape, values })
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The type of the entries.
    pub fn element_type(&self) -> ElementType {
        self.values.element_type()
    }

    /// The entries, if they are of the type `T`.
    pub fn entries<T: Element>(&self) -> Option<&[T]> {
        T::of(&self.values)
    }

    /// The entries of whatever type.
    pub fn values(&self) -> &TensorValues {
        &self.values
    }

    /// The entries of whatever type, without a copy.
    pub fn into_values(self) -> TensorValues {
        self.values
    }
}

/// What a tensor of a file should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedTensor {
    /// Its name.
    pub name: String,
    /// The type of its entries.
    pub element_type: ElementType,
    /// Its extents.
    pub shape: Vec<usize>,
}

impl ExpectedTensor {
    /// A tensor with this name, type and shape.
    pub fn new(name: impl Into<String>, element_type: ElementType, shape: &[usize]) -> Self {
        ExpectedTensor { name: name.into(), element_type, shape: shape.to_vec() }
    }
}

/// A number that tensors are made of.
pub trait Element: Copy + Sized {
    /// Its type.
    const TYPE: ElementType;
    #[doc(hidden)]
    fn of(values: &TensorValues) -> Option<&[Self]>;
}

macro_rules! elements {
    ($($variant:ident: $number:ty),*) => {
        /// The type of the entries of a tensor.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ElementType {
            $(#[doc = concat!("`", stringify!($number), "`")] $variant),*
        }

        /// The entries of a tensor.
        #[derive(Clone, Debug, PartialEq)]
        pub enum TensorValues {
            $(#[doc = concat!("Entries of type `", stringify!($number), "`.")] $variant(Vec<$number>)),*
        }

        impl ElementType {
            pub(super) fn of_format(dtype: Dtype) -> Option<Self> {
                match dtype {
                    $(Dtype::$variant => Some(ElementType::$variant),)*
                    _ => None,
                }
            }

            pub(super) fn to_format(self) -> Dtype {
                match self {
                    $(ElementType::$variant => Dtype::$variant),*
                }
            }

            /// Bytes of one entry.
            pub(super) fn size(self) -> usize {
                match self {
                    $(ElementType::$variant => size_of::<$number>()),*
                }
            }
        }

        impl fmt::Display for ElementType {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(ElementType::$variant => stringify!($number)),*
                })
            }
        }

        impl TensorValues {
            /// Number of entries.
            pub fn len(&self) -> usize {
                match self {
                    $(TensorValues::$variant(values) => values.len()),*
                }
            }

            /// Whether there are no entries.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The type of the entries.
            pub fn element_type(&self) -> ElementType {
                match self {
                    $(TensorValues::$variant(_) => ElementType::$variant),*
                }
            }

            /// Writes the entries, little endian.
            pub(super) fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
                match self {
                    $(TensorValues::$variant(values) => {
                        values.iter().try_for_each(|value| writer.write_all(&value.to_le_bytes()))
                    }),*
                }
            }

            /// The entries from their bytes, little endian. An incomplete entry at the end is ignored.
            pub(super) fn from_bytes(element_type: ElementType, bytes: &[u8]) -> Self {
                match element_type {
                    $(ElementType::$variant => {
                        let (entries, _) = bytes.as_chunks();
                        let number = |bytes: &[u8; size_of::<$number>()]| <$number>::from_le_bytes(*bytes);
                        TensorValues::$variant(entries.iter().map(number).collect())
                    }),*
                }
            }
        }

        $(
            impl From<Vec<$number>> for TensorValues {
                fn from(values: Vec<$number>) -> Self {
                    TensorValues::$variant(values)
                }
            }

            impl Element for $number {
                const TYPE: ElementType = ElementType::$variant;

                fn of(values: &TensorValues) -> Option<&[Self]> {
                    match values {
                        TensorValues::$variant(values) => Some(values),
                        _ => None,
                    }
                }
            }
        )*
    };
}

elements!(F32: f32, F64: f64, I32: i32, I64: i64, U8: u8, U32: u32, U64: u64);

impl TensorValues {
    /// Index and value of the first entry that is NaN or infinite.
    pub(super) fn first_not_finite(&self) -> Option<(usize, f64)> {
        fn first(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
            values.enumerate().find(|(_, value)| !value.is_finite())
        }
        match self {
            TensorValues::F32(values) => first(values.iter().map(|value| f64::from(*value))),
            TensorValues::F64(values) => first(values.iter().copied()),
            _ => None,
        }
    }
}
