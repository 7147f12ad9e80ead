//! The parameters of a module as named tensors of a file, and back.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};

use crate::entries::entries;
use crate::run::{
    ElementType, ExpectedTensor, RunError, Tensor as StoredTensor, TensorFile, TensorFileProblem,
};

/// All float parameters of a module under their names, in single precision.
///
/// # Errors
/// Never for the modules of this crate; a module whose shape and entries contradict each other is refused.
pub fn to_file<M: Module>(module: &M) -> Result<TensorFile, TensorFileProblem> {
    let mut collect = Collect { file: TensorFile::new(), path: Vec::new(), problem: None };
    module.visit(&mut collect);
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
    let mut expect = Expect { tensors: Vec::new(), path: Vec::new() };
    module.visit(&mut expect);
    file.check_tensors(&expect.tensors)?;
    Ok(module.map(&mut Replace { file, path: Vec::new() }))
}

struct Collect {
    file: TensorFile,
    path: Vec<String>,
    problem: Option<TensorFileProblem>,
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        match StoredTensor::new(shape, entries(tensor)) {
            Ok(tensor) => self.file.push(self.path.join("."), tensor),
            Err(problem) => self.problem = Some(problem),
        }
    }
}

struct Expect {
    tensors: Vec<ExpectedTensor>,
    path: Vec<String>,
}

impl ModuleVisitor for Expect {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.tensors.push(ExpectedTensor::new(self.path.join("."), ElementType::F32, &param.val().dims()));
    }
}

struct Replace<'a> {
    file: &'a TensorFile,
    path: Vec<String>,
}

impl ModuleMapper for Replace<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        // The file has been checked against the module.
        let Ok(entries) = self.file.entries::<f32>(&self.path.join(".")) else {
            return Param::from_mapped_value(id, tensor, mapper);
        };
        let data = TensorData::new(entries.to_vec(), tensor.shape());
        let replaced = Tensor::from_data(data, &tensor.device()).set_require_grad(tensor.is_require_grad());
        Param::from_mapped_value(id, replaced, mapper)
    }
}
