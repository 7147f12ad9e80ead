//! `stroock describe`: what is in a table.

use stroock::series::table::{Overview, ReadOptions, Table};

use crate::arguments::DescribeArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::tables::hints;

pub fn run(arguments: &DescribeArguments) -> Result<(), Failure> {
    let options = ReadOptions { label: arguments.target.clone(), ..arguments.table.options() };
    let overview = Overview::of(&Table::read(&arguments.data, &options)?);
    if arguments.json {
        return print_json(&overview);
    }
    print(&overview.text())?;
    hints(&overview.columns).iter().try_for_each(|hint| print(hint))
}
