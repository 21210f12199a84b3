//! Whole packages: the document's story through the binary, many points at once, any package twice.

use indoc::indoc;
use std::path::Path;

use assert_cmd::Command;
use proptest::prelude::*;

use crate::step::{Clock, assert_linear};

use super::*;

#[test]
fn many_points_of_one_text_are_filled_in_linear_time() {
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let config = config("[{name: s}]", &[&s]);
    assert_linear(100, |count| {
        let points = (0..count).map(|index| {
            point(
                "example.com/v1",
                "B",
                &format!("b{index}"),
                "optional",
                "spec: {}\n",
            )
        });
        let points: Vec<String> = points.collect();
        let points = points.join("---\n");
        let clock = Clock::start();
        let files = [("Kptfile", KPTFILE), ("points.yaml", &*points)];
        let outcome = on_package(&FUNCTION, &config, &files).expect("a config");
        let time = clock.nanoseconds();
        assert_eq!(
            outcome
                .file("points.yaml")
                .matches("spec: {x: 1}\n")
                .count(),
            count
        );
        time
    });
}

/// The story of the document, through the binary: one blueprint, a resource for each region.
#[test]
fn each_region_gets_its_endpoints() {
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/inject-config-service-endpoints");
    let config = std::fs::read_to_string(example.join("fn-config.yaml")).expect("a config");
    for region in ["useast1", "useast2", "uswest1"] {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("config.yaml");
        std::fs::write(&file, config.replace("useast1", region)).expect("a file");
        let mut command = Command::new(crate::running::function("inject-config"));
        command.arg("--config").arg(&file);
        command.arg("--resources").arg(example.join("cluster.yaml"));
        command
            .arg("--package")
            .arg(example.join("package"))
            .arg("--diff");
        let output = command.assert().code(0).get_output().stdout.clone();
        let diff = String::from_utf8(output).expect("UTF-8");
        let line = format!("\n+  auth: 'auth.{region}.example.com'\n");
        assert!(diff.contains(&line), "{diff}");
        assert!(diff.contains("+  - type: config.injection.ServiceEndpoints.service-endpoints\n+    status: \"True\"\n"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever the package: a second run changes nothing, and points are as the table says.
    #[test]
    fn twice_is_once(
        points in proptest::collection::vec((0..3_usize, 0..3_usize, any::<bool>(), 0..4_usize), 0..6),
        sources in proptest::collection::vec((0..3_usize, 0..3_usize, 0..5_usize), 0..6),
        injectors in proptest::collection::vec((0..4_usize, 0..3_usize), 0..5),
        head in 0..4_usize,
    ) {
        let kinds = [("v1", "ConfigMap"), ("example.com/v1", "B"), ("example.com/v1beta1", "C")];
        let fields = ["", "FIELD:\n", "FIELD: {a: b} # c\n", indoc! {"
            FIELD:
              # c
              list:
                - a # a
                - b

            # foot
        "}];
        let values = ["", "FIELD: {x: \"1\"}\n", "FIELD:\n    - 1 # one\n    -   a: b\n        c: >\n          d\n", "FIELD: &a\n  x: &b [1]\n  y: *b\n", "FIELD: \"text\"\n"];
        let heads = ["", "status:\n", "info: {readinessGates: []}\nstatus: {conditions: []}\n", indoc! {"
            status:
                conditions:
                    # c
                    - type: config.injection.B.n1 # t
                      status: True
            info:
              readinessGates:
              - {conditionType: config.injection.B.n1} # g
        "}];
        let field = |kind: usize, text: &str| text.replace("FIELD", if kind == 0 { "data" } else { "spec" });
        let mut files = vec![("Kptfile".to_owned(), format!("{KPTFILE}{}", heads[head]))];
        // Points that would share a condition are refused.
        let mut known = std::collections::HashSet::new();
        let points = points.iter().filter(|(kind, name, ..)| known.insert((*kind, *name)));
        for (index, (kind, name, required, with)) in points.enumerate() {
            let how = if *required { "required" } else { "'optional' # o" };
            let (api_version, kind_name) = kinds[*kind];
            let text = point(api_version, kind_name, &format!("n{name}"), how, &field(*kind, fields[*with]));
            files.push((format!("{index}.yaml"), text));
        }
        let sources: Vec<String> = sources
            .iter()
            .map(|(kind, name, with)| {
                let (api_version, kind_name) = kinds[*kind];
                resource(api_version, kind_name, &format!("s{name}"), &field(*kind, values[*with]))
            })
            .collect();
        // One source of each identity.
        let mut seen = Vec::new();
        let sources: Vec<&str> = sources
            .iter()
            .filter(|text| {
                let identity: String = text.lines().take(4).collect();
                let new = !seen.contains(&identity);
                seen.push(identity);
                new
            })
            .map(String::as_str)
            .collect();
        let injectors: Vec<String> = injectors
            .iter()
            .map(|(kind, name)| match kinds.get(*kind) {
                Some((_, kind)) => format!("{{kind: {kind}, name: s{name}}}"),
                None => format!("{{name: s{name}}}"),
            })
            .collect();
        let config = config(&format!("[{}]", injectors.join(", ")), &sources);
        let files: Vec<_> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
        let outcome = run(&config, &files);
        prop_assert!(!outcome.failed, "{:?}", outcome.results);
    }
}
