//! A latent SDE in `R^n` whose drifts and diffusion are networks.
//!
//! With the representation `h` of a series as its context,
//!
//! ```text
//! posterior:  z_0 ~ N(m(h), diag s(h)^2),   dz = f(z, h) dt + g(z) dW,
//! prior:      z_0 ~ N(m_0, diag s_0^2),     dz = p(z) dt + g(z) dW,
//! ```
//!
//! where `m` and `ln s` are linear, `f` and `p` networks with softplus between their layers, and `g` is diagonal: `g_i`
//! reads the coordinate `z_i` alone, through a network of its own, and lies between 0 and 1. Both processes have the same
//! diffusion, so that the divergence of the paths is `1/2 int |(f - p) / g|^2 dt`. Paths are those of the scheme of Euler
//! and Maruyama on the grid of the batch, and gradients those of the scheme. It is the model of Li, Wong, Chen and Duvenaud
//! (Scalable gradients for stochastic differential equations, 2020) with a context that does not change along a path;
//! [`posterior_flow`](crate::latent::posterior_flow) has contexts that do.

mod config;
mod process;

pub use config::{NeuralSdeConfig, SdeConfig, StandardNeuralSde};
pub use process::SdeProcess;
