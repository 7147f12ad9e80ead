//! Layers on images, `[frames, channels, height, width]`, with kernels of their own.

mod convolution;
mod frame_norm;
mod in_one_piece;
mod logistic;
mod network;

pub use convolution::{ConvolutionConfig, ConvolutionLayer};
pub use frame_norm::{FrameNormConfig, FrameNormLayer};
pub use logistic::logistic;
pub use network::{
    Follow, ImageError, ImageLayer, ImageLayerConfig, ImageNetwork, ImageNetworkConfig, ImageShape,
};
