//! Every choice of a configuration can be changed by its `kind`, from every variant to every other one.

use std::fmt::Debug;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stroock::batch::{GridKind, InputChoice, TargetChoice};
use stroock::decoder::{ImageDecoderConfig, MlpConfig};
use stroock::encoder::{
    FirstFrameConfig, FrameEncoderConfig, FrameFeaturesConfig, KnotEncoderConfig, OdeRnnConfig,
    TimeAttentionConfig,
};
use stroock::image::{ConvolutionConfig, Follow, ImageLayerConfig, ImageNetworkConfig, ImageShape};
use stroock::latent::{DriftKind, KnotPrior, LatentConfig, MarginalConfig, SteeredConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    CruConfig, CruDecoderConfig, CruEncoderConfig, CruLatentConfig, CruTaskConfig, DecoderConfig,
    EncoderConfig, FastCruLatentConfig, GaussianProcessConfig, GppVaeConfig, ImportanceBound,
    KnotLatentConfig, KnotSdeConfig, LatentOdeConfig, LatentSdeConfig, LayersConfig, ModelConfig,
    MtandEncConfig, MtandFullConfig, NeuralSdeConfig, NormalHeadConfig, Ode2VaeConfig, OdeConfig,
    OdeOdeConfig, PredictionKind, ProcessTraining, ReferenceSizes, S5Config, S5Sizes, SdeConfig,
    SecondOrderConfig, StartDensity, TimeViewsSizes, VarianceKind,
};
use stroock::run::{ConfigError, KeyProblem, parse, resolve_over, to_toml};
use stroock::score::HoldOut;
use stroock::series::Observation;
use stroock::task::{TaskConfig, TaskKind};
use stroock::training::Schedule;
use stroock_experiments::protocol::{Experiment, Metric, Options, Over};
use stroock_experiments::reproduce::{Preset, RunConfig};

/// A configuration whose only key is a choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Holder<T> {
    choice: T,
}

/// A test of all pairs of variants. The `match` does not compile when a variant has no example.
macro_rules! every_variant {
    ($name:ident, $type:ty, $($pattern:pat => $example:expr),+ $(,)?) => {
        #[test]
        fn $name() {
            let examples: Vec<$type> = vec![$($example),+];
            let place = |example: &$type| {
                let mut place = 0;
                $(place += 1; if matches!(example, $pattern) { return place; })+
                match example { $($pattern => place),+ }
            };
            let places: Vec<usize> = examples.iter().map(place).collect();
            assert_eq!(places, (1..=examples.len()).collect::<Vec<_>>(), "an example of each variant, in order");
            every_pair(&examples);
        }
    };
}

every_variant!(
    observations, Observation,
    Observation::Vector { .. } => Observation::Vector { channels: 3 },
    Observation::Image { .. } => Observation::Image { channels: 1, height: 8, width: 9 },
);

every_variant!(
    models,
    ModelConfig,
    ModelConfig::LatentSde(_) => LatentSdeConfig {
        observation: Observation::Vector { channels: 3 },
        encoder: EncoderConfig::LearnedEmbedding { width: 11 },
        latent: LatentConfig { drift: DriftKind::Constant, ..LatentConfig::default() },
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        likelihood: LikelihoodKind::Categorical { classes: 4 },
        task: Some(TaskConfig { output: TaskKind::Angle, network: MlpConfig::default() }),
    }
    .into(),
    ModelConfig::KnotSde(_) => KnotSdeConfig {
        observation: Observation::Vector { channels: 3 },
        encoder: KnotEncoderConfig {
            frames: Some(FrameFeaturesConfig { network: network(), features: 5 }),
            hidden: 7,
            ..KnotEncoderConfig::default()
        },
        latent: KnotLatentConfig::Steered(SteeredConfig { gain: 3.0, ..SteeredConfig::default() }),
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        likelihood: LikelihoodKind::Bernoulli,
        task: Some(TaskConfig { output: TaskKind::Angle, network: MlpConfig::default() }),
    }
    .into(),
    ModelConfig::LatentOde(_) => LatentOdeConfig {
        observation: Observation::Vector { channels: 3 },
        encoder: EncoderConfig::LearnedEmbedding { width: 11 },
        latent: OdeConfig { dim: 5, hidden: vec![6] },
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        likelihood: LikelihoodKind::Bernoulli,
        task: Some(TaskConfig { output: TaskKind::Angle, network: MlpConfig::default() }),
    }
    .into(),
    ModelConfig::NeuralSde(_) => NeuralSdeConfig {
        observation: Observation::Vector { channels: 3 },
        encoder: EncoderConfig::LearnedEmbedding { width: 11 },
        latent: SdeConfig { dim: 5, hidden: vec![6], diffusion_hidden: 7 },
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        likelihood: LikelihoodKind::Bernoulli,
        task: Some(TaskConfig { output: TaskKind::Angle, network: MlpConfig::default() }),
    }
    .into(),
    ModelConfig::Ode2vae(_) => Ode2VaeConfig {
        observation: Observation::Vector { channels: 3 },
        encoder: EncoderConfig::LearnedEmbedding { width: 11 },
        latent: SecondOrderConfig {
            dim: 5,
            hidden: 6,
            variance: 0.25,
            substeps: 3,
            density: StartDensity::Released,
        },
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        likelihood: LikelihoodKind::Bernoulli,
        weight_divergence: 0.5,
        encoder_divergence: Some(0.125),
        prediction: PredictionKind::Draws,
    }
    .into(),
    ModelConfig::Gppvae(_) => GppVaeConfig {
        observation: Observation::Vector { channels: 3 },
        encoder: EncoderConfig::LearnedEmbedding { width: 11 },
        latent: GaussianProcessConfig { dim: 5, vector: 3, ..GaussianProcessConfig::default() },
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        likelihood: LikelihoodKind::Bernoulli,
        alone: 7,
        then: ProcessTraining::Disjoint,
    }
    .into(),
    ModelConfig::MtandEnc(_) => MtandEncConfig {
        observation: Observation::Vector { channels: 3 },
        frames: Some(FrameFeaturesConfig { network: network(), features: 5 }),
        encoder: TimeViewsSizes { embedding: 6, hidden: 7 },
        task: TaskConfig { output: TaskKind::ClassPerTime { classes: 4 }, network: MlpConfig::default() },
    }
    .into(),
    ModelConfig::MtandFull(_) => MtandFullConfig {
        observation: Observation::Vector { channels: 3 },
        frames: Some(FrameFeaturesConfig { network: network(), features: 5 }),
        latent: ReferenceSizes { embedding: 6, hidden: 7, ..ReferenceSizes::default() },
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        likelihood: LikelihoodKind::Bernoulli,
        task: Some(TaskConfig { output: TaskKind::Angle, network: MlpConfig::default() }),
    }
    .into(),
    ModelConfig::Cru(_) => CruConfig {
        observation: Observation::Vector { channels: 3 },
        encoder: CruEncoderConfig::Vector {
            layers: LayersConfig::ReluNorm { hidden: vec![4] },
            variance: VarianceKind::Square,
        },
        latent: CruLatentConfig { bandwidth: 5, ..CruLatentConfig::default() },
        decoder: Some(CruDecoderConfig::Normal(normal_head())),
        task: Some(CruTaskConfig { width: 2, head: normal_head() }),
    }
    .into(),
    ModelConfig::FCru(_) => CruConfig {
        observation: Observation::Vector { channels: 3 },
        encoder: CruEncoderConfig::Vector {
            layers: LayersConfig::ReluNorm { hidden: vec![4] },
            variance: VarianceKind::Square,
        },
        latent: FastCruLatentConfig { sets: 5, ..FastCruLatentConfig::default() },
        decoder: Some(CruDecoderConfig::Normal(normal_head())),
        task: Some(CruTaskConfig { width: 2, head: normal_head() }),
    }
    .into(),
    ModelConfig::OdeOde(_) => OdeOdeConfig {
        observation: Observation::Vector { channels: 3 },
        encoder: OdeRnnConfig { frames: None, state: 4, hidden: vec![5, 6], gates: 7 },
        start_hidden: 8,
        latent: OdeConfig { dim: 5, hidden: vec![6] },
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        scale: 0.25,
        bound: ImportanceBound::Released,
        task: Some(TaskConfig { output: TaskKind::Angle, network: MlpConfig::default() }),
    }
    .into(),
    ModelConfig::S5(_) => S5Config {
        observation: Observation::Vector { channels: 3 },
        frames: Some(FrameFeaturesConfig { network: network(), features: 5 }),
        encoder: S5Sizes { width: 7, states: 3, ..S5Sizes::default() },
        task: TaskConfig { output: TaskKind::RealPerTime { width: 2 }, network: MlpConfig::default() },
    }
    .into(),
);

every_variant!(
    encoders_of_recurrent_units, CruEncoderConfig,
    CruEncoderConfig::Vector { .. } => CruEncoderConfig::Vector {
        layers: LayersConfig::ReluNorm { hidden: vec![4, 5] },
        variance: VarianceKind::Square,
    },
    CruEncoderConfig::Frames { .. } => CruEncoderConfig::Frames {
        network: network(),
        features: 7,
        variance: VarianceKind::Exponential,
    },
);

every_variant!(
    decoders_of_recurrent_units, CruDecoderConfig,
    CruDecoderConfig::Normal(_) => CruDecoderConfig::Normal(normal_head()),
    CruDecoderConfig::Image(_) => CruDecoderConfig::Image(ImageDecoderConfig {
        first: ImageShape { channels: 2, height: 3, width: 4 },
        relu: true,
        network: network(),
        sigmoid: true,
    }),
);

every_variant!(
    layers_of_recurrent_units, LayersConfig,
    LayersConfig::Tanh { .. } => LayersConfig::Tanh { hidden: vec![4, 5] },
    LayersConfig::ReluNorm { .. } => LayersConfig::ReluNorm { hidden: vec![6] },
);

fn normal_head() -> NormalHeadConfig {
    NormalHeadConfig {
        mean: LayersConfig::Tanh { hidden: vec![6] },
        variance: LayersConfig::ReluNorm { hidden: vec![7] },
        variance_kind: VarianceKind::Softplus,
    }
}

every_variant!(
    latents_of_knots, KnotLatentConfig,
    KnotLatentConfig::Steered(_) => KnotLatentConfig::Steered(SteeredConfig {
        gain: 3.0,
        prior: KnotPrior::Attractor,
        ..SteeredConfig::default()
    }),
    KnotLatentConfig::Marginal(_) =>
        KnotLatentConfig::Marginal(MarginalConfig { strata: 3, ..MarginalConfig::default() }),
);

every_variant!(
    encoders, EncoderConfig,
    EncoderConfig::TimeAttention(_) =>
        EncoderConfig::TimeAttention(TimeAttentionConfig { hidden: 5, ..TimeAttentionConfig::default() }),
    EncoderConfig::Frames(_) => EncoderConfig::Frames(FrameEncoderConfig {
        network: network(),
        features: 7,
        attention: TimeAttentionConfig::default(),
    }),
    EncoderConfig::FirstFrame(_) => EncoderConfig::FirstFrame(FirstFrameConfig { network: network() }),
    EncoderConfig::LearnedEmbedding { .. } => EncoderConfig::LearnedEmbedding { width: 11 },
);

every_variant!(
    decoders, DecoderConfig,
    DecoderConfig::Mlp(_) => DecoderConfig::Mlp(MlpConfig { hidden: vec![4, 5], ..MlpConfig::default() }),
    DecoderConfig::Image(_) => DecoderConfig::Image(ImageDecoderConfig {
        first: ImageShape { channels: 2, height: 3, width: 4 },
        relu: true,
        network: network(),
        sigmoid: true,
    }),
);

every_variant!(
    drifts, DriftKind,
    DriftKind::Constant => DriftKind::Constant,
    DriftKind::Chebyshev { .. } => DriftKind::Chebyshev { terms: 4, interval: (0.0, 1.98) },
    DriftKind::PiecewiseLinear { .. } => DriftKind::PiecewiseLinear { knots: 5, interval: (0.0, 0.99) },
);

every_variant!(
    likelihoods, LikelihoodKind,
    LikelihoodKind::Gaussian { .. } => LikelihoodKind::Gaussian { scale: 0.25, scale_kind: ScaleKind::Fixed },
    LikelihoodKind::Bernoulli => LikelihoodKind::Bernoulli,
    LikelihoodKind::ContinuousBernoulli => LikelihoodKind::ContinuousBernoulli,
    LikelihoodKind::Categorical { .. } => LikelihoodKind::Categorical { classes: 4 },
);

every_variant!(
    tasks, TaskKind,
    TaskKind::ClassPerTime { .. } => TaskKind::ClassPerTime { classes: 3 },
    TaskKind::ClassPerSeries { .. } => TaskKind::ClassPerSeries { classes: 4 },
    TaskKind::RealPerTime { .. } => TaskKind::RealPerTime { width: 2 },
    TaskKind::Angle => TaskKind::Angle,
);

every_variant!(
    grids, GridKind,
    GridKind::Regular { .. } => GridKind::Regular { points: 17 },
    GridKind::Observations { .. } => GridKind::Observations { largest_step: 0.125 },
);

every_variant!(
    inputs, InputChoice,
    InputChoice::All => InputChoice::All,
    InputChoice::First { .. } => InputChoice::First { count: 3 },
    InputChoice::Random { .. } => InputChoice::Random { probability: 0.75, always: 2 },
    InputChoice::Values { .. } => InputChoice::Values { least: 0.75 },
    InputChoice::Past { .. } => InputChoice::Past { least: 0.125 },
);

every_variant!(
    targets, TargetChoice,
    TargetChoice::All => TargetChoice::All,
    TargetChoice::Drop { .. } => TargetChoice::Drop { count: 4, never: 2 },
);

every_variant!(
    schedules, Schedule,
    Schedule::Constant => Schedule::Constant,
    Schedule::Cosine { .. } => Schedule::Cosine { epochs: 9, floor: 0.125 },
    Schedule::CyclicCosine { .. } => Schedule::CyclicCosine { period: 7 },
    Schedule::WarmCosine { .. } => Schedule::WarmCosine { epochs: 9, warm_up: 1.5, floor: 0.125 },
);

every_variant!(
    hold_outs, HoldOut,
    HoldOut::Random { .. } => HoldOut::Random { share: 0.125 },
    HoldOut::Blocks { .. } => HoldOut::Blocks { share: 0.125, length: 3 },
    HoldOut::Tail { .. } => HoldOut::Tail { share: 0.5 },
);

every_variant!(
    metrics, Metric,
    Metric::SquaredError { .. } => Metric::SquaredError { over: Over::Time { time: 0.5 } },
    Metric::TaskSquaredError => Metric::TaskSquaredError,
    Metric::Accuracy => Metric::Accuracy,
);

every_variant!(
    points_of_a_metric, Over,
    Over::All => Over::All,
    Over::Unseen => Over::Unseen,
    Over::Time { .. } => Over::Time { time: 1.5 },
);

fn network() -> ImageNetworkConfig {
    let convolution = ConvolutionConfig {
        channels: 3,
        kernel: 5,
        stride: 2,
        padding: 1,
        output_padding: 0,
        transposed: false,
    };
    let layer = ImageLayerConfig { convolution, then: Follow::Relu };
    ImageNetworkConfig { layers: vec![layer, ImageLayerConfig { then: Follow::Nothing, ..layer }] }
}

fn every_pair<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned>(examples: &[T]) {
    let names: Vec<String> = examples.iter().map(kind).collect();
    for from in examples {
        for to in examples {
            let what = format!("from {from:?} to {to:?}");
            let default = Holder { choice: from.clone() };
            let wanted = Holder { choice: to.clone() };
            let file = to_toml(&wanted).unwrap();
            let path = Path::new("run.toml");
            assert_eq!(resolve_over(&default, Some((path, &file)), &[]).unwrap(), wanted, "{what}");
            assert_eq!(parse::<Holder<T>>(path, &file).unwrap(), wanted, "{what}");

            let mut set = overrides(to);
            assert_eq!(resolve_over(&default, None, &set).unwrap(), wanted, "{what}");
            set.reverse();
            assert_eq!(resolve_over(&default, None, &set).unwrap(), wanted, "{what}, the kind last");

            let kind_alone = [("choice.kind".to_owned(), kind(to))];
            let changed = resolve_over(&default, None, &kind_alone);
            let from_nothing = parse::<Holder<T>>(path, &format!("choice.kind = {:?}", kind(to)));
            match (changed, from_nothing) {
                (Ok(changed), _) if kind(from) == kind(to) => assert_eq!(changed, default, "{what}"),
                (Ok(changed), from_nothing) => assert_eq!(changed, from_nothing.unwrap(), "{what}"),
                (Err(error), from_nothing) => {
                    let missing =
                        overrides(to).into_iter().map(|(key, _)| key).find(|key| is_missing(&error, key));
                    assert!(missing.is_some() && from_nothing.is_err(), "{what}: {error}");
                }
            }

            let mut set = overrides(to);
            set.push(("choice.nothing_like_it".to_owned(), "1".to_owned()));
            assert_unknown(&resolve_over(&default, None, &set).unwrap_err(), "choice.nothing_like_it", &what);
            // Behind a table within the choice, the line would belong to that one.
            let file = file.replacen("kind = ", "nothing_like_it = 1\nkind = ", 1);
            assert_unknown(&parse::<Holder<T>>(path, &file).unwrap_err(), "choice.nothing_like_it", &what);

            let of_to: Vec<String> = overrides(to).into_iter().map(|(key, _)| key).collect();
            for (key, value) in overrides(from).into_iter().filter(|(key, _)| !of_to.contains(key)) {
                let mut set = overrides(to);
                set.push((key.clone(), value));
                assert_unknown(&resolve_over(&default, None, &set).unwrap_err(), &key, &what);
            }
        }
        let wrong = [("choice.kind".to_owned(), "no-such-kind".to_owned())];
        let error = resolve_over(&Holder { choice: from.clone() }, None, &wrong).unwrap_err();
        let ConfigError::Key { key, problem, .. } = &error else { panic!("{error}") };
        let KeyProblem::Choice { choices, .. } = &**problem else { panic!("{error}") };
        assert_eq!((key.as_str(), choices), ("choice.kind", &names), "{error}");
        let text = [("choice".to_owned(), kind(from))];
        let error = resolve_over(&Holder { choice: from.clone() }, None, &text).unwrap_err().to_string();
        assert!(error.contains("`choice` must be a table with a `kind`, but it is the text"), "{error}");
    }
}

/// The entries of a choice, as a file has them.
fn entries<T: Serialize>(choice: &T) -> toml::Table {
    toml::Table::try_from(choice).unwrap()
}

fn kind<T: Serialize>(choice: &T) -> String {
    entries(choice)["kind"].as_str().unwrap().to_owned()
}

/// The entries of a choice as overrides, `kind` first.
fn overrides<T: Serialize>(choice: &T) -> Vec<(String, String)> {
    let entries = entries(choice).into_iter();
    let mut all: Vec<_> =
        entries.map(|(name, value)| (format!("choice.{name}"), value.to_string())).collect();
    all.sort_by_key(|(key, _)| key != "choice.kind");
    all
}

fn is_missing(error: &ConfigError, name: &str) -> bool {
    matches!(error, ConfigError::Key { key, problem, .. } if key == name && **problem == KeyProblem::Missing)
}

fn assert_unknown(error: &ConfigError, name: &str, what: &str) {
    let is_unknown = matches!(
        error,
        ConfigError::Key { key, problem, .. } if key == name && matches!(**problem, KeyProblem::Unknown { .. })
    );
    assert!(is_unknown, "{what}: {error}");
}

#[test]
fn the_kind_of_a_part_of_a_run_can_be_set() {
    let config = RunConfig::new(Experiment::Physionet, Preset::Clean, Options::default());
    let with = |set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        resolve_over(&config, None, &set)
    };
    let changed = with(&[
        ("protocol.model.latent.drift.kind", "constant"),
        ("protocol.model.likelihood.kind", "gaussian"),
        ("protocol.training.schedule.kind", "constant"),
        ("protocol.batcher.input.least", "0.75"),
        ("protocol.batcher.input.kind", "past"),
    ])
    .unwrap();
    let mut expected = config.clone();
    expected.protocol.model.as_latent_sde_mut().unwrap().latent.drift = DriftKind::Constant;
    expected.protocol.training.schedule = Schedule::Constant;
    expected.protocol.batcher.input = InputChoice::Past { least: 0.75 };
    assert_eq!(changed, expected, "the same kind of likelihood keeps its scale");

    let words = |set: &[(&str, &str)]| with(set).unwrap_err().to_string();
    assert_eq!(
        words(&[("protocol.model.latent.drift.term", "3")]),
        "override `protocol.model.latent.drift.term=3`: `protocol.model.latent.drift.term` is not a known key; did \
         you mean `terms`?"
    );
    assert_eq!(
        words(&[("protocol.model.likelihood.kind", "categorical")]),
        "override `protocol.model.likelihood.kind=categorical`: `protocol.model.likelihood.classes` is missing"
    );
    assert_eq!(
        words(&[("protocol.metric.over.kind", "time")]),
        "override `protocol.metric.over.kind=time`: `protocol.metric.over.time` is missing"
    );
}

#[test]
fn a_key_deep_inside_a_choice_is_named_with_all_its_tables() {
    let choice = DecoderConfig::Image(ImageDecoderConfig {
        first: ImageShape { channels: 2, height: 3, width: 4 },
        relu: true,
        network: network(),
        sigmoid: true,
    });
    let file = to_toml(&Holder { choice }).unwrap();
    let words = |from: &str, to: &str| {
        assert!(file.contains(from), "{file}");
        let file = file.replacen(from, to, 1);
        parse::<Holder<DecoderConfig>>(Path::new("run.toml"), &file).unwrap_err().to_string()
    };
    let error = words("kernel = 5", "kernl = 5");
    assert!(
        error.contains("`choice.network[0].convolution.kernl` is not a known key; did you mean `kernel`?"),
        "{error}"
    );
    let error = words("then = \"relu\"", "then = \"rely\"");
    assert!(
        error.contains("`choice.network[0].then` must be one of") && error.contains("did you mean `relu`?"),
        "{error}"
    );
    let error = words("height = 3", "height = -3");
    assert!(error.contains("`choice.first.height` must be a whole number that is not negative"), "{error}");
}
