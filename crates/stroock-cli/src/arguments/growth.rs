//! How growth is measured.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct GrowthArguments {
    /// Small numbers only, few passes: seconds instead of minutes
    #[arg(long)]
    pub quick: bool,
    /// Also write growth.md, growth.json and a picture (SVG and PNG) to this folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Run one path of so many steps and tell its memory: what is asked of processes of their own
    #[arg(long, value_name = "STEPS", hide = true, conflicts_with_all = ["quick", "out"])]
    pub memory_of: Option<usize>,
    /// The path is reversible
    #[arg(long, hide = true, requires = "memory_of")]
    pub reversible: bool,
}
