//! The manifests of `examples/fleet-on-kubernetes`: their arguments, run here in place of the containers.

use krm_yaml::{NodeRef, OwnedDocument};

use super::{Fleet, render_fleet};
use crate::git::files_in;

/// The documents of a manifest.
fn manifest(name: &str) -> OwnedDocument {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/fleet-on-kubernetes");
    let text = std::fs::read_to_string(format!("{directory}/{name}")).expect("a manifest");
    OwnedDocument::parse(text).expect("YAML")
}

/// The arguments of the containers of `render-fleet` in a manifest, in order.
fn arguments(name: &str) -> Vec<Vec<String>> {
    fn find(node: NodeRef<'_>, found: &mut Vec<Vec<String>>) {
        let image = node.get("image").and_then(|image| image.as_str());
        if image.is_some_and(|image| image.contains("/render-fleet:")) {
            let args = node.get("args").expect("arguments");
            let args = args
                .items()
                .filter_map(|arg| arg.as_str().map(str::to_owned));
            found.push(args.collect());
        }
        node.entries().for_each(|entry| find(entry.value, found));
        node.items().for_each(|item| find(item, found));
    }
    let owned = manifest(name);
    let document = owned.document();
    let mut found = Vec::new();
    let roots = (0..document.len()).filter_map(|index| document.root(index));
    roots.for_each(|root| find(root, &mut found));
    found
}

/// A fleet in the layout of the volume.
fn fleet() -> Fleet {
    let fleet = Fleet::new();
    for number in 0..20 {
        fleet.put(&format!("v{number}"), "v1", &format!("c{number}/app"), "");
    }
    fleet.folder.put("resources/empty.yaml", "");
    for directory in ["fleet", "reports"] {
        std::fs::create_dir(fleet.folder.path(directory)).expect("a folder");
    }
    std::fs::rename(
        fleet.folder.path("catalog"),
        fleet.folder.path("catalog.git"),
    )
    .expect("a catalog");
    fleet
}

fn run(fleet: &Fleet, arguments: &[String], shard: usize) {
    let root = fleet.folder.path("");
    let root = root.display().to_string();
    let place = |argument: &String| {
        let shards = ["$(JOB_COMPLETION_INDEX)", "{{inputs.parameters.index}}"];
        let argument = argument.replace("/work/", &root);
        shards.iter().fold(argument, |argument, index| {
            argument.replace(index, &shard.to_string())
        })
    };
    let placed: Vec<String> = arguments.iter().map(place).collect();
    let placed: Vec<&str> = placed.iter().map(String::as_str).collect();
    let outcome = fleet.folder.run(render_fleet(), &placed);
    assert_eq!(outcome.code, Some(0), "{placed:?}: {}", outcome.stderr);
}

#[test]
fn shards_of_the_job_and_of_the_workflow_make_the_fleet_of_one_run() {
    let fleet = fleet();
    let made = || files_in(&fleet.folder.path("fleet"));
    let [job] = &arguments("job.yaml")[..] else {
        panic!("one container");
    };
    let is_shard = |argument: &&String| argument.starts_with("--shard");
    let whole: Vec<String> = job.iter().filter(|arg| !is_shard(arg)).cloned().collect();
    run(&fleet, &whole, 0);
    let expected = made();
    assert_eq!(expected.len(), 20 * 4);
    let [shard, report] = &arguments("workflow.yaml")[..] else {
        panic!("two containers");
    };
    assert_eq!(std::slice::from_ref(report), &arguments("report.yaml")[..]);
    for shard in [job, shard] {
        for directory in ["fleet", "reports"] {
            let directory = fleet.folder.path(directory);
            std::fs::remove_dir_all(&directory).expect("a folder");
            std::fs::create_dir(&directory).expect("a folder");
        }
        (0..16).rev().for_each(|number| run(&fleet, shard, number));
        assert!(made() == expected, "other files");
        run(&fleet, report, 0);
        let page = fleet.folder.get("fleet.html");
        assert!(page.contains("20 variants: 20 created"), "{page}");
    }
}

#[test]
fn the_container_of_the_cron_job_reads_the_files_of_the_others() {
    let fleet = fleet();
    let list = "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ''}\nitems: []\n";
    fleet.folder.put("resources.yaml", list);
    let config = "apiVersion: fn.kpt.dev/v1alpha1\nkind: RenderFleet\nmetadata: {name: fleet}\n";
    fleet.folder.put("variants/fleet.yaml", config);
    let [render] = &arguments("cronjob.yaml")[..] else {
        panic!("one container");
    };
    run(&fleet, render, 0);
    assert_eq!(files_in(&fleet.folder.path("fleet")).len(), 20 * 4);
}
