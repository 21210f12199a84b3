//! What the reference found in `merge-package`.

use krm_yaml::OwnedDocument;

use crate::merge_cases::merge_files;

const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n";

/// Merges Kptfiles with these mutators. `b:v1` has a name on one side only, so that no rule pairs the others.
fn merged_mutators(versions: [Option<&str>; 3], fields: &str) -> (String, Vec<String>) {
    let texts = versions.map(|mutators| match mutators {
        Some(mutators) => format!("{KPTFILE}pipeline:\n  mutators: {mutators}\n"),
        None => format!("{KPTFILE}pipeline: {{}}\n"),
    });
    let files = texts.each_ref().map(|text| [("Kptfile", text.as_str())]);
    let (files, said) = merge_files([&files[0], &files[1], &files[2]], fields);
    let document = OwnedDocument::parse(files["Kptfile"].clone()).expect("YAML");
    let pipeline = document
        .root()
        .and_then(|root| root.get("pipeline")?.value());
    (
        pipeline.map(|value| value.to_json()).unwrap_or_default(),
        said,
    )
}

const MIXED: &str = "[{name: PackageVariant.v..0, image: a:v1, configMap: {x: y}}, {name: b, image: b:v1}, {image: c:v1}]";

#[test]
fn an_edited_function_of_a_package_variant_does_not_conflict_in_a_list_of_one_value() {
    let local = MIXED.replace("x: y", "x: mine");
    let upstream = MIXED.replace("c:v1", "c:v2");
    let (found, said) = merged_mutators([Some(MIXED), Some(&local), Some(&upstream)], "");
    assert_eq!(
        found,
        r#"{"mutators":[{"name":"PackageVariant.v..0","image":"a:v1","configMap":{"x":"mine"}},{"name":"b","image":"b:v1"},{"image":"c:v2"}]}"#
    );
    assert!(
        !said.iter().any(|line| line.contains("MergeConflict")),
        "{said:?}"
    );
}

#[test]
fn a_function_of_a_package_variant_that_local_removed_does_not_come_back() {
    let local = "[{name: b, image: b:v1}, {image: c:v1}]";
    let upstream = MIXED.replace("c:v1", "c:v2");
    let (found, said) = merged_mutators([Some(MIXED), Some(local), Some(&upstream)], "");
    assert_eq!(
        found,
        r#"{"mutators":[{"name":"b","image":"b:v1"},{"image":"c:v2"}]}"#
    );
    assert!(
        !said.iter().any(|line| line.contains("MergeConflict")),
        "{said:?}"
    );
}

#[test]
fn a_list_of_one_value_that_upstream_removed_keeps_what_a_package_variant_put_there() {
    let base = "[{name: b, image: b:v1}, {image: c:v1}]";
    let (found, said) = merged_mutators([Some(base), Some(MIXED), None], "");
    assert_eq!(
        found,
        r#"{"mutators":[{"name":"PackageVariant.v..0","image":"a:v1","configMap":{"x":"y"}}]}"#
    );
    let conflicts: Vec<_> = said
        .iter()
        .filter(|line| line.contains("MergeConflict"))
        .collect();
    assert_eq!(conflicts.len(), 1, "{said:?}");
}

/// Maps are equal in whatever order of their keys, so that nobody has to decide.
#[test]
fn keys_that_both_sides_moved_do_not_conflict() {
    let text = |entries: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata: {{{entries}}}\n")
    };
    let [base, local, upstream] =
        ["a: x, b: x, c: x", "b: x, c: x, a: x", "c: x, a: x, b: x"].map(text);
    let files = [&base, &local, &upstream].map(|text| [("c.yaml", text.as_str())]);
    let (_, said) = merge_files([&files[0], &files[1], &files[2]], "onConflict: error\n");
    assert!(
        !said.iter().any(|line| line.contains("MergeConflict")),
        "{said:?}"
    );
}
