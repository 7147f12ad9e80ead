//! Stopping a run on request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, which the training loop looks at between steps. Clones share the request.
///
/// ```
/// use stroock::run::StopFlag;
///
/// let stop = StopFlag::new();
/// let button = stop.clone();
/// for step in 0.. {
///     if stop.is_requested() {
///         assert_eq!(step, 3);
///         break; // save the state, then return
///     }
///     if step == 2 {
///         button.request();
///     }
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopFlag {
    requested: Arc<AtomicBool>,
}

impl StopFlag {
    /// A flag that only [`StopFlag::request`] sets: for a program that has its own way to be stopped.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that Ctrl-C and SIGTERM set; a Ctrl-C after that ends the process at once, with code 130.
    ///
    /// From the first call on this holds for the whole process and to its end, so it is for commands, not for
    /// libraries. Every call returns the same flag.
    #[cfg(feature = "signals")]
    pub fn on_signals() -> Result<Self, super::RunError> {
        use std::sync::Mutex;

        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag;

        /// Exit code of a process that Ctrl-C ended: 128 + 2, as shells have it.
        const INTERRUPTED: i32 = 130;
        static OF_PROCESS: Mutex<Option<StopFlag>> = Mutex::new(None);

        let mut of_process = OF_PROCESS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(stop) = &*of_process {
            return Ok(stop.clone());
        }
        let stop = StopFlag::new();
        let listen = || {
            // Actions run in the order of these lines: the first Ctrl-C finds the flag unset.
            flag::register_conditional_shutdown(SIGINT, INTERRUPTED, Arc::clone(&stop.requested))?;
            flag::register(SIGINT, Arc::clone(&stop.requested))?;
            flag::register(SIGTERM, Arc::clone(&stop.requested))
        };
        listen().map_err(|reason| super::RunError::Signals { reason })?;
        *of_process = Some(stop.clone());
        Ok(stop)
    }

    /// Asks for a stop.
    pub fn request(&self) {
        self.requested.store(true, Ordering::SeqCst);
    }

    /// Whether a stop was asked for.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }
}
