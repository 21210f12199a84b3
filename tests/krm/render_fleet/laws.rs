//! What holds of any run: shards make one fleet, nothing is done twice, and a killed run is completed.

use super::{Fleet, copy};

/// A fleet of some variants at `v1`, with a local edit in every third.
fn fleet() -> Fleet {
    let fleet = Fleet::new();
    for number in 0..12 {
        let context = format!("  packageContext: {{data: {{number: \"{number}\"}}}}\n");
        fleet.put(
            &format!("v{number}"),
            "v1",
            &format!("r{}/app-{number}", number % 3),
            &context,
        );
    }
    fleet
}

fn upgrade(fleet: &Fleet) {
    for number in 0..12 {
        let place = format!("r{}/app-{number}", number % 3);
        if number % 3 == 0 {
            let file = format!("fleet/{place}/cm.yaml");
            fleet.edit(&file, "b: \"0\"", &format!("b: \"{number}\""));
        }
        let context = format!("  packageContext: {{data: {{number: \"{number}\"}}}}\n");
        if number != 7 {
            fleet.put(&format!("v{number}"), "nginx/v3", &place, &context);
        }
    }
    fleet.drop("v7");
}

const PRUNE: [&str; 2] = ["prune=true", "maxDeletions=1"];

#[test]
fn shards_in_any_order_give_the_same_fleet_as_one_run() {
    let whole = fleet();
    whole.expect(&["--jobs", "1"], 0, &["12 created"]);
    let shared = fleet();
    for shard in ["2/3", "0/3", "1/3"] {
        shared.expect(&["--shard", shard], 0, &[]);
    }
    let strip = |fleet: &Fleet| {
        // Where the catalog is differs, and so does the time of nothing.
        let place = fleet.folder.path("catalog").canonicalize().expect("a path");
        let place = place.display().to_string();
        let files = fleet.files().into_iter().map(|(path, bytes)| {
            let text = String::from_utf8(bytes).expect("UTF-8");
            (path, text.replace(&place, "CATALOG"))
        });
        let mut files: Vec<_> = files.collect();
        files.sort();
        files
    };
    assert_eq!(strip(&whole), strip(&shared));
    upgrade(&whole);
    upgrade(&shared);
    whole.expect(&PRUNE, 0, &["11 updated, 1 deleted"]);
    for shard in ["1/3", "0/3", "2/3"] {
        shared.expect(&[&["--shard", shard], &PRUNE[..]].concat(), 0, &[]);
    }
    assert_eq!(strip(&whole), strip(&shared));
}

#[test]
fn threads_make_no_difference() {
    let fleet = fleet();
    let one = fleet.expect(&["--jobs", "1", "--diff"], 0, &[]);
    let many = fleet.expect(&["--jobs", "7", "--diff"], 0, &[]);
    assert_eq!(one, many);
    assert_eq!(one.stdout.matches("+++ b/").count(), 12 * 4);
}

#[test]
fn a_second_run_changes_nothing() {
    let fleet = fleet();
    fleet.expect(&[], 0, &["12 created"]);
    upgrade(&fleet);
    fleet.expect(&PRUNE, 0, &["11 updated, 1 deleted"]);
    let before = fleet.files();
    fleet.expect(&PRUNE, 0, &["11 variants: 11 unchanged"]);
    assert_eq!(fleet.files(), before);
}

/// Packages appear one by one: any subset of them is what a kill leaves of a first run.
#[test]
fn a_run_after_a_kill_between_packages_completes_the_fleet() {
    let fleet = fleet();
    fleet.expect(&[], 0, &[]);
    let complete = fleet.files();
    let kept = fleet.folder.path("kept");
    copy(&fleet.folder.path("fleet"), &kept);
    for stride in 1..5 {
        std::fs::remove_dir_all(fleet.folder.path("fleet")).expect("a folder");
        copy(&kept, &fleet.folder.path("fleet"));
        for number in (0..12).step_by(stride) {
            let path = format!("fleet/r{}/app-{number}", number % 3);
            std::fs::remove_dir_all(fleet.folder.path(&path)).expect("a package");
            // Its folder may be there, empty.
            if number % 2 == 0 {
                std::fs::create_dir(fleet.folder.path(&path)).expect("a folder");
            }
        }
        fleet.expect(&[], 0, &[]);
        assert_eq!(fleet.files(), complete);
    }
}
