//! `seeds` lists the targets of this build and the longest input of each; `seeds FOLDER` writes the first inputs of the
//! corpus there.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let Some(corpus) = env::args_os().nth(1).map(PathBuf::from) else {
        stroock_fuzz::targets().for_each(|target| println!("{} {}", target.name, target.longest));
        return Ok(());
    };
    for seed in stroock_fuzz::seeds() {
        let folder = corpus.join(seed.target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(seed.name), seed.content)?;
    }
    Ok(())
}
