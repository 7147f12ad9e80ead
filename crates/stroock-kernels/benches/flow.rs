//! Flows: forward, and forward with backward. Throughput is in series-steps per second.

mod problems;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use problems::flow::Batch;
use stroock_kernels::flow::FlowSolver;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn flow(criterion: &mut Criterion) {
    for (kind, driven) in [("ode", false), ("sde", true)] {
        for backward in [false, true] {
            let name = if backward { "forward+backward" } else { "forward" };
            let mut group = criterion.benchmark_group(format!("flow/{kind}/n=16/{name}"));
            group.sample_size(10);
            for steps in [16, 480, 2880] {
                let batch = Batch::new(driven, 50, steps);
                group.throughput(Throughput::Elements(batch.series_steps()));
                group.bench_function(BenchmarkId::from_parameter(steps), |bencher| {
                    bencher.iter(|| match backward {
                        false => batch.forward(FlowSolver::default()),
                        true => batch.forward_backward(FlowSolver::default()),
                    });
                });
            }
        }
    }
}

criterion_group!(benches, flow);
criterion_main!(benches);
