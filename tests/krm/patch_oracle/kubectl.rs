//! A sample of the questions through `kubectl patch --local` itself.

use std::path::Path;
use std::process::Command;

use krm_core::schema::Schema;
use krm_patch::create::create;
use krm_patch::{Applied, Findings, ListOrder, Rules, apply};
use krm_yaml::Value;

use super::ask::{Answer, json};
use super::random::Random;
use super::{Own, Question, Text, answer, classes, kinds, question};

/// Asks kubectl to patch a resource.
fn patch(kubectl: &Path, folder: &Path, live: &Value, patch: &Value) -> Answer {
    let (live_file, patch_file) = (folder.join("live.json"), folder.join("patch.json"));
    std::fs::write(&live_file, live.to_json()).expect("a file");
    std::fs::write(&patch_file, patch.to_json()).expect("a file");
    let output = Command::new(kubectl)
        .args([
            "patch",
            "--local",
            "--type",
            "strategic",
            "-o",
            "json",
            "-f",
        ])
        .arg(&live_file)
        .arg("--patch-file")
        .arg(&patch_file)
        .env("KUBECONFIG", "/dev/null")
        .output()
        .expect("kubectl runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let ok = output.status.success();
    let kind = match () {
        () if error.contains("unable to find api field") => "unknownField",
        () if error.contains("panic") => "panic",
        () => "",
    };
    Answer {
        ok,
        result: ok.then(|| json(&String::from_utf8_lossy(&output.stdout))),
        patch: None,
        kind: kind.to_owned(),
        error,
    }
}

#[test]
fn a_sample_equals_kubectl_patch() {
    let Some(kubectl) = std::env::var_os("KRM_VARIANTS_KUBECTL") else {
        println!("skipped: KRM_VARIANTS_KUBECTL is not set");
        return;
    };
    let kubectl = Path::new(&kubectl);
    let folder = tempfile::tempdir().expect("a folder");
    let schema = Schema::builtin();
    let kinds = kinds();
    let (mut equal, mut named, mut made) = (0, 0, 0);
    for number in 0..600 {
        let kind = &kinds[number % kinds.len()];
        let rules = Rules::of(&schema, &kind.api_version, &kind.kind);
        let mut random = Random::new(1_000_000 + number as u64);
        let question = question(kind, rules, &mut random);
        match &question {
            Question::Patch { live, patch: with } => {
                let own = answer(&question, rules);
                let theirs = patch(kubectl, folder.path(), live, with);
                // What kubectl cannot read or print: labels that are no strings, a lost identity, a CRD.
                let unprintable = [
                    "Kind' is missing",
                    "Version' is missing",
                    "is not supported for",
                    "unable to decode",
                ];
                if unprintable.iter().any(|text| theirs.error.contains(text)) {
                    named += 1;
                    continue;
                }
                match classes::class(&question, &own, &theirs, rules) {
                    Ok("equal" | "both refuse") => equal += 1,
                    Ok(_) => named += 1,
                    Err(differences) => panic!(
                        "{}\nwith {}\nown {:?}, kubectl {}\n{}",
                        live.to_json(),
                        with.to_json(),
                        own.errors,
                        theirs.error,
                        differences.iter().map(|d| d.line()).collect::<String>()
                    ),
                }
            }
            Question::Create3 {
                original,
                modified,
                live,
            } => {
                let texts = [original, modified, live].map(Text::of);
                let [original, modified, live_node] = texts.each_ref().map(Text::node);
                let mut findings = Findings::default();
                let by_us = create(Some(&original), &modified, &live_node, rules, &mut findings);
                let Some(by_us) = by_us.filter(|_| findings.0.is_empty()) else {
                    continue;
                };
                let order = ListOrder::ApiServer;
                let applied = apply(&live_node, &by_us, rules, order, &mut findings);
                let Applied::Resource(result) = applied else {
                    panic!("a made patch deletes nothing as a whole")
                };
                let own = Own {
                    patch: None,
                    result: Some(result.to_value()),
                    is_written: true,
                    errors: Vec::new(),
                };
                let with = by_us.to_value();
                let theirs = patch(kubectl, folder.path(), live, &with);
                let unread = ["is not supported for", "unable to decode"];
                if unread.iter().any(|text| theirs.error.contains(text)) {
                    named += 1;
                    continue;
                }
                let question = Question::Patch {
                    live: live.clone(),
                    patch: with.clone(),
                };
                match classes::class(&question, &own, &theirs, rules) {
                    Ok("equal") => made += 1,
                    Ok(_) => named += 1,
                    Err(_) => panic!(
                        "{}\nwith {}\n{}",
                        live.to_json(),
                        with.to_json(),
                        theirs.error
                    ),
                }
            }
            _ => {}
        }
    }
    println!(
        "kubectl patch --local: {equal} patches equal, {made} made patches equal, {named} in a named class"
    );
    assert!(equal > 150 && made > 80);
}
