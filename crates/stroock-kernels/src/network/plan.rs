//! The layers of a network with their extents and links, and where their parameters are.

use std::ops::Range;

use stroock_geometry::Real;

use super::convolution::frames::frame_lanes_extent;
use super::convolution::gather::TiledWeight;
use super::convolution::layout::{Layout, Side};
use super::convolution::links::Links;
use super::group_norm::Parameters;
use super::{Activation, Images, Layer, Network, NetworkError, Then};
use crate::argument::{ArgumentError, check_length};
use crate::simd::{Level, SimdReal};

/// One layer for images of a known size.
pub(super) struct Stage {
    pub layer: Layer,
    pub layout: Layout,
    /// The output after what follows the convolution.
    pub after: Side,
    /// Where the parameters of the layer begin.
    first: usize,
    /// Whether the backward pass needs what the forward pass has made of the layer.
    pub kept: bool,
}

impl Stage {
    pub fn weight(&self) -> Range<usize> {
        self.first..self.first + self.layout.weight_extent()
    }

    pub fn bias(&self) -> Range<usize> {
        let from = self.weight().end;
        from..from + self.layout.output.channels
    }

    /// The scale and the offset of the normalisation.
    pub fn scale_and_offset(&self) -> [Range<usize>; 2] {
        let (from, channels) = (self.bias().end, self.layout.output.channels);
        [from..from + channels, from + channels..from + 2 * channels]
    }

    /// The parameters of the normalisation.
    pub fn normalisation<'p, T: Real>(&self, parameters: &'p [T]) -> Parameters<'p, T> {
        let [scale, offset] = self.scale_and_offset();
        let epsilon = match self.layer.then {
            Then::GroupNormRelu { epsilon } => epsilon,
            Then::Nothing | Then::Pool(_) => 0.0,
        };
        Parameters { scale: &parameters[scale], offset: &parameters[offset], epsilon: T::of(epsilon) }
    }

    /// The weights for the way from the input to the output.
    pub fn weight_forward<T: Real>(&self, links: &Links, parameters: &[T]) -> TiledWeight<T> {
        let (weight, layout) = (&parameters[self.weight()], &self.layout);
        TiledWeight::new(links, layout.input.channels, layout.output.channels, |input, output, tap| {
            weight[layout.weight_place(input, output, tap)]
        })
    }

    /// The weights for the way back.
    pub fn weight_backward<T: Real>(&self, links: &Links, parameters: &[T]) -> TiledWeight<T> {
        let (weight, layout) = (&parameters[self.weight()], &self.layout);
        TiledWeight::new(links, layout.output.channels, layout.input.channels, |output, input, tap| {
            weight[layout.weight_place(input, output, tap)]
        })
    }
}

/// The layers of a network for images of a known size.
pub(super) struct Plan {
    pub stages: Vec<Stage>,
    pub level: Level,
}

impl Plan {
    /// Checks the arguments that both passes have.
    pub fn new<T: SimdReal>(
        network: &Network,
        images: &Images<'_, T>,
        parameters: &[T],
    ) -> Result<Self, NetworkError> {
        let Some(first_layer) = network.layers.first() else {
            return Err(ArgumentError::Empty { argument: "layers" }.into());
        };
        let (mut size, mut channels, mut first) = (images.size, first_layer.convolution.channels[0], 0);
        let mut stages: Vec<Stage> = Vec::with_capacity(network.layers.len());
        for (number, &layer) in network.layers.iter().enumerate() {
            let layout = layer.convolution.extents(images.frames, size)?;
            let shape = "[output channels of the layer before]";
            check_length("channels", shape, channels, layout.input.channels)?;
            if let Then::GroupNormRelu { epsilon } = layer.then
                && !(T::of(epsilon) > T::zero() && T::of(epsilon).is_finite())
            {
                return Err(NetworkError::Epsilon { epsilon });
            }
            let after = Side { size: layer.output_size(size)?, ..layout.output };
            let is_last = number + 1 == network.layers.len();
            let is_linear =
                layer.then == Then::Nothing && layer.convolution.activation == Activation::Identity;
            stages.push(Stage { layer, layout, after, first, kept: !(is_last && is_linear) });
            first += layer.parameters();
            (size, channels) = (after.size, after.channels);
        }
        let expected = images.frames * stages[0].layout.input.extent();
        check_length("input", "[frames, input channels, height, width]", expected, images.values.len())?;
        check_length("parameters", "[parameters of all layers]", first, parameters.len())?;
        Ok(Self { stages, level: network.level.or_portable() })
    }

    pub fn input(&self) -> Side {
        self.stages[0].layout.input
    }

    pub fn output(&self) -> Side {
        self.stages[self.stages.len() - 1].after
    }

    /// Numbers of the largest image of a group in lanes, anywhere in the network.
    pub fn largest(&self, group: usize) -> usize {
        let sides = self.stages.iter().flat_map(|stage| [stage.layout.input, stage.layout.output]);
        sides.map(|side| frame_lanes_extent(side, group)).max().unwrap_or(0)
    }
}
