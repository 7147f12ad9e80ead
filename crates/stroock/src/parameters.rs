//! The float parameters of a module one by one, by their names: those of the modules around them, joined by dots.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::Tensor;

/// Something that looks at parameters.
pub trait ParameterVisitor {
    /// Looks at one of them.
    fn visit<const D: usize>(&mut self, name: &str, parameter: Tensor<D>);
}

/// Something that gives parameters other values.
pub trait ParameterMapper {
    /// The new value of one of them.
    fn map<const D: usize>(&mut self, name: &str, parameter: Tensor<D>) -> Tensor<D>;
}

/// Shows all float parameters of a module to a visitor, in the order of the module.
///
/// ```
/// use burn::nn::LinearConfig;
/// use burn::tensor::{Device, Tensor};
/// use stroock::parameters::{ParameterVisitor, visit_parameters};
///
/// struct Names(Vec<String>);
/// impl ParameterVisitor for Names {
///     fn visit<const D: usize>(&mut self, name: &str, parameter: Tensor<D>) {
///         self.0.push(format!("{name} {:?}", parameter.dims()));
///     }
/// }
/// let mut names = Names(Vec::new());
/// visit_parameters(&LinearConfig::new(2, 3).init(&Device::flex()), &mut names);
/// assert_eq!(names.0, ["weight [2, 3]", "bias [3]"]);
/// ```
pub fn visit_parameters<M: Module>(module: &M, visitor: &mut impl ParameterVisitor) {
    module.visit(&mut Walk { path: Vec::new(), with: visitor });
}

/// The module with all float parameters as a mapper gives them.
pub fn map_parameters<M: Module>(module: M, mapper: &mut impl ParameterMapper) -> M {
    module.map(&mut Walk { path: Vec::new(), with: mapper })
}

struct Walk<'a, W> {
    /// Names of the modules around.
    path: Vec<String>,
    with: &'a mut W,
}

impl<W: ParameterVisitor> ModuleVisitor for Walk<'_, W> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.with.visit(&self.path.join("."), param.val());
    }
}

impl<W: ParameterMapper> ModuleMapper for Walk<'_, W> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        Param::from_mapped_value(id, self.with.map(&self.path.join("."), tensor), mapper)
    }
}
