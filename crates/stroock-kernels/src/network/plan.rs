//! The layers of a network with their extents and links, and where their parameters are.

use std::ops::Range;

use stroock_geometry::Real;

use super::{Layer, Network, Then};
use crate::argument::{ArgumentError, check_length};
use crate::convolution::error::checked_product;
use crate::convolution::frames::frame_lanes_extent;
use crate::convolution::gather::TiledWeight;
use crate::convolution::layout::{Layout, Side};
use crate::convolution::links::Links;
use crate::convolution::{Activation, ConvolutionError, Images};
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
    ) -> Result<Self, ConvolutionError> {
        let Some(first_layer) = network.layers.first() else {
            return Err(ArgumentError::Empty { argument: "layers" }.into());
        };
        let [height, width] = images.size;
        let channels = first_layer.convolution.channels[0];
        let expected = checked_product("input", &[images.frames, channels, height, width])?;
        check_length("input", "[frames, input channels, height, width]", expected, images.values.len())?;
        let (mut size, mut channels, mut first) = (images.size, channels, 0);
        let mut stages = Vec::with_capacity(network.layers.len());
        for (number, &layer) in network.layers.iter().enumerate() {
            let layout = layer.convolution.extents(images.frames, size)?;
            check_length(
                "channels",
                "[output channels of the layer before]",
                channels,
                layout.input.channels,
            )?;
            let after = match layer.then {
                Then::Pool(pool) => layout.output.pooled(pool)?,
                Then::Nothing | Then::FrameNormRelu { .. } => layout.output,
            };
            let is_last = number + 1 == network.layers.len();
            let is_linear =
                layer.then == Then::Nothing && layer.convolution.activation == Activation::Identity;
            stages.push(Stage { layer, layout, after, first, kept: !(is_last && is_linear) });
            first = stages[number].first + layer.parameters();
            (size, channels) = (after.size, after.channels);
        }
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
