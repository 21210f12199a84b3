//! Which commits are in the history of others, whatever their clocks say.
//!
//! ```text
//! A --- B --- C      B is in the history of C: the walk back from C reaches it.
//!  \                 D is not: the walk from D reaches A as well, so that what comes before A cannot lead to D.
//!   --- D
//! ```
//!
//! As in `git merge-base --is-ancestor`, clocks only decide which commit is read next, and so how long the walk takes.

use std::collections::{BinaryHeap, HashMap, HashSet};

use gix::ObjectId;

use super::Repository;

/// The most pairs of commits in one walk.
const AT_ONCE: usize = u128::BITS as usize;

/// For more commits, the whole history is read once.
const MOST_WALKS: usize = 4;

impl Repository {
    /// Which of the other commits a commit contains in its history, or is. The history of a shallow clone ends early.
    pub(super) fn ancestors_among(&self, commit: ObjectId, others: &[ObjectId]) -> Vec<ObjectId> {
        if others.len() > MOST_WALKS * AT_ONCE {
            let history = self.history_of([commit]);
            let is_in = |other: &ObjectId| history.contains_key(other);
            return others.iter().copied().filter(is_in).collect();
        }
        let parts = others.chunks(AT_ONCE);
        let found = parts.flat_map(|part| {
            let found = CommitPairs::of(&[commit], part).walk(&|id| self.step(id));
            part.iter().zip(found).filter(|(_, found)| *found)
        });
        found.map(|(other, _)| *other).collect()
    }

    /// Which of the other commits contain a commit in their history, or are it.
    pub(super) fn descendants_among(&self, commit: ObjectId, others: &[ObjectId]) -> Vec<ObjectId> {
        if others.len() > MOST_WALKS * AT_ONCE {
            return self.descendants_in_history(commit, others);
        }
        let parts = others.chunks(AT_ONCE);
        let found = parts.flat_map(|part| {
            let found = CommitPairs::of(part, &[commit]).walk(&|id| self.step(id));
            part.iter().zip(found).filter(|(_, found)| *found)
        });
        found.map(|(other, _)| *other).collect()
    }

    fn descendants_in_history(&self, commit: ObjectId, others: &[ObjectId]) -> Vec<ObjectId> {
        let mut children: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
        for (id, parents) in self.history_of(others.iter().copied()) {
            for parent in parents {
                children.entry(parent).or_default().push(id);
            }
        }
        let mut reached = HashSet::from([commit]);
        let mut pending = vec![commit];
        while let Some(one) = pending.pop() {
            let new = children.get(&one).into_iter().flatten();
            pending.extend(new.copied().filter(|child| reached.insert(*child)));
        }
        let is_reached = |other: &ObjectId| reached.contains(other);
        others.iter().copied().filter(is_reached).collect()
    }

    /// The commits that some commits contain, each with its parents.
    fn history_of(
        &self,
        commits: impl IntoIterator<Item = ObjectId>,
    ) -> HashMap<ObjectId, Vec<ObjectId>> {
        let walk = self.git.rev_walk(commits).all();
        let known = walk.into_iter().flatten().map_while(Result::ok);
        known
            .map(|info| (info.id, info.parent_ids.to_vec()))
            .collect()
    }

    fn step(&self, commit: ObjectId) -> CommitStep {
        let Ok(commit) = self.git.find_commit(commit) else {
            return CommitStep::default();
        };
        CommitStep {
            time: commit.time().map_or(0, |time| time.seconds),
            parents: commit.parent_ids().map(|id| id.detach()).collect(),
        }
    }
}

/// A commit for a walk: its clock, and what it was made from. A commit that is not in a clone has no parents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct CommitStep {
    time: i64,
    parents: Vec<ObjectId>,
}

/// A question about pairs of commits: does the later one contain the earlier one? One side has one commit.
struct CommitPairs<'p> {
    /// The earlier commits.
    earlier: &'p [ObjectId],
    /// The later commits.
    later: &'p [ObjectId],
    marks: HashMap<ObjectId, CommitMarks>,
    queue: BinaryHeap<(CommitStep, ObjectId)>,
    /// The number of commits in the queue that may lead to an answer.
    pending: usize,
    /// The later and the earlier commits whose pairs have no answer yet.
    open: CommitMarks,
}

/// What a walk knows of a commit, one bit for each commit of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CommitMarks {
    /// The later commits that contain it.
    later: u128,
    /// The earlier commits that contain it.
    earlier: u128,
    is_queued: bool,
}

impl CommitMarks {
    /// Whether its history may have an earlier commit that a later one contains. An earlier commit is not in its own
    /// history.
    fn is_pending(self, open: Self) -> bool {
        self.is_queued && self.later & open.later != 0 && open.earlier & !self.earlier != 0
    }
}

impl<'p> CommitPairs<'p> {
    fn of(later: &'p [ObjectId], earlier: &'p [ObjectId]) -> Self {
        let all = |commits: &[ObjectId]| (0..commits.len()).fold(0, |bits, at| bits | (1 << at));
        Self {
            earlier,
            later,
            marks: HashMap::new(),
            queue: BinaryHeap::new(),
            pending: 0,
            open: CommitMarks {
                later: all(later),
                earlier: all(earlier),
                is_queued: false,
            },
        }
    }

    /// Answers for each commit of the side that has several.
    fn walk(mut self, step: &dyn Fn(ObjectId) -> CommitStep) -> Vec<bool> {
        for (at, id) in self.later.iter().enumerate() {
            self.mark(*id, [1 << at, 0], step);
        }
        for (at, id) in self.earlier.iter().enumerate() {
            self.mark(*id, [0, 1 << at], step);
        }
        while self.pending > 0 {
            let Some((read, id)) = self.queue.pop() else {
                break;
            };
            let marks = self.marks.entry(id).or_default();
            self.pending -= usize::from(marks.is_pending(self.open));
            marks.is_queued = false;
            let bits = [marks.later, marks.earlier];
            for parent in read.parents {
                self.mark(parent, bits, step);
            }
        }
        let open = self.open;
        let found = |bits: u128| move |at: usize| bits & (1 << at) == 0;
        if self.later.len() == 1 {
            (0..self.earlier.len()).map(found(open.earlier)).collect()
        } else {
            (0..self.later.len()).map(found(open.later)).collect()
        }
    }

    /// CommitMarks a commit, and queues it if that is new.
    fn mark(
        &mut self,
        id: ObjectId,
        [later, earlier]: [u128; 2],
        step: &dyn Fn(ObjectId) -> CommitStep,
    ) {
        let marks = self.marks.entry(id).or_default();
        let (was, old) = (marks.is_pending(self.open), *marks);
        marks.later |= later;
        marks.earlier |= earlier;
        if *marks == old {
            return;
        }
        if !marks.is_queued {
            marks.is_queued = true;
            self.queue.push((step(id), id));
        }
        let marks = *marks;
        self.pending += usize::from(marks.is_pending(self.open));
        self.pending -= usize::from(was);
        self.answer(id, marks);
    }

    /// Notes the pairs that the marks of a commit answer.
    fn answer(&mut self, id: ObjectId, marks: CommitMarks) {
        let before = self.open;
        for (at, _) in self
            .earlier
            .iter()
            .enumerate()
            .filter(|(_, own)| **own == id)
        {
            if self.later.len() > 1 {
                self.open.later &= !marks.later;
            } else if marks.later != 0 {
                self.open.earlier &= !(1 << at);
            }
        }
        if self.open != before {
            let open = self.open;
            let is_pending = |(_, id): &&(CommitStep, ObjectId)| {
                self.marks.get(id).is_some_and(|one| one.is_pending(open))
            };
            self.pending = self.queue.iter().filter(is_pending).count();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn id(commit: usize) -> ObjectId {
        let text = format!("{commit:040x}");
        ObjectId::from_hex(text.as_bytes()).expect("an id")
    }

    /// A history: the clock and the parents of each commit, which come before it.
    struct Commits(Vec<(i64, Vec<usize>)>);

    impl Commits {
        fn random(seed: u64) -> Self {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut next = |below: usize| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                usize::try_from(state % 1_000_003).expect("small") % below
            };
            let mut commits = Vec::new();
            for at in 0..40_usize {
                // Most clocks are right, some are years off.
                let clock = i64::try_from(at).expect("small") * 3600;
                let skew = match next(6) {
                    0 => -40_000_000,
                    1 => 40_000_000,
                    _ => 0,
                };
                let count = if at == 0 || next(9) == 0 {
                    0
                } else {
                    1 + next(2)
                };
                let parents = (0..count).map(|_| at - 1 - next(at.min(5)));
                commits.push((clock + skew, parents.collect()));
            }
            Self(commits)
        }

        fn step(&self, commit: ObjectId) -> CommitStep {
            let at = (0..self.0.len()).find(|at| id(*at) == commit);
            let (time, parents) = at.map(|at| self.0[at].clone()).unwrap_or_default();
            CommitStep {
                time,
                parents: parents.into_iter().map(id).collect(),
            }
        }

        fn contains(&self, commit: usize, other: usize) -> bool {
            let parents = || self.0[commit].1.iter();
            commit == other || parents().any(|parent| self.contains(*parent, other))
        }
    }

    #[test]
    fn clocks_do_not_decide_which_commits_a_commit_contains() {
        for seed in 1..60 {
            let commits = Commits::random(seed);
            let all: Vec<usize> = (0..40).collect();
            let ids: Vec<ObjectId> = all.iter().map(|at| id(*at)).collect();
            for one in [0, 7, 20, 33, 39] {
                let earlier = CommitPairs::of(&[id(one)], &ids).walk(&|id| commits.step(id));
                let expected: Vec<bool> = all.iter().map(|at| commits.contains(one, *at)).collect();
                assert_eq!(earlier, expected, "{seed}: in {one}");
                let later = CommitPairs::of(&ids, &[id(one)]).walk(&|id| commits.step(id));
                let expected: Vec<bool> = all.iter().map(|at| commits.contains(*at, one)).collect();
                assert_eq!(later, expected, "{seed}: with {one}");
            }
        }
    }

    #[test]
    fn a_walk_ends_where_the_histories_meet() {
        let line = |at: usize| (i64::try_from(at).expect("small"), (at > 0).then(|| at - 1));
        let commits = (0..1000).map(line);
        let commits = commits.map(|(time, parent)| (time, parent.into_iter().collect()));
        let commits = Commits(commits.collect());
        let read = Cell::new(0);
        let step = |id| {
            read.set(read.get() + 1);
            commits.step(id)
        };
        let newer: Vec<ObjectId> = [910, 930, 950].map(id).to_vec();
        assert_eq!(CommitPairs::of(&[id(900)], &newer).walk(&step), [false; 3]);
        assert!(read.get() < 60, "{}", read.get());
    }
}
