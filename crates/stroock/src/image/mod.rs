//! Layers on images, `[frames, channels, height, width]`, with a kernel of their own.

mod convolution;
mod group_norm;
mod network;
mod operation;

pub use convolution::{ConvolutionConfig, ConvolutionLayer};
pub use group_norm::GroupNorm;
pub use network::{Follow, ImageLayer, ImageLayerConfig, ImageNetwork, ImageNetworkConfig, ImageShape};
