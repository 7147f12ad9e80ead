//! Models of images: gradients, learning, running moments, and files.

mod numbers;
mod parameters;
mod pictures;

use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor, TensorData};
use numbers::doubles;
use parameters::{assert_gradients, filled};
use pictures::{SIDE, batcher, of_frames, of_the_first_frame, pictures};
use stroock::batch::Batch;
use stroock::encoder::Encoder;
use stroock::image::{ConvolutionConfig, ImageLayer};
use stroock::initial::InitialWeights;
use stroock::model::{
    LatentSdeConfig, ModelConfigError, ModelSettings, PathDraws, StandardEncoder, StandardLatentSde,
    from_file, to_file,
};
use stroock::objective::ElboWeights;
use stroock::plain;
use stroock::run::{Progress, RunFolder, RunLength, StopFlag, Tensor as StoredTensor, TensorFile};
use stroock::series::Split;
use stroock::training::{Adam, AdamConfig, Schedule, Trained, Trainer, TrainingConfig};
use stroock_kernels::noise::NoiseKey;
use stroock_testing::finite_difference::assert_close;

fn batch(numbers: &[usize]) -> Batch {
    batcher().assemble(&pictures(6), numbers, NoiseKey::new(1, 0)).unwrap()
}

fn init(config: &LatentSdeConfig, seed: u64, device: &Device) -> StandardLatentSde {
    config.init(&mut InitialWeights::new(seed, device)).unwrap().materialize()
}

fn draws(epoch: u64) -> PathDraws {
    PathDraws { key: NoiseKey::new(1, epoch), samples: 1, first_sample: 0 }
}

fn loss(model: &StandardLatentSde, batch: &Batch, epoch: u64) -> Tensor<1> {
    let weights = ElboWeights { kl_start: 1e-3, kl_path: 1e-3, ..ElboWeights::default() };
    model.bound(batch, draws(epoch)).unwrap().losses(weights, batch).mean()
}

/// The model after some steps on a batch.
fn trained(config: &LatentSdeConfig, batch: &Batch, steps: u64) -> StandardLatentSde {
    let mut model = init(config, 4, &Device::flex().autodiff());
    let mut adam = Adam::new(AdamConfig::default());
    for epoch in 0..steps {
        let gradients = loss(&model, batch, epoch).backward();
        model = adam.step(model, &gradients, 5e-3);
    }
    model
}

#[test]
fn gradients_of_the_whole_model_are_those_of_finite_differences() {
    let (device, batch) = (Device::flex().autodiff(), batch(&[0, 1, 2]));
    let mut model = filled(init(&of_frames(), 1, &device), 0.6, 100);
    model.process.sigma = Param::from_tensor(Tensor::full([1], 0.3, &device));
    // The distribution of the start points does not depend on the representation: its gradients are pathwise, not those of
    // differences.
    for head in [&mut model.process.mu, &mut model.process.kappa] {
        head.weight = Param::from_tensor(head.weight.val().zeros_like());
    }
    // And a bias of the keys moves all scores of a softmax alike.
    let left_out = ["process.mu.weight", "process.mu.bias", "process.kappa.weight", "process.kappa.bias"];
    let chosen = |name: &str| !left_out.contains(&name) && !name.ends_with("attention.key.bias");
    assert_gradients(&model, |model| loss(model, &batch, 0), chosen, 5, 1e-7);
}

#[test]
fn both_models_learn() {
    let batch = batch(&[0, 1, 2, 3, 4, 5]);
    for (name, config) in [("frames", of_frames()), ("first frame", of_the_first_frame())] {
        let before = doubles(loss(&trained(&config, &batch, 0), &batch, 999))[0];
        let after = doubles(loss(&trained(&config, &batch, 60), &batch, 999))[0];
        println!("{name}: loss {before} -> {after}");
        assert!(after < before - 0.05, "{name}: loss {before} -> {after}");
    }
}

/// The layers of the encoder of one frame.
fn layers(model: &StandardLatentSde) -> &[ImageLayer] {
    match &model.encoder {
        StandardEncoder::FirstFrame(encoder) => &encoder.network.layers,
        _ => panic!("another encoder"),
    }
}

/// The representations of the first frames, with given moments: `relu(gamma (y - mean) / sqrt(variance + e) + beta)`.
fn by_hand(model: &StandardLatentSde, batch: &Batch) -> Vec<f64> {
    let input = &batch.input;
    let extent = SIDE * SIDE;
    let first = input.point_offsets[..input.series()].iter();
    let first: Vec<f32> =
        first.flat_map(|&point| input.values[point * extent..(point + 1) * extent].to_vec()).collect();
    let shape = [input.series(), 1, SIDE, SIDE];
    let mut maps = Tensor::<4>::from_data(TensorData::new(first, shape), &Device::flex());
    for (layer, channels) in layers(model).iter().zip([4, 3]) {
        let config = ConvolutionConfig {
            channels,
            kernel: 3,
            stride: 2,
            padding: 1,
            output_padding: 0,
            transposed: false,
        };
        let (weight, bias) = (layer.convolution.weight.val(), layer.convolution.bias.val());
        maps = plain::convolve(&config, maps, weight, bias, false, None).unwrap();
        let norm = layer.batch_norm.as_ref().expect("a normalisation");
        let of_channel = |numbers: Tensor<1>| numbers.reshape([1, channels, 1, 1]);
        let [mean, variance] = [&norm.running_mean, &norm.running_var].map(|state| of_channel(state.value()));
        let standard = (maps - mean) / variance.add_scalar(norm.epsilon).sqrt();
        maps = relu(standard * of_channel(norm.gamma.val()) + of_channel(norm.beta.val()));
    }
    doubles(maps)
}

#[test]
fn a_valid_model_uses_running_moments_and_a_training_one_those_of_the_batch() {
    let (all, one) = (batch(&[0, 1, 2, 3, 4, 5]), batch(&[0]));
    let model = trained(&of_the_first_frame(), &all, 20);
    let encode =
        |model: &StandardLatentSde, batch: &Batch| doubles(model.encoder.encode(&batch.input).unwrap());
    let valid = model.valid();
    let representations = encode(&valid, &all);
    assert_eq!(encode(&valid, &one), representations[..12], "series do not see each other");
    assert_eq!(encode(&valid, &all), representations, "the moments stay as they are");
    assert_close("by hand", &representations, &by_hand(&valid, &all), 1e-5);
    let moment = |model: &StandardLatentSde| {
        let norm = layers(model)[0].batch_norm.as_ref().expect("a normalisation");
        (doubles(norm.running_mean.value()), doubles(norm.running_var.value()))
    };
    let before = moment(&model);
    assert_ne!(before, (vec![0.0; 4], vec![1.0; 4]), "training has moved them");
    assert_eq!(before, moment(&valid));
    assert_ne!(encode(&model, &all), representations, "training normalises with the moments of the batch");
    assert_ne!(before, moment(&model), "and moves the running ones");
}

#[test]
fn a_file_holds_the_running_moments() {
    let device = Device::flex().autodiff();
    let (all, config) = (batch(&[0, 1, 2, 3, 4, 5]), of_the_first_frame());
    let model = trained(&config, &all, 20);
    let output = |model: &StandardLatentSde| doubles(model.valid().bound(&all, draws(7)).unwrap().output);
    // The file comes first: other uses of the model would bring its moments up to date.
    let file = to_file(&model).unwrap();
    let expected = output(&model);
    let moments: Vec<&str> =
        file.tensors.iter().map(|(name, _)| &name[..]).filter(|name| name.contains("running")).collect();
    // A mean and a variance for each of three layers.
    assert_eq!(moments.len(), 6, "{moments:?}");

    let bytes = file.to_bytes().unwrap();
    let file = TensorFile::from_bytes("model", &bytes).unwrap();
    let other = init(&config, 99, &device);
    assert_ne!(output(&other), expected);
    let loaded = from_file(other, &file).unwrap();
    assert!(output(&loaded) == expected, "the loaded model says something else");
    assert!(to_file(&loaded).unwrap().to_bytes().unwrap() == bytes, "the file is another one");
    let plain = from_file(init(&config, 5, &Device::flex()), &file).unwrap();
    assert!(output(&plain) == expected, "a device without gradients makes a difference");

    let mut moved = file.clone();
    for (name, tensor) in &mut moved.tensors {
        if name.ends_with("running_mean") {
            *tensor = StoredTensor::new(tensor.shape().to_vec(), vec![0.3_f32; tensor.shape()[0]]).unwrap();
        }
    }
    assert_ne!(output(&from_file(init(&config, 5, &device), &moved).unwrap()), expected);
}

#[test]
fn layers_that_do_not_fit_are_refused_with_a_sentence() {
    let device = Device::flex();
    let refused = |config: &LatentSdeConfig| -> ModelConfigError {
        config.init(&mut InitialWeights::new(1, &device)).unwrap_err()
    };
    let mut config = of_frames();
    config.observation = stroock::series::Observation::Vector { channels: 64 };
    let words = "the encoder `frames` reads images, but vectors are observed";
    assert_eq!(refused(&config).to_string(), words);
    let mut config = of_frames();
    config.observation = stroock::series::Observation::Image { channels: 1, height: 8, width: 9 };
    let words = "the decoder makes 64 numbers a point, but the likelihood of these observations reads 72";
    assert_eq!(refused(&config).to_string(), words);
    let mut config = of_frames();
    config.observation = stroock::series::Observation::Image { channels: 1, height: 1, width: 1 };
    assert_eq!(refused(&config).to_string(), "encoder: `window` is 2 on axis 0, larger than the plane, 1");
}

/// Clones of a model share its running moments: the models of a run must not.
#[test]
fn the_models_of_a_run_have_running_moments_of_their_own() {
    let (data, root) = (pictures(8), tempfile::tempdir().unwrap());
    let split = Split { train: (0..6).collect(), validation: vec![6, 7], test: Vec::new() };
    let train = |name: &str, average: Option<f64>, epochs: u64| -> Trained<StandardLatentSde> {
        let path = root.path().join(name);
        let folder = RunFolder::open(&path).or_else(|_| RunFolder::create(&path)).unwrap();
        folder.write_config("").unwrap();
        // The rate climbs until the models get worse: the best one is not the last one.
        let schedule = Schedule::WarmCosine { epochs: 4, warm_up: 4.0, floor: 0.0 };
        let config =
            TrainingConfig { epochs, batch_size: 3, rate: 0.5, schedule, average, ..Default::default() };
        let trainer = Trainer { config, data: &data, split: &split, batcher: batcher(), metadata: None };
        let mut progress = Progress::hidden(RunLength { epochs, steps_per_epoch: 2, done: 0 });
        let model = init(&of_the_first_frame(), 4, &Device::flex().autodiff());
        trainer.run(model, &folder, &StopFlag::new(), &mut progress).unwrap()
    };
    let bytes = |model: &StandardLatentSde| to_file(model).unwrap().to_bytes().unwrap();
    let saved = |name: &str| std::fs::read(root.path().join(name)).unwrap();

    let trained = train("raw", None, 3);
    assert!(trained.best.unwrap().0 < 3, "the best model is the last one: {:?}", trained.best);
    assert!(bytes(&trained.model) == saved("raw/last/model.safetensors"), "the last model");
    assert!(bytes(&trained.best_model) == saved("raw/model.safetensors"), "the best model");

    let whole = train("whole", Some(0.9), 3);
    train("parts", Some(0.9), 1);
    let resumed = train("parts", Some(0.9), 3);
    assert!(bytes(&whole.model) == bytes(&resumed.model), "the averaged models differ");
    for name in
        ["model.safetensors", "last/model.safetensors", "last/optimiser.safetensors", "last/state.json"]
    {
        assert!(saved(&format!("whole/{name}")) == saved(&format!("parts/{name}")), "{name} differs");
    }
    assert!(
        saved("whole/last/model.safetensors") == saved("raw/last/model.safetensors"),
        "the raw models differ"
    );
}
