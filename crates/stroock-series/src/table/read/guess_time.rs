//! Finds the columns of the times.

use super::guess::Guess;
use super::profile::ColumnProfile;
use super::vocabulary::{date_part, time_rank};
use super::when::When;
use crate::table::{DateFormat, TableError, TimeScale};

impl Guess<'_> {
    /// The time columns.
    pub(super) fn time(&mut self) -> Result<Vec<String>, TableError> {
        let hint = self.expect.map(|expect| &expect.columns.time);
        let hint = hint.filter(|time| !time.is_empty() && time.iter().all(|name| self.is_free(name)));
        let time = match hint {
            _ if !self.options.time.is_empty() => self.options.time.clone(),
            Some(hint) => hint.clone(),
            None => self.guess_time().ok_or_else(|| self.no_time())?,
        };
        time.iter().try_for_each(|name| self.take(name, "time"))?;
        Ok(time)
    }

    fn guess_time(&self) -> Option<Vec<String>> {
        let part = |index: usize| {
            self.free().find(|column| {
                date_part(&column.name) == Some(index)
                    && if index == 0 { column.is_years() } else { !column.is_text() }
            })
        };
        let parts: Vec<String> = (0..6).map_while(part).map(|column| column.name.clone()).collect();
        let is_part = |name: &str| parts.len() > 1 && parts.iter().any(|part| part == name);
        let empty = self.profile.rows == 0;
        let rank = |column: &ColumnProfile| {
            let fits = !is_part(&column.name) && (empty || (column.present > 0 && column.is_time()));
            time_rank(&column.name).filter(|_| fits)
        };
        let is_day = |column: &ColumnProfile| column.is_dates() || column.is_all(DateFormat::Yyyymmdd);
        let day = self.best(|column| rank(column).filter(|_| is_day(column)));
        let clock = self.best(|column| rank(column).filter(|_| column.is_clock() && !column.is_dates()));
        let has_time_of_day = |name: &String| {
            let column = self.profile.column(name)?;
            Some(column.first_text().is_some_and(|text| text.contains(':')) || column.zone.is_some())
        };
        let named = self.best(rank);
        match (day, clock, named) {
            (Some(day), Some(clock), _) if has_time_of_day(&day) == Some(false) => Some(vec![day, clock]),
            (_, _, Some(named)) => Some(vec![named]),
            _ if parts.len() > 1 => Some(parts),
            _ => {
                let mut dates = self.free().filter(|column| column.is_dates());
                let only = dates.next()?;
                dates.next().is_none().then(|| vec![only.name.clone()])
            }
        }
    }

    fn no_time(&self) -> TableError {
        let named = self.best(|column| time_rank(&column.name));
        let named = named.and_then(|name| self.profile.column(&name));
        let unreadable =
            named.and_then(|column| Some((column.name.clone(), column.first_text()?.to_owned())));
        TableError::NoTime { unreadable, known: self.profile.names() }
    }

    /// Checks that times are written as a model expects.
    pub(super) fn check_time_kind(&self, when: &When, columns: &[String]) -> Result<(), TableError> {
        let Some(expect) = self.expect else { return Ok(()) };
        let kind = |scale: &TimeScale| match scale {
            TimeScale::Number => "numbers",
            TimeScale::Date { .. } => "dates",
        };
        let (expected, found) = (kind(&expect.time), kind(&when.scale()));
        if expected == found {
            return Ok(());
        }
        Err(TableError::TimeKind { expected, found, columns: columns.to_vec() })
    }
}
