//! Finds out which column is what: from what the user says, from what a model expects, from names, from the first
//! rows.

use super::profile::{ColumnProfile, Profile};
use super::vocabulary::{self, id_rank, value_rank, variable_rank};
use super::when::{When, Wish};
use crate::table::{Columns, Expectation, Form, LabelColumn, ReadOptions, TableError, TimeScale};

/// What was found out.
pub(super) struct Roles {
    /// Which column is what; whether a label belongs to times is not known yet.
    pub(super) columns: Columns,
    pub(super) when: When,
    /// In the long form: variables with one value for a whole series, the variables to keep (`None` for all), and
    /// those to leave out.
    pub(super) statics: Vec<String>,
    pub(super) kept: Option<Vec<String>>,
    pub(super) left_out: Vec<String>,
}

/// Finds out which column is what.
pub(super) fn roles(options: &ReadOptions, profile: &Profile) -> Result<Roles, TableError> {
    let mut guess = Guess { options, profile, expect: options.expect.as_ref(), taken: Vec::new() };
    guess.take_what_is_said()?;
    let time = guess.time()?;
    let zone = options.time_zone.as_deref().or(match guess.expect.map(|expect| &expect.time) {
        Some(TimeScale::Date { zone, .. }) => Some(zone.as_str()),
        _ => None,
    });
    let expected = guess.expect.map(|expect| &expect.time);
    let when = When::new(&time, profile, Wish { zone, format: options.date_format, expected })?;
    guess.check_time_kind(&when, &time)?;
    let long = guess.long()?;
    let label = guess.label()?;
    let is_long = long.is_some();
    let (static_columns, statics) = guess.statics(is_long)?;
    let id = guess.id(is_long)?;
    let mut ignored = Vec::new();
    let (form, kept) = match long {
        Some((variable, value)) => {
            guess.rest(|column| {
                let reason = match profile.column(column) {
                    Some(column) if column.is_text() => column.reason(profile.first_rows()),
                    _ => format!("the values are in `{value}`: perhaps a static variable"),
                };
                ignored.push((column.to_owned(), reason));
            });
            (Form::Long { variable, value }, guess.kept(&statics))
        }
        None => (Form::Wide { variables: guess.wide(&mut ignored)? }, None),
    };
    let left_out = options.ignore.iter().filter(|name| profile.column(name).is_none()).cloned().collect();
    for column in options.ignore.iter().filter(|name| profile.column(name).is_some()) {
        ignored.push((column.clone(), "left out by request".to_owned()));
    }
    let label = label.map(|column| LabelColumn { column, per_time: false });
    let looks_like = when.doubt;
    let columns = Columns { id, time, form, statics: static_columns, label, ignored, looks_like };
    Ok(Roles { columns, when, statics, kept, left_out })
}

/// The state of the search.
pub(super) struct Guess<'a> {
    pub(super) options: &'a ReadOptions,
    pub(super) profile: &'a Profile,
    pub(super) expect: Option<&'a Expectation>,
    /// Columns that have a role.
    taken: Vec<(String, &'static str)>,
}

impl Guess<'_> {
    /// Notes the roles that the user gives, so that no guess takes these columns.
    fn take_what_is_said(&mut self) -> Result<(), TableError> {
        let options = self.options;
        let said = options.id.iter().map(|name| (name, "id"));
        let said = said.chain(options.time.iter().map(|name| (name, "time")));
        let said = said.chain(options.variable.iter().map(|name| (name, "variable")));
        let said = said.chain(options.value.iter().map(|name| (name, "value")));
        let said = said.chain(options.label.iter().map(|name| (name, "label")));
        for (name, role) in said {
            self.known(name, role, false)?;
            self.take(name, role)?;
        }
        let lists =
            [(&options.ignore, "ignore"), (&options.statics, "statics"), (&options.variables, "variables")];
        for (names, role) in lists {
            for name in names.iter().filter(|name| self.profile.column(name).is_some()) {
                self.take(name, role)?;
            }
        }
        Ok(())
    }

    pub(super) fn take(&mut self, name: &str, role: &'static str) -> Result<(), TableError> {
        match self.taken.iter().find(|(taken, _)| taken == name) {
            Some(&(_, first)) if first != role => {
                Err(TableError::TwoRoles { column: name.to_owned(), first, second: role })
            }
            Some(_) => Ok(()),
            None => {
                self.taken.push((name.to_owned(), role));
                Ok(())
            }
        }
    }

    fn known(&self, name: &str, option: &'static str, long: bool) -> Result<(), TableError> {
        if self.profile.column(name).is_some() {
            return Ok(());
        }
        let known = self.profile.names();
        let nearest = vocabulary::nearest(name, &known);
        Err(TableError::UnknownName { option, name: name.to_owned(), nearest, known, long })
    }

    /// A column that has no role yet.
    pub(super) fn free(&self) -> impl Iterator<Item = &ColumnProfile> {
        self.profile
            .columns
            .iter()
            .filter(|column| !self.taken.iter().any(|(taken, _)| *taken == column.name))
    }

    pub(super) fn is_free(&self, name: &str) -> bool {
        self.free().any(|column| column.name == name)
    }

    /// The free column with the least rank.
    pub(super) fn best(&self, rank: impl Fn(&ColumnProfile) -> Option<usize>) -> Option<String> {
        let ranked = self.free().filter_map(|column| Some((rank(column)?, column)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, column)| column.name.clone())
    }

    /// Columns of the variable and the value, if the table is in the long form.
    fn long(&mut self) -> Result<Option<(String, String)>, TableError> {
        let options = self.options;
        let hint = match self.expect.map(|expect| &expect.columns.form) {
            Some(Form::Long { variable, value }) if self.is_free(variable) && self.is_free(value) => {
                Some((variable.clone(), value.clone()))
            }
            _ => None,
        };
        let is_column = |name: &str| self.profile.column(name).is_some();
        let expected = self.expect.is_some_and(|expect| {
            expect.variables.iter().any(|variable| !variable.is_static && is_column(&variable.name))
        });
        let is_wide = expected || options.variables.iter().any(|name| is_column(name));
        // A column that may be the id as well is the variable only if there is another for the id.
        let ids = self.free().filter(|column| id_rank(&column.name).is_some()).count()
            + usize::from(options.id.is_some());
        let variable = self.best(|column| {
            variable_rank(&column.name).filter(|_| id_rank(&column.name).is_none() || ids > 1)
        });
        let value = self.best(|column| value_rank(&column.name).filter(|_| !column.is_text()));
        let found = match (&options.variable, &options.value) {
            (None, None) => match (hint, variable.zip(value)) {
                (Some(hint), _) => Some(hint),
                (None, Some(found)) if !is_wide => Some(found),
                _ => None,
            },
            (said_variable, said_value) => {
                let lacks = |missing| TableError::HalfLong { missing, known: self.profile.names() };
                let variable = said_variable.clone().or(variable).ok_or_else(|| lacks("variable"))?;
                Some((variable, said_value.clone().or(value).ok_or_else(|| lacks("value"))?))
            }
        };
        if let Some((variable, value)) = &found {
            self.take(variable, "variable")?;
            self.take(value, "value")?;
        }
        Ok(found)
    }

    fn label(&mut self) -> Result<Option<String>, TableError> {
        let hint =
            self.expect.and_then(|expect| expect.columns.label.as_ref()).map(|label| label.column.clone());
        let label = self.options.label.clone().or(hint.filter(|column| self.is_free(column)));
        if let Some(label) = &label {
            self.take(label, "label")?;
        }
        Ok(label)
    }

    /// Columns, and in the long form variables, that belong to whole series.
    fn statics(&mut self, is_long: bool) -> Result<(Vec<String>, Vec<String>), TableError> {
        let names: Vec<String> = match self.expect {
            Some(expect) => expect
                .variables
                .iter()
                .filter(|variable| variable.is_static)
                .map(|v| v.name.clone())
                .collect(),
            None => self.options.statics.clone(),
        };
        let is_column = |name: &String| self.profile.column(name).is_some();
        let (columns, others): (Vec<String>, Vec<String>) = names.into_iter().partition(is_column);
        if self.expect.is_none() && !is_long {
            others.iter().try_for_each(|name| self.known(name, "statics", false))?;
        }
        columns.iter().try_for_each(|name| self.take(name, "statics"))?;
        Ok((columns, if is_long { others } else { Vec::new() }))
    }

    fn id(&mut self, is_long: bool) -> Result<Option<String>, TableError> {
        let hint = self.expect.and_then(|expect| expect.columns.id.clone()).filter(|name| self.is_free(name));
        // What a model knows as a variable is no name of a series.
        let is_variable = |name: &str| {
            self.expect.is_some_and(|expect| expect.variables.iter().any(|known| known.name == name))
        };
        let guess = || {
            self.best(|column| {
                let is_unit = is_long && vocabulary::is_unit(&column.name);
                id_rank(&column.name).filter(|_| !is_unit && !is_variable(&column.name))
            })
        };
        let id = self.options.id.clone().or(hint).or_else(guess);
        if let Some(id) = &id {
            self.take(id, "id")?;
        }
        Ok(id)
    }

    /// Calls `note` with every column that is left over.
    fn rest(&self, mut note: impl FnMut(&str)) {
        self.free().for_each(|column| note(&column.name));
    }

    /// Variables of a long table to keep; `None` for all.
    fn kept(&self, statics: &[String]) -> Option<Vec<String>> {
        let names: Vec<String> = match self.expect {
            Some(expect) => expect
                .variables
                .iter()
                .filter(|variable| !variable.is_static)
                .map(|v| v.name.clone())
                .collect(),
            None if self.options.variables.is_empty() => return None,
            None => self.options.variables.clone(),
        };
        Some(names.into_iter().filter(|name| !statics.contains(name)).collect())
    }
}

impl Guess<'_> {
    /// Columns of the variables of a wide table; the others are noted with the reason.
    fn wide(&self, ignored: &mut Vec<(String, String)>) -> Result<Vec<String>, TableError> {
        for name in &self.options.ignore {
            self.known(name, "ignore", false)?;
        }
        for name in &self.options.variables {
            self.known(name, "variables", false)?;
        }
        let mut note = |name: &str, reason: String| ignored.push((name.to_owned(), reason));
        let said = &self.options.variables;
        if let Some(expect) = self.expect {
            let is_said = |name: &String| said.is_empty() || said.contains(name);
            let is_there = |name: &String| is_said(name) && (self.is_free(name) || said.contains(name));
            let expected =
                expect.variables.iter().filter(|variable| !variable.is_static).map(|v| v.name.clone());
            let (there, absent): (Vec<String>, Vec<String>) = expected.partition(is_there);
            if there.is_empty() && !absent.is_empty() {
                return Err(TableError::NoExpected { expected: absent, known: self.profile.names() });
            }
            let unknown = self.free().filter(|column| !there.contains(&column.name));
            unknown.for_each(|column| note(&column.name, "the model does not know it".to_owned()));
            return Ok(there);
        }
        if !said.is_empty() {
            self.rest(|name| note(name, "not among the chosen variables".to_owned()));
            return Ok(said.clone());
        }
        let mut variables = Vec::new();
        for column in self.free() {
            let name = &column.name;
            if vocabulary::is_counter(name) && column.counts_rows() {
                note(name, "counts the rows".to_owned());
            } else if name.is_empty() && column.present == 0 {
                note(name, "has neither a name nor values".to_owned());
            } else if column.is_text() {
                note(name, column.reason(self.profile.first_rows()));
            } else if vocabulary::is_label(name) {
                note(name, "looks like a class: perhaps the label".to_owned());
            } else {
                variables.push(name.clone());
            }
        }
        if variables.is_empty() {
            return Err(TableError::NoVariables { ignored: std::mem::take(ignored) });
        }
        Ok(variables)
    }
}
