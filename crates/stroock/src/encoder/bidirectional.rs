//! Two gated recurrent units that read a sequence from both ends.

use burn::module::Module;
use burn::tensor::Tensor;
use stroock_kernels::gru::{Direction, GruError};

use super::{Gru, GruConfig};
use crate::initial::InitialWeights;

/// Sizes of a [`BidirectionalGru`].
#[derive(Clone, Copy, Debug)]
pub struct BidirectionalGruConfig {
    /// Width `D` of the input.
    pub width: usize,
    /// Units `H` of each direction.
    pub hidden: usize,
}

/// A gated recurrent unit that reads from the first row to the last, and one that reads from the last to the first:
/// together, their states at a row know the whole sequence.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use stroock::encoder::BidirectionalGruConfig;
/// use stroock::initial::InitialWeights;
///
/// let device = Device::flex();
/// let unit = BidirectionalGruConfig { width: 3, hidden: 4 }.init(&mut InitialWeights::new(1, &device));
/// // A sequence of three rows and one of two.
/// let states = unit.states(Tensor::ones([5, 3], &device), &[0, 3, 5])?;
/// assert_eq!(states.dims(), [5, 8]);
/// # Ok::<(), stroock_kernels::gru::GruError>(())
/// ```
#[derive(Module, Debug)]
pub struct BidirectionalGru {
    /// Reads from the first row on.
    pub forward: Gru,
    /// Reads from the last row on.
    pub backward: Gru,
}

impl BidirectionalGruConfig {
    /// Initialises both units, uniformly in `+-1/sqrt(H)`.
    pub fn init(&self, weights: &mut InitialWeights) -> BidirectionalGru {
        let unit = GruConfig { width: self.width, hidden: self.hidden };
        BidirectionalGru { forward: unit.init(weights), backward: unit.init(weights) }
    }
}

impl BidirectionalGru {
    /// The states `[N, 2 H]` at every row of `inputs` `[N, D]`: after this row and those before it, then after this
    /// row and those behind it.
    ///
    /// Sequence `b` has the rows `offsets[b] .. offsets[b + 1]`, which may be none.
    ///
    /// # Errors
    /// When the inputs or the offsets do not fit.
    pub fn states(&self, inputs: Tensor<2>, offsets: &[usize]) -> Result<Tensor<2>, GruError> {
        let forward = self.forward.states(inputs.clone(), offsets, Direction::Forward)?;
        let backward = self.backward.states(inputs, offsets, Direction::Backward)?;
        Ok(Tensor::cat(vec![forward, backward], 1))
    }
}
