//! Settings of the command line, `--set key.path=value`.

use std::sync::LazyLock;

use stroock::estimator::RunConfig;
use stroock::run::resolve_over;

use super::{config, small};

static CONFIG: LazyLock<RunConfig> = LazyLock::new(small::run_config);

/// The input has one setting a line.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let settings = text.lines().take(8).filter_map(|line| line.split_once('='));
    let settings: Vec<(String, String)> =
        settings.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    match resolve_over(&*CONFIG, None, &settings) {
        Ok(changed) => config::used(&changed.fit.model),
        Err(error) => config::said(&error),
    }
}
