//! Commands that train in several processes, where a launcher of MPI has started them.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde::de::DeserializeOwned;
use stroock::run::{Progress, RunLength, parse, to_toml};
use stroock::training::{TrainingConfig, World};
use stroock_mpi::Launched;

use crate::failure::Failure;
use crate::output::{say, silence};

/// Pieces of a batch where a launcher has started the command: kernels take 16 series at once, which small pieces would
/// leave half empty.
const SERIES: usize = 16;
const CHUNKS: RangeInclusive<usize> = 4..=12;

/// The processes of a command.
pub struct Processes {
    launched: Launched,
}

impl Processes {
    /// Finds the others. Only the first process prints.
    pub fn find() -> Result<Self, Failure> {
        let launched = stroock_mpi::launch()?;
        if !launched.world().is_first() {
            silence();
        }
        // Who names the number of threads gets it.
        if let Some(threads) = launched.threads().filter(|_| std::env::var_os("RAYON_NUM_THREADS").is_none())
        {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        }
        if launched.is_launched() {
            let (processes, threads) = (launched.world().size(), rayon::current_num_threads());
            say(&format!(
                "Processes: {processes}; threads of each: {threads}. Should one die, --resume goes on from the last \
                 saved epoch, in any number of processes."
            ));
        }
        Ok(Self { launched })
    }

    pub fn world(&self) -> &dyn World {
        self.launched.world()
    }

    /// Whether this process writes and prints.
    pub fn is_first(&self) -> bool {
        self.world().is_first()
    }

    /// Leaves open into how many pieces batches are cut, where a launcher has started the command, until
    /// [`settle_chunks`](Self::settle_chunks).
    pub fn open_chunks(&self, training: &mut TrainingConfig) {
        if self.launched.is_launched() {
            training.chunks = 0;
        }
    }

    /// Cuts batches into pieces where the settings of the user leave it open. The number of processes must not matter.
    pub fn settle_chunks(&self, training: &mut TrainingConfig) {
        if self.launched.is_launched() && training.chunks == 0 {
            training.chunks = (training.batch_size / SERIES).clamp(*CHUNKS.start(), *CHUNKS.end());
        }
    }

    /// The display of a run.
    pub fn progress(&self) -> fn(RunLength) -> Progress {
        if self.is_first() { Progress::on_stderr } else { Progress::hidden }
    }

    /// The configuration of the first process.
    pub fn config_of_first<C: Serialize + DeserializeOwned>(&self, here: Option<C>) -> Result<C, Failure> {
        let text = here.as_ref().map_or(Ok(String::new()), to_toml).map_err(Failure::from);
        let texts = self.world().everyones(text.map(String::into_bytes))?;
        match here {
            Some(config) => Ok(config),
            None => {
                Ok(parse("the settings of the first process".as_ref(), &String::from_utf8_lossy(&texts[0]))?)
            }
        }
    }
}
