//! The parameters of a module as named tensors of a file, and back.

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};

use crate::entries::entries;
use crate::parameters::{ParameterMapper, ParameterVisitor, map_parameters, visit_parameters};
use crate::run::{
    ElementType, ExpectedTensor, RunError, Tensor as StoredTensor, TensorFile, TensorFileProblem,
};

/// All float parameters of a module under their names, in single precision.
///
/// # Errors
/// Never for the modules of this crate; a module whose shape and entries contradict each other is refused.
pub fn to_file<M: Module>(module: &M) -> Result<TensorFile, TensorFileProblem> {
    let mut collect = Collect { file: TensorFile::new(), problem: None };
    visit_parameters(module, &mut collect);
    match collect.problem {
        Some(problem) => Err(problem),
        None => Ok(collect.file),
    }
}

/// The module with its parameters replaced by those of a file.
///
/// # Errors
/// When names or shapes differ: the file belongs to another model.
pub fn from_file<M: Module>(module: M, file: &TensorFile) -> Result<M, RunError> {
    let mut expect = Expect { tensors: Vec::new() };
    visit_parameters(&module, &mut expect);
    file.check_tensors(&expect.tensors)?;
    Ok(map_parameters(module, &mut Replace { file }))
}

struct Collect {
    file: TensorFile,
    problem: Option<TensorFileProblem>,
}

impl ParameterVisitor for Collect {
    fn visit<const D: usize>(&mut self, name: &str, parameter: Tensor<D>) {
        let shape = parameter.dims().to_vec();
        match StoredTensor::new(shape, entries(parameter)) {
            Ok(tensor) => self.file.push(name.to_owned(), tensor),
            Err(problem) => self.problem = Some(problem),
        }
    }
}

struct Expect {
    tensors: Vec<ExpectedTensor>,
}

impl ParameterVisitor for Expect {
    fn visit<const D: usize>(&mut self, name: &str, parameter: Tensor<D>) {
        self.tensors.push(ExpectedTensor::new(name.to_owned(), ElementType::F32, &parameter.dims()));
    }
}

struct Replace<'a> {
    file: &'a TensorFile,
}

impl ParameterMapper for Replace<'_> {
    fn map<const D: usize>(&mut self, name: &str, parameter: Tensor<D>) -> Tensor<D> {
        // The file has been checked against the module.
        let Ok(entries) = self.file.entries::<f32>(name) else { return parameter };
        let data = TensorData::new(entries.to_vec(), parameter.shape());
        Tensor::from_data(data, &parameter.device()).set_require_grad(parameter.is_require_grad())
    }
}
