//! The evidence lower bounds of all families of processes lie below the evidence, and the good ones not far below.
//!
//! The evidence is that of a few noisy observations of a path of the prior: exact on the circle, and by a particle filter
//! elsewhere.

mod adam;
mod circle;
#[path = "../marginals/mod.rs"]
mod marginals;
mod moebius;
mod observed;
mod paths;

use observed::Observed;
use paths::{Family, backward_filter};
use stroock_testing::statistics::{Estimate, estimate};

/// The logarithm of the evidence, and its standard error.
struct Evidence {
    name: &'static str,
    ln: f64,
    error: f64,
}

impl Evidence {
    /// By 16 runs of a particle filter.
    fn filtered(name: &'static str, observed: &Observed) -> Self {
        let mut s = marginals::stream(77);
        let evidence = estimate((0..16).map(|_| observed.evidence(2000, &mut s)));
        let found = Self { name, ln: evidence.mean.ln(), error: evidence.standard_error / evidence.mean };
        assert!(found.error < 0.1, "{name}: the filter is not certain, {}", found.error);
        found
    }

    /// Asserts that bounds lie below it; the best of them.
    fn above(&self, family: &str, bounds: impl IntoIterator<Item = Estimate>) -> f64 {
        let mut best = f64::NEG_INFINITY;
        for bound in bounds {
            let error = self.error.hypot(bound.standard_error);
            assert!(
                bound.mean < self.ln + 5.0 * error,
                "{}, {family}: {} +- {error} is above {}",
                self.name,
                bound.mean,
                self.ln
            );
            best = best.max(bound.mean);
        }
        println!("{}, {family}: {best:.3} below {:.3} +- {:.3}", self.name, self.ln, self.error);
        best
    }
}

/// Observations on spheres, the standard deviation of which is given; with an attractor for a prior in one of them.
fn on_spheres() -> [(&'static str, Observed); 3] {
    let attractor = vec![0.8, 0.3, -0.4, 0.6, 2.0];
    [
        ("sphere", Observed::new(3, 0.35, None)),
        ("sphere, attractor", Observed::new(3, 0.35, Some(attractor))),
        ("sphere in R^8", Observed::new(8, 0.35, None)),
    ]
}

#[test]
fn given_marginals_lie_below_the_evidence() {
    for (name, observed) in on_spheres() {
        let evidence = Evidence::filtered(name, &observed);
        let best = evidence.above("marginals", moebius::bounds(&observed));
        assert!(best > evidence.ln - 4.0, "{name}: {best} is far below {}", evidence.ln);
    }
}

#[test]
fn steered_paths_lie_below_the_evidence_and_open_loops_far_below() {
    for (name, observed) in on_spheres() {
        let evidence = Evidence::filtered(name, &observed);
        let filtered = [0.5, 1.0, 1.5].map(|gain| backward_filter(&observed, gain));
        let by_hand = evidence.above("steered", filtered.iter().map(|paths| paths.bound(&observed)));
        let improved = filtered[1].coarse().improved(&observed);
        let steered = evidence.above("steered, improved", [improved.bound(&observed)]);
        let best = steered.max(by_hand);
        assert!(best > evidence.ln - 0.4, "{name}: {best} is far below {}", evidence.ln);
        // An attractor has no drift in the Lie algebra.
        if observed.prior.is_none() {
            let open = Family::OpenLoop.at_rest(&observed);
            let bounds = [open.bound(&observed), open.improved(&observed).bound(&observed)];
            let open = evidence.above("open loop, improved", bounds);
            assert!(by_hand > open + 3.0, "{name}: steered {by_hand}, open loop {open}");
        }
    }
}

/// The angle of Brownian motion on the circle is Brownian motion: the evidence is exact.
#[test]
fn on_the_circle_all_families_lie_below_the_exact_evidence() {
    for (name, noise) in [("circle, noise 0.35", 0.35), ("circle, noise 0.7", 0.7)] {
        let observed = Observed::new(2, noise, None);
        let evidence = Evidence { name, ln: circle::ln_evidence(&observed), error: 0.0 };
        let filtered = Evidence::filtered(name, &observed);
        let deviation = (filtered.ln - evidence.ln) / filtered.error;
        assert!(deviation.abs() < 5.0, "{name}: the filter is {deviation} standard errors off");

        let marginals = evidence.above("marginals", moebius::bounds(&observed));
        let open = Family::OpenLoop.at_rest(&observed);
        let open = [open.bound(&observed), open.improved(&observed).bound(&observed)];
        let open = evidence.above("open loop", open);
        let hand = backward_filter(&observed, 1.0);
        let steered = [hand.bound(&observed), hand.coarse().improved(&observed).bound(&observed)];
        let steered = evidence.above("steered", steered);
        assert!(steered > evidence.ln - 0.1, "{name}: {steered} is far below {}", evidence.ln);
        assert!(marginals > evidence.ln - 4.0, "{name}: {marginals} is far below {}", evidence.ln);
        assert!(steered > open + 0.5, "{name}: steered {steered}, open loop {open}");
    }
}
