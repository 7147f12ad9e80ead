//! The table of public data sets: what they are, who publishes them, and what their files must hold.

use stroock::run::nearest;

use super::content::Content;
use super::error::DataError;

/// A public data set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataSet {
    /// Its name, for commands.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Licence of its publisher.
    pub licence: &'static str,
    /// Page of its publisher.
    pub page: &'static str,
    /// Its folder within the data folder.
    pub folder: &'static str,
    /// Its files.
    pub files: &'static [DataFile],
}

/// A file of a data set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataFile {
    /// Its name within the folder of the data set.
    pub name: &'static str,
    /// Other names that are as good, for those who have unpacked it, packed it, or have a part of it.
    pub also: &'static [&'static str],
    /// Where it is published; those further down are asked when those above fail.
    pub urls: &'static [&'static str],
    /// SHA-256 of the file under its first name, where the publisher's is certain.
    pub sha256: Option<&'static str>,
    /// What it must hold.
    pub content: Content,
    /// Whether the experiments can do without it, so that it is fetched only on request.
    pub is_extra: bool,
}

/// All data sets.
pub const DATA_SETS: &[DataSet] = &[PHYSIONET2012, MNIST, ACTIVITY, BEIJING_PM25];

/// The data set of this name.
///
/// ```
/// use stroock_experiments::data::source;
/// assert_eq!(source::find("mnist")?.files.len(), 4);
/// let error = source::find("phsyionet2012").unwrap_err();
/// assert!(error.to_string().contains("did you mean `physionet2012`?"));
/// # Ok::<(), stroock_experiments::data::DataError>(())
/// ```
///
/// # Errors
/// When there is none.
pub fn find(name: &str) -> Result<&'static DataSet, DataError> {
    DATA_SETS.iter().find(|data_set| data_set.name == name).ok_or_else(|| {
        let names: Vec<_> = DATA_SETS.iter().map(|data_set| data_set.name).collect();
        DataError::UnknownDataSet {
            name: name.to_owned(),
            suggestion: nearest(name, names.iter().copied()).map(str::to_owned),
            known: names.join(", "),
        }
    })
}

impl DataSet {
    /// The file of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn file(&self, name: &str) -> Result<&'static DataFile, DataError> {
        let file = self.files.iter().find(|file| file.name == name);
        file.ok_or_else(|| DataError::UnknownFile { data_set: self.name, file: name.to_owned() })
    }
}

/// A file of the PhysioNet challenge, with its publisher and the publisher's copy on open storage.
macro_rules! physionet {
    ($name:literal, also: $also:expr, content: $content:expr, is_extra: $is_extra:literal) => {
        DataFile {
            name: $name,
            also: &$also,
            urls: &[
                concat!("https://physionet.org/files/challenge-2012/1.0.0/", $name),
                concat!("https://physionet-open.s3.amazonaws.com/challenge-2012/1.0.0/", $name),
            ],
            sha256: None,
            content: $content,
            is_extra: $is_extra,
        }
    };
}

const PHYSIONET2012: DataSet = DataSet {
    name: "physionet2012",
    description: "12 000 stays in intensive care, 41 variables over 48 h, irregular and mostly missing",
    licence: "ODC-By 1.0",
    page: "https://physionet.org/content/challenge-2012/1.0.0/",
    folder: "physionet2012",
    files: &[
        physionet!("set-a.tar.gz", also: ["set-a"], content: stays(1_757_980, 0), is_extra: false),
        physionet!("set-b.tar.gz", also: ["set-b"], content: stays(1_762_535, 0), is_extra: false),
        physionet!("Outcomes-a.txt", also: [], content: OUTCOMES, is_extra: false),
        physionet!("Outcomes-b.txt", also: [], content: OUTCOMES, is_extra: false),
        physionet!("set-c.tar.gz", also: ["set-c"], content: stays(1_765_303, 2_403), is_extra: true),
        physionet!("Outcomes-c.txt", also: [], content: OUTCOMES, is_extra: true),
    ],
};

const OUTCOMES: Content = Content::PhysionetOutcomes { stays: 4_000 };

const fn stays(rows: u64, nameless: u64) -> Content {
    Content::PhysionetSet { stays: 4_000, rows, nameless }
}

/// A file of the digits, with two copies of the original: the publisher's own server has come and gone.
macro_rules! mnist {
    ($name:literal, content: $content:expr, sha256: $sha256:literal) => {
        DataFile {
            name: concat!($name, ".gz"),
            also: &[$name],
            urls: &[
                concat!("https://ossci-datasets.s3.amazonaws.com/mnist/", $name, ".gz"),
                concat!("https://storage.googleapis.com/cvdf-datasets/mnist/", $name, ".gz"),
            ],
            sha256: Some($sha256),
            content: $content,
            is_extra: false,
        }
    };
}

const MNIST: DataSet = DataSet {
    name: "mnist",
    description: "70 000 handwritten digits of 28 x 28 grey values",
    licence: "CC BY-SA 3.0",
    page: "http://yann.lecun.com/exdb/mnist/",
    folder: "mnist",
    files: &[
        mnist!(
            "train-images-idx3-ubyte",
            content: Content::MnistImages { count: 60_000 },
            sha256: "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
        ),
        mnist!(
            "train-labels-idx1-ubyte",
            content: Content::MnistLabels { count: 60_000 },
            sha256: "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
        ),
        mnist!(
            "t10k-images-idx3-ubyte",
            content: Content::MnistImages { count: 10_000 },
            sha256: "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
        ),
        mnist!(
            "t10k-labels-idx1-ubyte",
            content: Content::MnistLabels { count: 10_000 },
            sha256: "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
        ),
    ],
};

const ACTIVITY: DataSet = DataSet {
    name: "activity",
    description: "positions of four tags on five people, with what they were doing (25 recordings)",
    licence: "CC BY 4.0",
    page: "https://doi.org/10.24432/C57G8X",
    folder: "activity",
    files: &[DataFile {
        name: "ConfLongDemo_JSI.txt",
        also: &["ConfLongDemo_JSI.txt.gz", "ConfLongDemo_JSI.part-AB.txt.gz"],
        urls: &["https://archive.ics.uci.edu/ml/machine-learning-databases/00196/ConfLongDemo_JSI.txt"],
        sha256: None,
        content: Content::Activity { rows: 164_860 },
        is_extra: false,
    }],
};

const BEIJING_PM25: DataSet = DataSet {
    name: "beijing-pm25",
    description: "hourly air quality and weather of Beijing, 2010 to 2014, with gaps",
    licence: "CC BY 4.0",
    page: "https://archive.ics.uci.edu/dataset/381/beijing+pm2+5+data",
    folder: "beijing_pm25",
    files: &[DataFile {
        name: "PRSA_data_2010.1.1-2014.12.31.csv",
        also: &[],
        urls: &[
            "https://archive.ics.uci.edu/ml/machine-learning-databases/00381/PRSA_data_2010.1.1-2014.12.31.csv",
        ],
        sha256: None,
        content: Content::BeijingPm25 { rows: 43_824, missing: 2_067 },
        is_extra: false,
    }],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        for data_set in DATA_SETS {
            assert_eq!(find(data_set.name).unwrap(), data_set);
            assert!(data_set.files.iter().any(|file| !file.is_extra));
            for file in data_set.files {
                assert!(!file.urls.is_empty() && file.urls.iter().all(|url| url.ends_with(file.name)));
                assert!(file.urls.iter().all(|url| url.starts_with("https://")));
                assert!(file.sha256.is_none_or(|sum| sum.len() == 64));
                assert_eq!(data_set.file(file.name).unwrap(), file);
            }
        }
        assert!(matches!(find("cifar"), Err(DataError::UnknownDataSet { suggestion: None, .. })));
        assert!(matches!(MNIST.file("x"), Err(DataError::UnknownFile { .. })));
    }
}
