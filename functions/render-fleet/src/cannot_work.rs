//! Why the package of a variant cannot be processed.

use super::variants::FleetVariant;
use krm_core::config::UsageError;
use krm_core::resource_list::InputError;
use krm_core::results::{FunctionResult, Reason};
use krm_package::PackageError;

/// The result that explains why a package cannot be processed.
pub(super) struct CannotWork(pub(super) Box<FunctionResult>);

impl CannotWork {
    /// Why the package of a variant cannot be processed. A result that names no file is about the variant.
    pub(super) fn about(self, variant: &FleetVariant) -> FunctionResult {
        let Self(result) = self;
        if result.file.is_some() {
            return *result;
        }
        result.with_resource(&variant.resource)
    }
}

/// A file of a package that is not YAML.
impl From<InputError> for CannotWork {
    fn from(error: InputError) -> Self {
        let result = FunctionResult::error(Reason::InvalidPackage, error.problem());
        Self(Box::new(result.in_file(error.place())))
    }
}

impl From<UsageError> for CannotWork {
    fn from(error: UsageError) -> Self {
        let result = FunctionResult::error(Reason::InvalidPackage, error.to_string());
        Self(Box::new(result))
    }
}

impl From<PackageError> for CannotWork {
    fn from(error: PackageError) -> Self {
        let result = FunctionResult::error(Reason::NotWritten, error.to_string());
        Self(Box::new(result))
    }
}

/// The error for a package that another run has locked.
pub(super) fn locked() -> CannotWork {
    let message = "another run works on this package; run again when it is done";
    CannotWork(Box::new(FunctionResult::error(Reason::Locked, message)))
}
