//! Any ResourceList: an error, or one that parses and stays as it is in the next run.

#![no_main]

use krm_core::config::Config;
use set_package_context::FUNCTION;
use krm_core::resource_list::ResourceList;
use krm_core::results::Results;
use krm_function::StepRun;
use krm_function::supplied::Supplied;
use libfuzzer_sys::fuzz_target;

const CONFIG: &str = "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetPackageContext\n\
     data: {region: east}\nremoveKeys: [zone]\ncreateIfMissing: true\n";

fuzz_target!(|text: &str| {
    let Some(once) = run(text) else { return };
    let twice = run(&once).expect("what the function wrote is a ResourceList");
    assert_eq!(once, twice);
});

/// The items after the run, without the results of this run.
fn run(text: &str) -> Option<String> {
    let mut list = ResourceList::parse(text.to_owned()).ok()?;
    let config = Config::parse(CONFIG.to_owned(), "config").expect("a config");
    let mut results = Results::default();
    let supplied = Supplied::default();
    (FUNCTION.step)(StepRun {
        config: config.node(),
        list: &mut list,
        supplied: &supplied,
        results: &mut results,
    }).ok()?;
    if results.has_errors() {
        return None;
    }
    let emitted = list
        .emit(&Results::default(), true)
        .expect("nothing is appended");
    Some(emitted.iter().map(|piece| &**piece).collect())
}
