//! `stroock describe`: what is in a table.

use stroock::series::table::{Overview, ReadOptions, Table};

use crate::arguments::DescribeArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};

pub fn run(arguments: &DescribeArguments) -> Result<(), Failure> {
    let options = ReadOptions { label: arguments.target.clone(), ..arguments.table.options() };
    let overview = Overview::of(&Table::read(&arguments.data, &options)?);
    match arguments.json {
        true => print_json(&overview),
        false => print(&overview.text()),
    }
}
