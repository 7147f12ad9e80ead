//! What a path allocates: nothing per step, and in the reversible mode as much memory for any number of steps.

mod problems;

use std::sync::Mutex;

use problems::Batch;
use stroock_kernels::path::{Memory, PathSolver, Space};
use stroock_testing::allocation::{self, Counting};

/// One test at a time: the counters are those of the process.
static TURN: Mutex<()> = Mutex::new(());

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What one forward and backward pass allocates; its problem, with its times, is there before.
#[derive(Debug, PartialEq)]
struct Allocated {
    /// How often.
    count: usize,
    /// Most bytes at once.
    peak: usize,
}

const SERIES: usize = 20;
const DIM: usize = 8;

fn allocated(memory: Memory, steps: usize) -> Allocated {
    let solver = PathSolver { memory, ..PathSolver::default() };
    let mut batch = Batch::<f32>::chebyshev(Space::Sphere, DIM, SERIES, 1, steps).with_prior(3);
    // As many requests, and as large a turn per step, whatever the number of steps.
    batch.requests = [0, steps].repeat(SERIES);
    batch.request_offsets = Some((0..=SERIES).map(|b| 2 * b).collect());
    let problem = batch.problem();
    let of_states = vec![1.0; SERIES * 2 * DIM];
    let of_kl = vec![1.0; SERIES];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let pass = || {
        let before = allocation::count();
        let (peak, ()) = allocation::peak_of(|| {
            let path = solver.forward(&problem).unwrap();
            solver.backward(&problem, &path.tape, &of_states, &of_kl).unwrap();
        });
        Allocated { count: allocation::count() - before, peak }
    };
    pool.install(|| {
        pass(); // the pool's own first-time allocations
        pass()
    })
}

#[test]
fn allocations_do_not_grow_with_the_steps() {
    let _turn = TURN.lock().unwrap();
    for memory in [Memory::Stored, Memory::Reversible] {
        assert_eq!(allocated(memory, 16).count, allocated(memory, 1600).count, "{memory:?}");
    }
}

#[test]
fn memory_does_not_grow_with_the_steps_in_the_reversible_mode() {
    let _turn = TURN.lock().unwrap();
    let [few, many] = [1_000, 20_000].map(|steps| allocated(Memory::Reversible, steps));
    assert_eq!(few, many);
    // Stored, every step keeps a state of every series.
    let [few, many] = [1_000, 20_000].map(|steps| allocated(Memory::Stored, steps).peak);
    let states = 19_000 * SERIES * DIM * size_of::<f32>();
    assert!(many - few >= states, "{few} and {many} bytes");
}
