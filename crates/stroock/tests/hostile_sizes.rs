//! Sizes that cannot be, from a configuration or a model file, are errors and not panics.

#[allow(dead_code, reason = "another test trains the model")]
mod oscillations;

use burn::tensor::Device;
use stroock::decoder::MlpConfig;
use stroock::encoder::{FirstFrameConfig, OdeRnnConfig, TimeAttentionConfig};
use stroock::image::{ConvolutionConfig, Follow, ImageLayerConfig, ImageNetworkConfig};
use stroock::initial::InitialWeights;
use stroock::latent::LatentConfig;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DataDescription, DecoderConfig, Description, EncoderConfig, GaussianProcessConfig, GppVaeConfig,
    LatentOdeConfig, LatentSdeConfig, ModelConfig, ModelConfigError, ModelSettings, MtandEncConfig,
    MtandFullConfig, NeuralSdeConfig, Ode2VaeConfig, OdeConfig, OdeOdeConfig, PathDraws, ReferenceSizes,
    S5Config, S5Sizes, SdeConfig, SecondOrderConfig, TimeViewsSizes,
};
use stroock::run::TensorFile;
use stroock::series::{Observation, Scaler};
use stroock::task::{TaskConfig, TaskKind};
use stroock_kernels::noise::NoiseKey;

const ATTENTION: TimeAttentionConfig =
    TimeAttentionConfig { hidden: 4, embedding: 4, reference_points: 4, stretched: false, local_heads: 1 };

fn config(attention: TimeAttentionConfig, dim: usize) -> LatentSdeConfig {
    LatentSdeConfig {
        observation: Observation::Vector { channels: 2 },
        encoder: EncoderConfig::TimeAttention(attention),
        latent: LatentConfig { dim, ..LatentConfig::default() },
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::Learned },
        task: None,
    }
}

/// Whether a model can be made and used; it must not panic.
fn works(config: &LatentSdeConfig) -> bool {
    let Ok(model) = config.init(&mut InitialWeights::new(1, &Device::flex())) else { return false };
    let batch = oscillations::batcher()
        .assemble(&oscillations::oscillations(2, 2), &[0, 1], NoiseKey::new(1, 0))
        .unwrap();
    model.bound(&batch, PathDraws { key: NoiseKey::new(1, 0), samples: 1, first_sample: 0 }).is_ok()
}

#[test]
fn embeddings_narrower_than_two() {
    assert!(!works(&config(TimeAttentionConfig { embedding: 1, ..ATTENTION }, 3)));
    assert!(!works(&config(TimeAttentionConfig { embedding: 0, ..ATTENTION }, 3)));
}

#[test]
fn representations_without_numbers() {
    assert!(!works(&config(TimeAttentionConfig { hidden: 0, ..ATTENTION }, 3)));
}

#[test]
fn more_parameters_than_memory() {
    // A model file can say this; it is read before its tensors are compared.
    assert!(!works(&config(ATTENTION, 1 << 40)));
    assert!(!works(&config(TimeAttentionConfig { hidden: 1 << 40, ..ATTENTION }, 3)));
    assert!(!works(&config(TimeAttentionConfig { local_heads: 1 << 40, ..ATTENTION }, 3)));
}

#[test]
fn images_larger_than_memory() {
    let observation = Observation::Image { channels: 1 << 30, height: 1 << 30, width: 1 << 30 };
    assert!(!works(&LatentSdeConfig { observation, ..config(ATTENTION, 3) }));
}

#[test]
fn normalised_layers_without_channels() {
    let convolution = ConvolutionConfig {
        channels: 0,
        kernel: 3,
        stride: 1,
        padding: 1,
        output_padding: 0,
        transposed: false,
    };
    let network =
        ImageNetworkConfig { layers: vec![ImageLayerConfig { convolution, then: Follow::BatchNormRelu }] };
    let observation = Observation::Image { channels: 1, height: 4, width: 4 };
    let encoder = EncoderConfig::FirstFrame(FirstFrameConfig { network });
    assert!(!works(&LatentSdeConfig { observation, encoder, ..config(ATTENTION, 3) }));
}

/// The keys that are at fault, of models in `R^n` with these sizes.
fn faults_of_flows(dim: usize, hidden: &[usize], diffusion_hidden: usize, width: usize) -> [&'static str; 2] {
    let LatentSdeConfig { observation, decoder, likelihood, .. } = config(ATTENTION, 3);
    let encoder = EncoderConfig::LearnedEmbedding { width };
    let key = |error: ModelConfigError| match error {
        ModelConfigError::Size { key, .. } | ModelConfigError::Parameters { key, .. } => key,
        other => panic!("{other}"),
    };
    let ode = LatentOdeConfig {
        observation,
        encoder: encoder.clone(),
        latent: OdeConfig { dim, hidden: hidden.to_vec() },
        decoder: decoder.clone(),
        likelihood,
        task: None,
    };
    let latent = SdeConfig { dim, hidden: hidden.to_vec(), diffusion_hidden };
    let sde = NeuralSdeConfig { observation, encoder, latent, decoder, likelihood, task: None };
    let mut weights = InitialWeights::new(1, &Device::flex());
    [
        ode.init(&mut weights).map(|_| ()).map_err(key).err().unwrap_or("none"),
        sde.init(&mut weights).map(|_| ()).map_err(key).err().unwrap_or("none"),
    ]
}

#[test]
fn networks_of_flows_without_numbers_or_beyond_memory() {
    assert_eq!(faults_of_flows(1, &[], 1, 1), ["none", "none"]);
    assert_eq!(faults_of_flows(0, &[4], 4, 3), ["latent.dim"; 2]);
    assert_eq!(faults_of_flows(1 << 40, &[4], 4, 3), ["latent.dim"; 2]);
    assert_eq!(faults_of_flows(3, &[4, 0], 4, 3), ["latent.hidden"; 2]);
    assert_eq!(faults_of_flows(3, &[usize::MAX], 4, 3), ["latent.hidden"; 2]);
    assert_eq!(faults_of_flows(3, &[1 << 20, 1 << 20], 4, 3), ["latent.hidden"; 2]);
    assert_eq!(faults_of_flows(3, &[4], 0, 3), ["none", "latent.diffusion_hidden"]);
    assert_eq!(faults_of_flows(3, &[4], 1 << 50, 3), ["none", "latent.diffusion_hidden"]);
    assert_eq!(faults_of_flows(3, &[4], 4, 0), ["encoder.width"; 2]);
}

/// The key that is at fault in a configuration.
fn fault(config: &impl ModelSettings) -> &'static str {
    match config.init(&mut InitialWeights::new(1, &Device::flex())) {
        Ok(_) => "none",
        Err(ModelConfigError::Size { key, .. }) => key,
        Err(ModelConfigError::Parameters { key, .. } | ModelConfigError::NotPositive { key, .. }) => key,
        Err(other) => panic!("{other}"),
    }
}

/// What is wrong with the sizes of an equation of second order.
fn fault_of_second_order(latent: SecondOrderConfig, divergences: [f64; 2]) -> &'static str {
    let LatentSdeConfig { observation, decoder, likelihood, .. } = config(ATTENTION, 3);
    let config = Ode2VaeConfig {
        observation,
        encoder: EncoderConfig::LearnedEmbedding { width: 3 },
        latent,
        decoder,
        likelihood,
        weight_divergence: divergences[0],
        encoder_divergence: Some(divergences[1]),
        prediction: Default::default(),
    };
    fault(&config)
}

/// What is wrong with the sizes of a Gaussian process over frames.
fn fault_of_process(latent: GaussianProcessConfig) -> &'static str {
    let LatentSdeConfig { observation, decoder, likelihood, .. } = config(ATTENTION, 3);
    let config = GppVaeConfig {
        observation,
        encoder: EncoderConfig::LearnedEmbedding { width: 3 },
        latent,
        decoder,
        likelihood,
        alone: 0,
        then: Default::default(),
    };
    fault(&config)
}

#[test]
fn gaussian_processes_without_numbers_or_beyond_memory() {
    let default = || GaussianProcessConfig { objects: 4, ..GaussianProcessConfig::default() };
    assert_eq!(fault_of_process(default()), "none");
    for size in [0, 1 << 40, usize::MAX] {
        assert_eq!(fault_of_process(GaussianProcessConfig { dim: size, ..default() }), "latent.dim");
        assert_eq!(fault_of_process(GaussianProcessConfig { objects: size, ..default() }), "latent.objects");
        assert_eq!(fault_of_process(GaussianProcessConfig { vector: size, ..default() }), "latent.vector");
        let harmonics = GaussianProcessConfig { harmonics: size, ..default() };
        assert_eq!(fault_of_process(harmonics), "latent.harmonics");
    }
    // Matrices of the square of their product are inverted.
    let harmonics = GaussianProcessConfig { harmonics: 1 << 12, ..default() };
    assert_eq!(fault_of_process(harmonics), "latent.harmonics");
    assert_eq!(fault_of_process(GaussianProcessConfig { vector: 1 << 10, ..default() }), "latent.vector");
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(fault_of_process(GaussianProcessConfig { period: value, ..default() }), "latent.period");
        assert_eq!(fault_of_process(GaussianProcessConfig { speed: value, ..default() }), "latent.speed");
    }
}

#[test]
fn equations_of_second_order_without_numbers_or_beyond_memory() {
    let default = SecondOrderConfig::default;
    let of = |latent| fault_of_second_order(latent, [0.1, 0.1]);
    assert_eq!(of(SecondOrderConfig { dim: 1, hidden: 1, ..default() }), "none");
    for dim in [0, 1 << 40, usize::MAX] {
        assert_eq!(of(SecondOrderConfig { dim, ..default() }), "latent.dim");
    }
    for hidden in [0, 1 << 15, 1 << 40, usize::MAX] {
        assert_eq!(of(SecondOrderConfig { hidden, ..default() }), "latent.hidden");
    }
    for substeps in [0, 1 << 20] {
        assert_eq!(of(SecondOrderConfig { substeps, ..default() }), "latent.substeps");
    }
    for variance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(of(SecondOrderConfig { variance, ..default() }), "latent.variance");
        assert_eq!(fault_of_second_order(default(), [variance, 0.1]), "weight_divergence");
        assert_eq!(fault_of_second_order(default(), [0.1, variance]), "encoder_divergence");
    }
}

/// What is wrong with the sizes of a latent equation with an encoder of its kind.
fn fault_of_ode_ode(change: impl FnOnce(&mut OdeOdeConfig)) -> &'static str {
    let LatentSdeConfig { observation, decoder, .. } = config(ATTENTION, 3);
    let mut config = OdeOdeConfig::new(observation, decoder);
    change(&mut config);
    match config.init(&mut InitialWeights::new(1, &Device::flex())) {
        Ok(_) => "none",
        Err(ModelConfigError::Size { key, .. }) => key,
        Err(ModelConfigError::Parameters { key, .. } | ModelConfigError::NotPositive { key, .. }) => key,
        Err(ModelConfigError::Encoder { found, .. }) => found,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn equations_with_encoders_of_their_kind_without_numbers_or_beyond_memory() {
    assert_eq!(fault_of_ode_ode(|_| ()), "none");
    let small = OdeRnnConfig { frames: None, state: 1, hidden: Vec::new(), gates: 1 };
    assert_eq!(fault_of_ode_ode(|config| config.encoder = small), "none");
    for size in [0, 1 << 40, usize::MAX] {
        assert_eq!(fault_of_ode_ode(|config| config.encoder.state = size), "encoder.state");
        assert_eq!(fault_of_ode_ode(|config| config.encoder.hidden = vec![3, size]), "encoder.hidden");
        assert_eq!(fault_of_ode_ode(|config| config.encoder.gates = size), "encoder.gates");
        assert_eq!(fault_of_ode_ode(|config| config.start_hidden = size), "start_hidden");
        assert_eq!(fault_of_ode_ode(|config| config.latent.dim = size), "latent.dim");
        assert_eq!(fault_of_ode_ode(|config| config.latent.hidden = vec![size]), "latent.hidden");
    }
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(fault_of_ode_ode(|config| config.scale = scale), "scale");
    }
    let image = Observation::Image { channels: 1, height: 4, width: 4 };
    assert_eq!(fault_of_ode_ode(|config| config.observation = image), "images");
}

#[test]
fn attention_at_observation_times_without_numbers_or_beyond_memory() {
    let with = |embedding, hidden, classes| MtandEncConfig {
        observation: Observation::Vector { channels: 2 },
        frames: None,
        encoder: TimeViewsSizes { embedding, hidden },
        task: TaskConfig { output: TaskKind::ClassPerTime { classes }, network: MlpConfig::default() },
    };
    assert_eq!(fault(&with(2, 1, 1)), "none");
    assert_eq!(fault(&with(1, 4, 3)), "encoder.embedding");
    assert_eq!(fault(&with(1 << 20, 4, 3)), "encoder.embedding");
    assert_eq!(fault(&with(4, 0, 3)), "encoder.hidden");
    assert_eq!(fault(&with(4, 1 << 19, 3)), "encoder.hidden");
    assert_eq!(fault(&with(4, usize::MAX, 3)), "encoder.hidden");
    assert_eq!(fault(&with(4, 4, 0)), "task.output");
}

#[test]
fn reference_points_without_numbers_or_beyond_memory() {
    let small =
        ReferenceSizes { embedding: 4, reference_points: 1, hidden: 4, head: 4, latent: 1, generator: 1 };
    let with = |latent| {
        let LatentSdeConfig { observation, decoder, likelihood, .. } = config(ATTENTION, 3);
        MtandFullConfig { observation, frames: None, latent, decoder, likelihood, task: None }
    };
    assert_eq!(fault(&with(small)), "none");
    assert_eq!(fault(&with(ReferenceSizes { embedding: 0, ..small })), "latent.embedding");
    assert_eq!(fault(&with(ReferenceSizes { hidden: 1 << 40, ..small })), "latent.hidden");
    for reference_points in [0, 1 << 13, usize::MAX] {
        assert_eq!(fault(&with(ReferenceSizes { reference_points, ..small })), "latent.reference_points");
    }
    for size in [0, 1 << 40] {
        assert_eq!(fault(&with(ReferenceSizes { head: size, ..small })), "latent.head");
        assert_eq!(fault(&with(ReferenceSizes { latent: size, ..small })), "latent.latent");
        assert_eq!(fault(&with(ReferenceSizes { generator: size, ..small })), "latent.generator");
    }
}

#[test]
fn layers_of_recurrences_without_numbers_or_beyond_memory() {
    let small = S5Sizes { width: 1, states: 1, layers: 1, unit: 1.0 };
    let with = |encoder| S5Config {
        observation: Observation::Vector { channels: 2 },
        frames: None,
        encoder,
        task: TaskConfig { output: TaskKind::Angle, network: MlpConfig::default() },
    };
    assert_eq!(fault(&with(small)), "none");
    for size in [0, 1 << 40] {
        assert_eq!(fault(&with(S5Sizes { width: size, ..small })), "encoder.width");
        assert_eq!(fault(&with(S5Sizes { states: size, ..small })), "encoder.states");
        assert_eq!(fault(&with(S5Sizes { layers: size, ..small })), "encoder.layers");
    }
    for unit in [0.0, -1.0, f64::NAN] {
        let error = with(S5Sizes { unit, ..small }).check().unwrap_err();
        assert!(matches!(error, ModelConfigError::NotPositive { key: "encoder.unit", .. }), "{error}");
    }
}

#[test]
fn scalers_without_numbers() {
    // `{"shift":[],"scale":[]}` is a scaler to serde, and `Scaler::default()` is this one.
    let _ = Scaler::default().to_model(0, 1.0);
}

#[test]
fn tasks_and_reference_points_beyond_memory() {
    let task = |hidden: Vec<usize>| LatentSdeConfig {
        task: Some(TaskConfig {
            output: TaskKind::ClassPerSeries { classes: 2 },
            network: MlpConfig { hidden, ..MlpConfig::default() },
        }),
        ..config(ATTENTION, 3)
    };
    assert_eq!(fault(&task(vec![4, 4])), "none");
    assert_eq!(fault(&task(vec![1 << 20, 1 << 20])), "task.network.hidden");
    let points = config(TimeAttentionConfig { reference_points: 1 << 20, ..ATTENTION }, 3);
    assert_eq!(fault(&points), "encoder.reference_points");
}

#[test]
fn a_model_file_takes_no_more_memory_than_it_holds() {
    let big = |hidden: Vec<usize>| {
        let decoder = DecoderConfig::Mlp(MlpConfig { hidden, ..MlpConfig::default() });
        ModelConfig::from(LatentSdeConfig { decoder, ..config(ATTENTION, 3) })
    };
    let data = DataDescription::new(oscillations::batcher(), &["x", "y"]);
    // Every map is within its bound; all of them together are a terabyte.
    let description = Description { model: big(vec![1 << 14; 1000]), data };
    let mut file = TensorFile::new();
    description.metadata().unwrap().note(&mut file);
    let read = Description::<ModelConfig>::from_tensors(&file, "small.safetensors".as_ref(), &Device::flex());
    let error = read.unwrap_err().to_string();
    assert!(error.contains("small.safetensors") && error.contains("more than 65536 numbers"), "{error}");
    // So are those of a configuration, which has no file.
    let mut weights = InitialWeights::within(1000, 1, &Device::flex());
    let error = description.model.init(&mut weights).unwrap_err();
    assert!(matches!(error, ModelConfigError::TooManyParameters { most: 1000 }), "{error}");
}
