//! Nothing is allocated per step: the count of allocations does not depend on the number of steps.

mod problems;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use problems::Batch;
use stroock_kernels::path::{Memory, PathSolver, Space};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn allocations_do_not_grow_with_the_steps() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for memory in [Memory::Stored, Memory::Reversible] {
        let solver = PathSolver { memory, ..PathSolver::default() };
        let count = |steps: usize| {
            let mut batch = Batch::<f32>::chebyshev(Space::Sphere, 8, 20, 1, steps).with_prior(3);
            // As many requests, and as large a turn per step, whatever the number of steps.
            batch.requests = [0, steps].repeat(20);
            batch.request_offsets = Some((0..=20).map(|b| 2 * b).collect());
            let problem = batch.problem();
            let of_states = vec![1.0; 20 * 2 * 8];
            let of_kl = vec![1.0; 20];
            pool.install(|| {
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                let path = solver.forward(&problem).unwrap();
                solver.backward(&problem, &path.tape, &of_states, &of_kl).unwrap();
                ALLOCATIONS.load(Ordering::Relaxed) - before
            })
        };
        count(16); // the pool's own first-time allocations
        assert_eq!(count(16), count(1600), "{memory:?}");
    }
}
