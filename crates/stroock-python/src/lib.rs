//! The Python package `stroock`: models of tables and paths of latent SDEs, as the library has them.
//!
//! This is the part that is compiled, the module `stroock._stroock`. Arguments are checked and results are shaped by the
//! Python files around it, in `python/stroock`.

mod advice;
mod arguments;
mod describe;
mod error;
mod figure;
mod fit;
mod frame;
mod model;
mod path;
mod run;

use pyo3::prelude::*;

#[pymodule]
fn _stroock(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("StroockError", py.get_type::<error::exceptions::StroockError>())?;
    module.add("TableError", py.get_type::<error::exceptions::TableError>())?;
    module.add("ModelError", py.get_type::<error::exceptions::ModelError>())?;
    module.add("NothingAhead", py.get_type::<error::exceptions::NothingAhead>())?;
    module.add("PathError", py.get_type::<error::exceptions::PathError>())?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<path::PathTape>()?;
    module.add_function(wrap_pyfunction!(describe::describe, module)?)?;
    module.add_function(wrap_pyfunction!(describe::extent, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(figure::figure, module)?)?;
    module.add_function(wrap_pyfunction!(path::path_forward, module)?)?;
    module.add_function(wrap_pyfunction!(path::path_pull_back, module)?)?;
    module.add_function(wrap_pyfunction!(path::drift_len, module)?)?;
    Ok(())
}
