//! A fit that is over in an instant, and the table of it.

use std::sync::LazyLock;

use burn::module::Module;
use burn::tensor::Device;
use stroock::estimator::{DataConfig, FitConfig, Goal, RunConfig};
use stroock::initial::InitialWeights;
use stroock::model::{
    DataDescription, Description, EncoderConfig, ModelConfig, ModelSettings, TableDescription,
};
use stroock::run::TensorFile;
use stroock::series::table::{ReadOptions, Table};
use stroock::series::{Scaler, Series};

/// Two variables of three series at irregular times.
pub fn table() -> Table {
    let series = (0..3).map(|number| {
        let times: Vec<f64> = (0..6).map(|i| f64::from(i) + 0.1 * f64::from(number)).collect();
        let values = times.iter().flat_map(|t| [t.sin(), (0.5 * t).cos()]).collect();
        let observed = (0..12).map(|place| place % 5 != number as usize).collect();
        let id = format!("series {number}");
        Series { id, times, values, observed: Some(observed), ..Series::default() }
    });
    Table::from_series(["x", "y"], series.collect()).expect("the series are valid")
}

/// A configuration of a very small model of the table.
pub fn config(table: &Table) -> FitConfig {
    let sampling = FitConfig::sampling(table, Goal::Impute).sampling;
    let mut config =
        FitConfig::suggest(table, sampling, Goal::Impute).expect("there are values").with_epochs(1);
    if let ModelConfig::LatentSde(model) = &mut config.model {
        model.latent.dim = 3;
        model.decoder = stroock::model::DecoderConfig::Mlp(stroock::decoder::MlpConfig {
            hidden: vec![4],
            ..Default::default()
        });
        if let EncoderConfig::TimeAttention(encoder) = &mut model.encoder {
            (encoder.hidden, encoder.embedding, encoder.reference_points, encoder.local_heads) = (4, 4, 4, 1);
        }
    }
    config.training.batch_size = 2;
    config
}

/// The configuration of a run with it.
pub fn run_config() -> RunConfig {
    let table = table();
    let data = DataConfig::of(&table, vec!["table.csv".into()], ReadOptions::default())
        .expect("the series are in memory");
    RunConfig { command: String::new(), data, fit: config(&table) }
}

/// The file of an untrained model of a configuration. Without a checksum, so that changes are seen by what comes after it.
pub fn model_file(config: &FitConfig) -> TensorFile {
    let table = table();
    let names: Vec<&str> = table.variables.iter().map(|variable| variable.name.as_str()).collect();
    let mut data = DataDescription::new(config.batcher, &names);
    data.scaler = Scaler::standard(&table.data, &[0, 1, 2]).expect("the series are in memory");
    data.table = Some(TableDescription {
        columns: table.columns.clone(),
        time: table.time.clone(),
        sampling: config.sampling,
        step: config.step,
    });
    let model = config.model.init(&mut InitialWeights::new(1, &Device::flex())).expect("the sizes are valid");
    let description = Description { model: config.model.clone(), data };
    description.to_tensors(&model.materialize()).expect("the model can be stored")
}

/// Bytes of a file without its checksum, which would refuse every change.
pub fn unchecked(file: &TensorFile) -> Vec<u8> {
    let bytes = file.to_bytes().expect("the file can be written");
    let text = b"\"sha256\":\"";
    let Some(place) = bytes.windows(text.len()).position(|window| window == text) else { return bytes };
    let mut bytes = bytes;
    // Another key of the same length.
    bytes[place + 1..place + 7].copy_from_slice(b"unused");
    bytes
}

/// The table, made once.
pub static TABLE: LazyLock<Table> = LazyLock::new(table);
