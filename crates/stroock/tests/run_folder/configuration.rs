use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use stroock::run::{ConfigError, KeyProblem, Place, resolve, to_toml};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Config {
    name: String,
    seed: u64,
    sigma: f32,
    shuffle: bool,
    patience: Option<usize>,
    sizes: Vec<u8>,
    interval: [f64; 2],
    solver: Solver,
    encoder: Encoder,
    schedule: Schedule,
    weights: BTreeMap<String, f64>,
    part: Option<Encoder>,
    even: Even,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Solver {
    Geometric,
    Milstein,
    RungeKutta,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Encoder {
    hidden: usize,
    layers: usize,
    attention: Attention,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Attention {
    heads: usize,
    dropout: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Schedule {
    Constant,
    Cosine {
        period: u32,
        restarts: bool,
    },
    Step {
        #[serde(default)]
        factor: f64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
struct Even(i64);

impl TryFrom<i64> for Even {
    type Error = String;
    fn try_from(value: i64) -> Result<Self, String> {
        if value % 2 == 0 { Ok(Even(value)) } else { Err(format!("{value} is odd")) }
    }
}

impl From<Even> for i64 {
    fn from(value: Even) -> i64 {
        value.0
    }
}

impl Default for Config {
    fn default() -> Self {
        let attention = Attention { heads: 2, dropout: f64::INFINITY };
        Config {
            name: "run".into(),
            seed: 1,
            sigma: 0.1,
            shuffle: true,
            patience: None,
            sizes: vec![1, 2],
            interval: [0.0, 1.0],
            solver: Solver::Geometric,
            encoder: Encoder { hidden: 32, layers: 1, attention },
            schedule: Schedule::Cosine { period: 10, restarts: false },
            weights: [("kl".to_string(), 1.0)].into(),
            part: None,
            even: Even(2),
        }
    }
}

fn with(file: &str, overrides: &[&str]) -> Result<Config, ConfigError> {
    let overrides: Vec<_> = overrides
        .iter()
        .map(|text| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).unwrap())
        .collect();
    resolve(Some((Path::new("run.toml"), file)), &overrides)
}

fn words(file: &str, overrides: &[&str]) -> String {
    with(file, overrides).unwrap_err().to_string()
}

#[test]
fn later_layers_win() {
    assert_eq!(resolve::<Config>(None, &[]).unwrap(), Config::default());
    let file = "seed = 2\nname = \"file\"\n[encoder]\nhidden = 64\nattention.heads = 4\n[weights]\ntask = 3";
    let config = with(file, &["seed=3", "encoder.attention.dropout=0.5", "seed=4"]).unwrap();
    let mut expected = Config::default();
    (expected.seed, expected.name) = (4, "file".into());
    expected.encoder = Encoder { hidden: 64, layers: 1, attention: Attention { heads: 4, dropout: 0.5 } };
    expected.weights.insert("task".into(), 3.0);
    assert_eq!(config, expected);
}

#[test]
fn overrides_need_no_quotes() {
    let config = with(
        "",
        &[
            "name=1e3",
            "sigma=1",
            "shuffle=false",
            "patience=3",
            "sizes=[7, 8, 9]",
            "solver=runge_kutta",
            "encoder={hidden = 5, layers = 6}",
            "interval=[1, 2.5]",
            "even=4",
            "schedule.period=3",
        ],
    )
    .unwrap();
    assert_eq!(
        (config.name.as_str(), config.sigma, config.shuffle, config.patience),
        ("1e3", 1.0, false, Some(3))
    );
    assert_eq!(
        (config.sizes, config.interval, config.solver),
        (vec![7, 8, 9], [1.0, 2.5], Solver::RungeKutta)
    );
    assert_eq!((config.encoder.hidden, config.encoder.layers, config.encoder.attention.heads), (5, 6, 2));
    assert_eq!((config.schedule, config.even), (Schedule::Cosine { period: 3, restarts: false }, Even(4)));
    for (given, name) in [
        ("name=a run", "a run"),
        ("name=\"7\"", "7"),
        ("name=", ""),
        ("name=2024-01-01", "2024-01-01"),
        ("name=true", "true"),
        ("name=a=b", "a=b"),
    ] {
        assert_eq!(with("", &[given]).unwrap().name, name);
    }
}

#[test]
fn another_kind_starts_afresh() {
    assert_eq!(with("schedule.kind = \"constant\"", &[]).unwrap().schedule, Schedule::Constant);
    let file = "[schedule]\nkind = \"step\"\nfactor = 0.5";
    assert_eq!(with(file, &[]).unwrap().schedule, Schedule::Step { factor: 0.5 });
    assert_eq!(with(file, &["schedule.factor=0.1"]).unwrap().schedule, Schedule::Step { factor: 0.1 });
    assert_eq!(with(file, &["schedule.kind=constant"]).unwrap().schedule, Schedule::Constant);
}

#[test]
fn unknown_keys_are_errors_with_a_suggestion() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("seeed = 3", &[], "run.toml:1: `seeed` is not a known key; did you mean `seed`?"),
        (
            "\n\n[encoder]\nhidden = 3\nlayer = 2\n",
            &[],
            "run.toml:5: `encoder.layer` is not a known key; did you mean `layers`?",
        ),
        (
            "[encoder.attention]\nhaeds = 1",
            &[],
            "run.toml:2: `encoder.attention.haeds` is not a known key; did you mean `heads`?",
        ),
        (
            "encoder.attention.x = 1",
            &[],
            "run.toml:1: `encoder.attention.x` is not a known key; there are `heads`, `dropout`",
        ),
        (
            "# a file\n[encodr]\nhidden = 1",
            &[],
            "run.toml:2: `encodr` is not a known key; did you mean `encoder`?",
        ),
        (
            "",
            &["encoder.Hidden=3"],
            "override `encoder.Hidden=3`: `encoder.Hidden` is not a known key; did you mean `hidden`?",
        ),
        ("", &["sede=3"], "override `sede=3`: `sede` is not a known key; did you mean `seed`?"),
        // Serde does not tell which keys a tagged enum knows; these are found all the same.
        (
            "[schedule]\nkind = \"cosine\"\nperiods = 3",
            &[],
            "run.toml:3: `schedule.periods` is not a known key; did you mean `period`?",
        ),
        (
            "",
            &["schedule.kind=constant", "schedule.period=1"],
            "override `schedule.period=1`: `schedule.period` is not a known key; there are `kind`",
        ),
    ];
    for (file, overrides, expected) in cases {
        assert_eq!(words(file, overrides), *expected);
    }
}

#[test]
fn wrong_types_name_the_key_what_it_should_be_and_what_it_is() {
    let cases: &[(&str, &[&str], &str)] = &[
        (
            "seed = \"a\"",
            &[],
            "run.toml:1: `seed` must be a whole number that is not negative, but it is the text \"a\"",
        ),
        ("seed = -1", &[], "run.toml:1: `seed` must be a whole number that is not negative, but it is `-1`"),
        (
            "seed = 1.0",
            &[],
            "run.toml:1: `seed` must be a whole number that is not negative, but it is `1.0`",
        ),
        ("\nname = 3", &[], "run.toml:2: `name` must be a text, but it is `3`"),
        ("shuffle = 1", &[], "run.toml:1: `shuffle` must be `true` or `false`, but it is `1`"),
        ("sigma = [1]", &[], "run.toml:1: `sigma` must be a number, but it is a list"),
        ("encoder = 3", &[], "run.toml:1: `encoder` must be a table, but it is `3`"),
        ("encoder = [1, 2]", &[], "run.toml:1: `encoder` must be a table, but it is a list"),
        (
            "[seed]\na = 1",
            &[],
            "run.toml:1: `seed` must be a whole number that is not negative, but it is a table",
        ),
        (
            "sizes = [\n  1,\n  300,\n]",
            &[],
            "run.toml:3: `sizes[1]` must be a whole number from 0 to 255, but it is `300`",
        ),
        ("interval = [1]", &[], "run.toml:1: `interval` must be an array of length 2, but it is a list of 1"),
        ("interval = [1, 2, 3]", &[], "run.toml:1: `interval` must be a list of 2, but it is a list of 3"),
        (
            "weights.kl = \"big\"",
            &[],
            "run.toml:1: `weights.kl` must be a number, but it is the text \"big\"",
        ),
        (
            "",
            &["patience=soon"],
            "override `patience=soon`: `patience` must be a whole number that is not negative, but it is the text \"soon\"",
        ),
        (
            "",
            &["seed.deep=1"],
            "override `seed.deep=1`: `seed` must be a whole number that is not negative, but it is a table",
        ),
        (
            "solver = \"milstien\"",
            &[],
            "run.toml:1: `solver` must be one of `geometric`, `milstein`, `runge_kutta`, but it is `milstien`; did you mean `milstein`?",
        ),
        (
            "solver = 3",
            &[],
            "run.toml:1: `solver` must be one of `geometric`, `milstein`, `runge_kutta`, but it is `3`",
        ),
        (
            "",
            &["solver=x"],
            "override `solver=x`: `solver` must be one of `geometric`, `milstein`, `runge_kutta`, but it is `x`",
        ),
        (
            "[schedule]\nkind = \"cosinus\"",
            &[],
            "run.toml:2: `schedule.kind` must be one of `constant`, `cosine`, `step`, but it is `cosinus`; did you mean `cosine`?",
        ),
        (
            "",
            &["schedule.period=often"],
            "override `schedule.period=often`: `schedule.period` must be a whole number from 0 to 4294967295, but it is the text \"often\"",
        ),
        ("[part]\nhidden = 1\nlayers = 2", &[], "run.toml:1: `part.attention` is missing"),
        ("even = 3", &[], "run.toml:1: `even` is not accepted: 3 is odd"),
    ];
    for (file, overrides, expected) in cases {
        assert_eq!(words(file, overrides), *expected);
    }
}

#[test]
fn text_that_is_no_toml_is_named_by_its_line() {
    for file in [
        "seed = 1\nname = \n",
        "seed = 1\nseed = 2",
        "a = 1\n[b",
        "x = 1\ny = 99999999999999999999",
        "x = 1\ny = 1e999",
    ] {
        let error = with(file, &[]).unwrap_err();
        let place = Place::File { path: "run.toml".into(), line: 2 };
        assert!(matches!(&error, ConfigError::Syntax { place: at, .. } if *at == place), "{file:?}: {error}");
    }
    for key in ["", ".seed", "seed.", "encoder..hidden"] {
        let error = resolve::<Config>(None, &[(key.into(), "1".into())]).unwrap_err();
        assert!(matches!(error, ConfigError::OverrideKey { .. }), "{error}");
    }
}

#[test]
fn the_written_file_gives_the_same_configuration() {
    let config =
        with("seed = 9\n[encoder]\nhidden = 7", &["schedule.kind=step", "name=a \"b\"\nc", "patience=2"])
            .unwrap();
    let written = to_toml(&config).unwrap();
    assert_eq!(with(&written, &[]).unwrap(), config);
    assert!(written.contains("sigma = 0.1\n"), "{written}");
    assert!(matches!(to_toml(&u64::MAX), Err(ConfigError::NotWritable { .. })));
}

#[test]
fn choices_with_content_may_also_be_named_by_their_key() {
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Outer {
        noise: Noise,
    }
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    enum Noise {
        #[default]
        None,
        Scale(f64),
        Range {
            low: f64,
            high: f64,
        },
    }
    let set = |value: &str| resolve::<Outer>(None, &[("noise".into(), value.into())]);
    assert_eq!(set("{Scale = 2}").unwrap().noise, Noise::Scale(2.0));
    assert_eq!(set("{Range = {low = 0, high = 1}}").unwrap().noise, Noise::Range { low: 0.0, high: 1.0 });
    let error = set("{Range = {low = 0, hihg = 1}}").unwrap_err().to_string();
    assert!(error.ends_with("`noise.Range.hihg` is not a known key; did you mean `high`?"), "{error}");
    let error = set("{Scal = 1}").unwrap_err().to_string();
    assert!(
        error.ends_with("must be one of `None`, `Scale`, `Range`, but it is `Scal`; did you mean `Scale`?"),
        "{error}"
    );
    assert!(set("Scale").is_err() && set("{None = 1}").is_err() && set("{Scale = 1, None = 2}").is_err());
}

#[test]
fn problems_can_be_told_apart_by_a_program() {
    let Err(ConfigError::Key { place, key, problem }) = with("sed = 1", &[]) else { panic!("no error") };
    assert_eq!((place, key.as_str()), (Place::File { path: "run.toml".into(), line: 1 }, "sed"));
    assert!(matches!(*problem, KeyProblem::Unknown { nearest: Some(nearest), .. } if nearest == "seed"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_text_panics(file in ".{0,60}", key in "[a-z.]{0,12}", value in ".{0,12}") {
        let _ = resolve::<Config>(Some((Path::new("run.toml"), &file)), &[]);
        let _ = resolve::<Config>(None, &[(key, value)]);
    }
}

#[test]
fn keys_without_end_and_deep_tables_are_refused() {
    let deep = "a.".repeat(60_000) + "a";
    let error = resolve::<Config>(None, &[(deep.clone(), "1".into())]).unwrap_err();
    assert!(matches!(error, ConfigError::OverrideKey { .. }));
    let nested = format!("a = {}{}\n", "[".repeat(60_000), "]".repeat(60_000));
    for text in [format!("{deep} = 1\n"), format!("[{deep}]\n"), nested] {
        assert!(matches!(read_file(&text), Err(ConfigError::Syntax { .. })));
    }
}

#[test]
fn a_file_of_many_tables_is_refused_in_no_time() {
    let start = std::time::Instant::now();
    let tables: String = (0..50_000).map(|i| format!("[weights.t{i}]\nkind = \"x\"\n")).collect();
    assert!(read_file(&tables).is_err());
    assert!(start.elapsed() < std::time::Duration::from_secs(30), "{:?}", start.elapsed());
}

fn read_file(text: &str) -> Result<Config, ConfigError> {
    resolve::<Config>(Some((Path::new("config.toml"), text)), &[])
}
