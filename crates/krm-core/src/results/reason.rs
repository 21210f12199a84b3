//! Why an error or warning was reported, for programs.

use std::fmt;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Why an error or warning was reported: a stable word for programs, in `tags.reason`.
        ///
        /// To rename or remove one is a breaking change. `docs/reasons.md` is made from this list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason { $($(#[doc = $doc])+ $name,)+ }

        impl Reason {
            /// All reasons with their explanations, in the order of their names.
            pub const ALL: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$name, stringify!($name), concat!($($doc),+)),)+];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }
        }
    };
}

reasons! {
    /// Requests that a webhook or a policy checked may pass.
    AdmissionOpened,
    /// Several resources match, and nothing decides between them.
    Ambiguous,
    /// Two injection points of the same kind and name would share a condition.
    AmbiguousCondition,
    /// A tag and a branch have the same name and point to different commits.
    AmbiguousRevision,
    /// A container has different arguments, a different command or a different environment.
    ArgumentsChanged,
    /// Fewer pods run, or they may use less.
    CapacityReduced,
    /// Pods no longer use a PersistentVolumeClaim.
    ClaimReplaced,
    /// Both sides changed a value, and both changes are in the result.
    Combined,
    /// Upstream removed or replaced a resource or field in which local wrote comments; they went with it.
    CommentsRemoved,
    /// The repository lacks a commit that a Kptfile names; its tag was used instead.
    CommitNotFound,
    /// A ConfigMap or Secret changes, and running pods keep its old values until they restart.
    ConfigNotReloaded,
    /// A Kptfile names an owner, but the package is a copy and has none.
    CopiedPackage,
    /// A CustomResourceDefinition drops a version, or no longer serves it.
    CrdVersionDropped,
    /// A field names a resource, volume or port that the package no longer has.
    DanglingReference,
    /// A patch of an overlay matches nothing in its base.
    DeadPatch,
    /// Two elements of a list have the same keys; they were paired by position.
    DuplicateKey,
    /// One source has a resource several times.
    DuplicateResource,
    /// A list in a patch has a different order than its `$setElementOrder`.
    ElementOrderMismatch,
    /// The original package of a merge is empty, or lacks the Kptfile that the others have.
    EmptyOriginal,
    /// The upstream package of a merge is empty, or lacks the Kptfile that the others have.
    EmptyUpstream,
    /// An expression cannot be evaluated for a target.
    ExpressionFailed,
    /// The resource to inject has no `spec`, or no `data` if it is a ConfigMap.
    FieldNotFound,
    /// A role grants more than before.
    GrantsMore,
    /// Upstream changed a place that a guard keeps as local has it.
    Guarded,
    /// A field has no effect in its place.
    IgnoredField,
    /// `.krmignore` leaves a file out of a merge, and upstream changed, added or removed it.
    IgnoredFile,
    /// A container has a different image.
    ImageChanged,
    /// A field changes that the API server does not allow to change.
    ImmutableField,
    /// The functionConfig has a value that is not allowed.
    InvalidConfig,
    /// An expression is invalid, whatever its target.
    InvalidExpression,
    /// The last-applied annotation is not JSON.
    InvalidLastApplied,
    /// A package cannot be read.
    InvalidPackage,
    /// A patch does not fit the place that it patches.
    InvalidPatch,
    /// A path leaves the package, leads into a `.git`, or is not a path in a package.
    InvalidPath,
    /// A field has a value of the wrong kind.
    InvalidValue,
    /// The package has no Kptfile.
    KptfileNotFound,
    /// A container no longer has a limit for a resource.
    LimitRemoved,
    /// Local changes prevent a fast-forward, or another strategy overwrites them.
    LocalChanges,
    /// Another run works on the package.
    Locked,
    /// Local and upstream both changed a place, and the changes differ.
    MergeConflict,
    /// Two targets, or two PackageVariantSets, would generate PackageVariants of one name.
    NameCollision,
    /// A patch of an overlay changes nothing: its base already has the value.
    NeedlessPatch,
    /// A NetworkPolicy is deleted, or admits more traffic.
    NetworkOpened,
    /// A NetworkPolicy admits less.
    NetworkRestricted,
    /// A binding gives a role to another subject.
    NewSubject,
    /// The previous configuration is unknown, so nothing is deleted.
    NoLastApplied,
    /// There is no live resource for a configuration.
    NoLive,
    /// The Kptfile of a package to update does not name the original revision.
    NoOriginal,
    /// There is no PackageVariantSet to expand.
    NoPackageVariantSet,
    /// No resource was found for a required injection point.
    NoResourceSelected,
    /// A target of a PackageVariantSet selects nothing.
    NoTargetSelected,
    /// A PackageVariantSet that owns PackageVariants no longer selects anything.
    NoTargets,
    /// There are no PackageVariants and no PackageVariantSets.
    NoVariants,
    /// Kubernetes reads a name, label, annotation or other string as a boolean or a number, and refuses the object.
    NotAString,
    /// A package exists but has no owner; it is left unchanged.
    NotAdopted,
    /// A list in a patch has elements that its `$setElementOrder` lacks.
    NotInElementOrder,
    /// An overlay cannot hold a part of the fork.
    NotInOverlay,
    /// A review does not look at a resource or a file.
    NotReviewed,
    /// The package, or the output, could not be written; the other results of the run are void.
    NotWritten,
    /// A file is named like KRM but is not valid YAML, so it merges as text.
    NotYaml,
    /// An API server refuses an object, or its annotations, because of the size.
    ObjectTooLarge,
    /// The new revision of the upstream is older than the original revision.
    OlderRevision,
    /// Elements whose order has a meaning are in a different order.
    OrderChanged,
    /// The revision that a package was copied from was found by its content.
    OriginalFound,
    /// The original revision of a package is unknown, the repository lacks it, or the lock cannot be read.
    OriginalNotFound,
    /// No revision explains the package better than all others, or none has half of its values.
    OriginalUncertain,
    /// Other changes, counted.
    OtherChanges,
    /// A PackageVariant of that name exists, and the PackageVariantSet does not own it; or a package belongs to
    /// another PackageVariant, or is inside another package.
    OtherOwner,
    /// The edits of a run would add more than 16 MB plus the size of all inputs.
    OutputTooLarge,
    /// An overlay does not build a resource as the fork has it.
    OverlayDiffers,
    /// Local upgraded a sub-package separately, so the upgrade of the package around it leaves it unchanged.
    OwnUpstream,
    /// A PackageVariant belongs to a PackageVariantSet that does not exist.
    OwnerNotFound,
    /// The package has no ConfigMap `kptfile.kpt.dev` next to its root Kptfile.
    PackageContextNotFound,
    /// The package to clone into already has resources.
    PackageNotEmpty,
    /// A new file would replace an existing one.
    PathTaken,
    /// Pods may run on other nodes, or have another priority.
    PlacementChanged,
    /// A pod may do more, or uses another service account.
    PodPrivileges,
    /// A Service no longer has a port, or a port leads elsewhere.
    PortChanged,
    /// A container no longer has a probe.
    ProbeRemoved,
    /// A proposed package revision waits for approval, so the package is not changed.
    ProposalPending,
    /// A place that is random in each rendering of upstream: the local value stays.
    RandomValue,
    /// Upstream must not bring a file into a package, so it was left out.
    RefusedFile,
    /// A side has a resource under another name, namespace or API group; it was found by likeness.
    Renamed,
    /// The Repository of a PackageVariant's downstream does not exist.
    RepositoryNotFound,
    /// The key is reserved for kpt and Porch.
    ReservedKey,
    /// A resource is new.
    ResourceAdded,
    /// A resource is deleted.
    ResourceRemoved,
    /// A resource has another name or namespace, so an object is deleted and another one created.
    ResourceRenamed,
    /// An Ingress no longer has a route, or a route leads to another backend.
    RouteChanged,
    /// Upstream brings files that programs run: settings of Git, workflows of CI services, executables.
    RunsSomewhere,
    /// No pods run, or a PodDisruptionBudget protects no pod or all pods.
    ScaledToZero,
    /// A CronJob runs at other times.
    ScheduleChanged,
    /// The schema of a CustomResourceDefinition is stricter: some objects that were valid no longer are.
    SchemaNarrowed,
    /// A selector no longer matches anything in its package.
    SelectsNothing,
    /// A Service can be reached from outside the cluster, or an Ingress no longer limits who can reach it.
    ServiceExposed,
    /// An edit would change the value of a YAML alias elsewhere, and that value contains anchors itself.
    SharedAnchor,
    /// A file, or a List in it, was not read, and therefore not edited.
    SkippedFile,
    /// Local deleted a resource or file that upstream changed; it stays deleted.
    StaysDeleted,
    /// A CustomResourceDefinition stores objects in another version.
    StorageVersionChanged,
    /// Local and upstream both added a sub-package, and the two differ.
    SubPackageExists,
    /// Flux applies or deletes what it did not before, or no longer does.
    SyncChanged,
    /// Upstream moved a tag: it is now another commit, or another image, than the lock records.
    TagMoved,
    /// The resource that a patch is for does not exist.
    TargetNotFound,
    /// Traffic is no longer encrypted, or a certificate is no longer checked.
    TlsWeakened,
    /// A run would delete more packages than `maxDeletions` allows.
    TooManyDeletions,
    /// A run would generate more PackageVariants, or larger ones, than the limit allows.
    TooManyTargets,
    /// A key of a patch begins with `$`, and is neither a directive nor a field.
    UnknownDirective,
    /// A resource has an API version that this function does not support.
    UnsupportedVersion,
    /// The PackageRevision to generate PackageVariants from does not exist.
    UpstreamNotFound,
    /// The Kubernetes release that the config names does not serve a version of a kind.
    VersionNotServed,
    /// Requests fail without the server of a webhook.
    WebhookFailsClosed,
    /// The repository is not the one that the Kptfile names, and lacks the commit of its lock.
    WrongRepository,
    /// The upstream package is not the one that the PackageVariant asks for.
    WrongUpstream,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_sorted_by_name() {
        let names: Vec<_> = Reason::ALL.iter().map(|(_, name, _)| *name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(names, sorted);
    }
}
