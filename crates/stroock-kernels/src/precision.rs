//! Kernels in both precisions.

/// A trait of `f32` and `f64` with a method for every kernel of a module.
///
/// Whoever is generic over the precision calls a kernel through the trait, and the kernel is compiled in this crate,
/// once per precision and instruction set, not once more in every crate that uses it.
macro_rules! kernels {
    (
        $(#[$about:meta])*
        trait $name:ident: $base:path {
            $(fn $method:ident($task:ident) $(-> $output:ty)?;)*
        }
    ) => {
        $(#[$about])*
        pub trait $name: $base {
            $(
                #[doc(hidden)]
                fn $method(level: $crate::simd::Level, task: $task<'_, Self>) $(-> $output)?;
            )*
        }
        $crate::precision::kernels!(f32: $name { $(fn $method($task) $(-> $output)?;)* });
        $crate::precision::kernels!(f64: $name { $(fn $method($task) $(-> $output)?;)* });
    };
    ($real:ident: $name:ident { $(fn $method:ident($task:ident) $(-> $output:ty)?;)* }) => {
        impl $name for $real {
            $(
                fn $method(level: $crate::simd::Level, task: $task<'_, Self>) $(-> $output)? {
                    $crate::simd::dispatch(level, task)
                }
            )*
        }
    };
}

pub(crate) use kernels;
