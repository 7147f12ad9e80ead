//! The layers of a network with their extents and links, and where their parameters are.

use std::ops::Range;

use stroock_geometry::Real;

use super::{Layer, Network, Then};
use crate::convolution::error::{check_length, checked_product};
use crate::convolution::frames::{frame_lanes_extent, turned_extent};
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
            return Err(ConvolutionError::Zero { argument: "layers", axis: 0 });
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

/// How the gradient of a layer's weight is summed: with the channels of one side in lanes, `vectors` vectors to a
/// tile, and those of the other one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Correlation {
    /// Whether the channels in lanes are those of the input, or those of the output.
    pub lanes_on_input: bool,
    pub vectors: usize,
    /// Channels in the lanes of a tile.
    pub lanes: usize,
    pub in_lanes: Side,
    pub in_turn: Side,
}

impl Correlation {
    /// The side and the tiles that leave the fewest lanes idle.
    pub fn new(layout: &Layout, width: usize) -> Self {
        let Layout { input, output, .. } = *layout;
        let padded = |side: Side| side.channels.next_multiple_of(width);
        let lanes_on_input = output.channels * padded(input) <= input.channels * padded(output);
        let (in_lanes, in_turn) = if lanes_on_input { (input, output) } else { (output, input) };
        // Half a tile of two vectors would be idle. Runs of fewer than eight numbers cannot be brought into lanes.
        let odd = in_lanes.channels.div_ceil(width) % 2 == 1;
        let vectors = if odd && width >= 8 { 1 } else { 2 };
        Self { lanes_on_input, vectors, lanes: vectors * width, in_lanes, in_turn }
    }

    /// Numbers of the sums, `[tap, channel in turn, channel in a lane]`, the last rounded up to whole tiles.
    pub fn sums(&self, taps: usize) -> usize {
        taps * self.in_turn.channels * self.in_lanes.channels.next_multiple_of(self.lanes)
    }

    /// Numbers of a group with the channels in lanes.
    pub fn turned(&self, group: usize) -> usize {
        turned_extent(self.in_lanes, group, self.lanes)
    }

    /// From the order of the sums to that of the weight.
    pub fn unpack<T: Real>(&self, layout: &Layout, sums: &[T], weight: &mut [T]) {
        let padded = self.in_lanes.channels.next_multiple_of(self.lanes);
        for (pair, sums) in sums.chunks_exact(padded).enumerate() {
            let (tap, turn) = (pair / self.in_turn.channels, pair % self.in_turn.channels);
            for (lane, sum) in sums[..self.in_lanes.channels].iter().enumerate() {
                let (input, output) = if self.lanes_on_input { (lane, turn) } else { (turn, lane) };
                weight[layout.weight_place(input, output, tap)] = *sum;
            }
        }
    }
}
