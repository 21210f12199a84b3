//! merge-package: upstream's value in the place of local's.

use krm_function::supplied::Role;
use merge_package::FUNCTION;

use super::places::Place;
use super::{
    ALL_PAIRS, Failures, Spelled, Trial, counts, data, files_of, run_on, spellings, trials,
};

const CONFIG: &str = "apiVersion: fn.kpt.dev/v1alpha1\nkind: MergePackage\n";

/// Merges three texts for each pair of spellings. Local always has a label of its own.
fn merged<'s>(
    pairs: &[(&'s Spelled, &'s Spelled)],
    texts: impl Fn(&Spelled, &Spelled) -> [String; 3],
) -> Vec<Trial<'s>> {
    let all: Vec<_> = pairs.iter().map(|(old, new)| texts(old, new)).collect();
    let files = |version: usize| {
        let texts: Vec<_> = all.iter().map(|texts| &texts[version]).collect();
        files_of(&texts)
    };
    let supplied = [(Role::Original, &files(0)), (Role::Upstream, &files(2))];
    let results = run_on(&FUNCTION, CONFIG, &files(1), &supplied);
    let mut trials = Vec::new();
    for (((old, new), [_, local, upstream]), result) in
        pairs.iter().zip(all).zip(results.into_values())
    {
        trials.push(Trial {
            old,
            new,
            before: local,
            given: upstream,
            result,
        });
    }
    trials
}

fn of_local(text: &str) -> String {
    text.replacen("side: base", "side: local", 1)
}

/// The data is upstream's, with local's label.
fn has_upstreams_data(trial: &Trial<'_>) -> Result<(), String> {
    let (mut found, expected) = (data(&trial.result)?, data(&of_local(&trial.given))?);
    found["metadata"]["name"] = "c".into();
    if found == expected {
        return Ok(());
    }
    Err(format!("data is {}", found["spec"]))
}

/// Comments that nobody changed are there once.
fn keeps(place: &Place, trial: &Trial<'_>) -> Result<(), String> {
    counts(place.around, &trial.result, 1)
}

#[test]
fn upstreams_value_and_comments_replace_what_local_did_not_change() {
    let (old, new) = (spellings("old"), spellings("new"));
    let mut failures = Failures::default();
    for (place, pairs) in trials(&old, &new, ALL_PAIRS) {
        let trials = merged(&pairs, |old, new| {
            let base = place.resource(&old.text);
            [base.clone(), of_local(&base), place.giving(&new.text)]
        });
        for trial in trials {
            let fault = has_upstreams_data(&trial)
                .and_then(|()| counts(&trial.new.comments, &trial.result, 1))
                .and_then(|()| counts(&trial.old.comments, &trial.result, 0))
                .and_then(|()| keeps(place, &trial));
            failures.check(fault, &trial);
        }
    }
    failures.assert_none();
}

#[test]
fn a_local_comment_stays_on_upstreams_value() {
    let (old, new) = (spellings("old"), spellings("new"));
    let mut failures = Failures::default();
    let places = trials(&old, &new, ALL_PAIRS).filter(|(place, _)| !place.is_in_list());
    for (place, mut pairs) in places {
        pairs.retain(|(old, _)| !old.comments.is_empty());
        let trials = merged(&pairs, |old, new| {
            let base = place.resource(&old.without_comments());
            [
                base,
                of_local(&place.resource(&old.text)),
                place.giving(&new.text),
            ]
        });
        for trial in trials {
            let line = &trial.old.comments[..1];
            let is_taken = trial
                .new
                .comments
                .first()
                .is_some_and(|line| trial.result.contains(line.as_str()));
            let fault = has_upstreams_data(&trial)
                .and_then(|()| counts(line, &trial.result, 1))
                .and_then(|()| {
                    if is_taken {
                        Err("both comments".to_owned())
                    } else {
                        Ok(())
                    }
                })
                .and_then(|()| keeps(place, &trial));
            failures.check(fault, &trial);
        }
    }
    failures.assert_none();
}
