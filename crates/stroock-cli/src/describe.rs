//! `stroock describe`: what is in a table.

use stroock::series::table::{AnyTable, Finding, Overview, ReadOptions, VariableOverview};

use crate::arguments::DescribeArguments;
use crate::busy::busy;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::record::quoted;
use crate::tables::hints;

pub fn run(arguments: &DescribeArguments) -> Result<(), Failure> {
    let options = ReadOptions { label: arguments.target.clone(), ..arguments.table.options() };
    let room = arguments.table.room(None);
    let table = busy("reading", || AnyTable::read(&arguments.data, &options, &room))?;
    let overview = busy("describing", || Overview::of_any(&table, &room))?;
    if arguments.json {
        return print_json(&overview);
    }
    print(&overview.text())?;
    let is_skewed = |variable: &&VariableOverview| {
        variable.findings.iter().any(|finding| matches!(finding, Finding::Logarithm { .. }))
    };
    let skewed: Vec<&str> =
        overview.variables.iter().filter(is_skewed).map(|variable| variable.name.as_str()).collect();
    if !skewed.is_empty() {
        print(&format!("to learn logarithms: stroock fit --log {}", quoted(&skewed.join(","))))?;
    }
    hints(&overview.columns).iter().try_for_each(|hint| print(hint))
}
