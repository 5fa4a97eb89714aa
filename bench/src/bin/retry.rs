//! `refire-bench-retry`: the success paths of retry libraries, with every allocation counted.

use allocation_counter::measure;

fn main() {
    refire_bench::success_path::report(|call| measure(call).count_total);
}
