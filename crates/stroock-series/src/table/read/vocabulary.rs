//! Names by which columns are recognised.

/// Parts of a date from the year down.
pub(super) const DATE_PARTS: [&[&str]; 6] = [
    &["year", "yr", "yyyy"],
    &["month", "mon", "mm"],
    &["day", "dd", "dayofmonth"],
    &["hour", "hh", "hr"],
    &["minute", "min"],
    &["second", "sec"],
];

const TIME: &[&str] = &[
    "time",
    "timestamp",
    "datetime",
    "date",
    "ds",
    "t",
    "ts",
    "times",
    "charttime",
    "datetimeutc",
    "timeutc",
    "hours",
    "hour",
    "minutes",
    "minute",
    "seconds",
    "second",
    "days",
    "day",
    "weeks",
    "week",
    "months",
    "month",
    "years",
    "year",
    "quarter",
    "period",
    "yearmonth",
    "yyyymm",
    "offset",
    "elapsed",
    "unixtime",
    "epoch",
    "cycle",
    "tick",
    "step",
];

const ID: &[&str] = &[
    "id",
    "seriesid",
    "series",
    "uniqueid",
    "patientid",
    "patient",
    "subjectid",
    "subject",
    "recordid",
    "record",
    "stayid",
    "stay",
    "icustayid",
    "hadmid",
    "encounterid",
    "caseid",
    "case",
    "episodeid",
    "episode",
    "machineid",
    "machine",
    "unitid",
    "unitnumber",
    "engineid",
    "engine",
    "sensorid",
    "sensor",
    "deviceid",
    "device",
    "stationid",
    "station",
    "sequenceid",
    "sequence",
    "trajectoryid",
    "trajectory",
    "personid",
    "person",
    "userid",
    "user",
    "customerid",
    "customer",
    "entityid",
    "entity",
    "unit",
    "name",
];

const VARIABLE: &[&str] = &[
    "variable",
    "variablename",
    "parameter",
    "param",
    "channel",
    "measurement",
    "item",
    "itemid",
    "feature",
    "metric",
    "signal",
    "attribute",
    "analyte",
    "tag",
    "sensor",
    "name",
];

const VALUE: &[&str] = &["value", "val", "values", "valuenum", "reading", "measuredvalue", "result"];

const COUNTER: &[&str] = &[
    "",
    "no",
    "nr",
    "num",
    "row",
    "rowid",
    "rownumber",
    "rownum",
    "index",
    "idx",
    "unnamed0",
    "indexlevel0",
];

const LABEL: &[&str] = &["label", "labels", "class", "classes"];

/// Letters and digits of a name in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Place of a name in a list, the likeliest first.
fn place(list: &[&str], name: &str) -> Option<usize> {
    let name = plain(name);
    list.iter().position(|known| *known == name)
}

/// How likely a name means times; the smaller, the likelier.
pub(super) fn time_rank(name: &str) -> Option<usize> {
    let plain = plain(name);
    let ends = ["time", "timestamp", "datetime", "date"];
    place(TIME, name).or_else(|| {
        let is_like = plain.starts_with("time") || ends.iter().any(|end| plain.ends_with(end));
        is_like.then_some(TIME.len())
    })
}

/// How likely a name means names of series; the smaller, the likelier.
pub(super) fn id_rank(name: &str) -> Option<usize> {
    place(ID, name).or_else(|| {
        let lower = name.trim().to_lowercase();
        let is_like = lower.ends_with("_id")
            || lower.ends_with(" id")
            || lower.ends_with(".id")
            || name.ends_with("Id");
        is_like.then_some(ID.len())
    })
}

/// How likely a name means names of variables; the smaller, the likelier.
pub(super) fn variable_rank(name: &str) -> Option<usize> {
    place(VARIABLE, name)
}

/// How likely a name means the values of a long table; the smaller, the likelier.
pub(super) fn value_rank(name: &str) -> Option<usize> {
    place(VALUE, name)
}

/// Which part of a date a name means.
pub(super) fn date_part(name: &str) -> Option<usize> {
    let name = plain(name);
    DATE_PARTS.iter().position(|names| names.contains(&name.as_str()))
}

/// Whether a name means months by their year and number.
pub(super) fn means_months(name: &str) -> bool {
    let plain = plain(name);
    ["month", "period", "yyyymm"].iter().any(|word| plain.contains(word))
        || plain == "ym"
        || means_dates(name)
}

/// Whether a name means dates, and nothing else.
pub(super) fn means_dates(name: &str) -> bool {
    plain(name).contains("date")
}

/// Whether a name means the number of the row.
pub(super) fn is_counter(name: &str) -> bool {
    place(COUNTER, name).is_some()
        && (!plain(name).is_empty() || name.trim().is_empty() || name.trim() == "#")
}

/// Whether a name means a class.
pub(super) fn is_label(name: &str) -> bool {
    place(LABEL, name).is_some()
}

/// Whether a name of a long table means the unit of its values.
pub(super) fn is_unit(name: &str) -> bool {
    place(&["unit", "units", "uom", "valueuom"], name).is_some()
}

/// The most similar of some names, if it is similar at all.
pub(super) fn nearest(name: &str, known: &[String]) -> Option<String> {
    let likeness = |other: &String| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = known.iter().map(|other| (likeness(other), other)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.7).then(|| best.1.clone())
}
