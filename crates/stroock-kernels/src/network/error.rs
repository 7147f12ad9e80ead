//! What can be wrong with a network.

use thiserror::Error;

use crate::argument::ArgumentError;

/// Why a network cannot be computed. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NetworkError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The kernel does not fit into the image with its padding.
    #[error("`kernel` is {kernel} on axis {axis}, larger than the image with its padding, {padded}")]
    KernelTooLarge {
        /// 0 for the height, 1 for the width.
        axis: usize,
        /// Given extent of the kernel.
        kernel: usize,
        /// Extent of the image with padding on both ends.
        padded: usize,
    },
    /// The window of a pooling does not fit into a plane.
    #[error("`window` is {window} on axis {axis}, larger than the plane, {size}")]
    WindowTooLarge {
        /// 0 for the height, 1 for the width.
        axis: usize,
        /// Given extent of the window.
        window: usize,
        /// Extent of the plane.
        size: usize,
    },
    /// The padding of a transposed convolution cuts its whole output away.
    #[error("`padding` is {padding} on axis {axis}: it cuts away all {full} pixels of the output")]
    PaddingTooLarge {
        /// 0 for the height, 1 for the width.
        axis: usize,
        /// Given padding.
        padding: usize,
        /// Extent of the output before it is cut.
        full: usize,
    },
    /// The output padding is not smaller than the stride.
    #[error(
        "`output_padding` is {output_padding} on axis {axis}, but it must be less than the stride {stride}"
    )]
    OutputPadding {
        /// 0 for the height, 1 for the width.
        axis: usize,
        /// Given output padding.
        output_padding: usize,
        /// Stride of the same axis.
        stride: usize,
    },
    /// The extents that an argument leads to are beyond what is computed.
    #[error(
        "`{argument}` leads to more pixels in a frame (2^20), links between them (2^28) or numbers than are possible"
    )]
    TooLarge {
        /// Name of the argument.
        argument: &'static str,
    },
    /// The number below the root of a normalisation is not positive, so that a constant frame would be divided by zero.
    #[error("`epsilon` is {epsilon}, but it must be positive and finite in the precision of the images")]
    Epsilon {
        /// Given value.
        epsilon: f64,
    },
    /// A tape belongs to another network or to other images.
    #[error("`tape` was kept by another network, or for other images")]
    ForeignTape,
}

/// The product of extents, if a slice of that many numbers can exist.
pub(super) fn checked_product(argument: &'static str, extents: &[usize]) -> Result<usize, NetworkError> {
    let product = extents.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
    product
        .filter(|&product| product <= isize::MAX as usize / size_of::<f64>())
        .ok_or(NetworkError::TooLarge { argument })
}
