//! The scenarios: for each function its package and what fills its roles.

use indoc::indoc;
use krm_function::Function;
use krm_function::supplied::Role;

/// Files by path.
pub(crate) type Files = &'static [(&'static str, &'static str)];

/// One function with all of its roles that the scenario fills.
pub(crate) struct Scenario {
    pub(crate) function: &'static Function,
    pub(crate) name: &'static str,
    pub(crate) package: Files,
    pub(crate) roles: &'static [(Role, Files)],
    /// Kind and fields of the typed config, to which the fields of the roles are added.
    pub(crate) typed: Option<(&'static str, &'static str)>,
    /// The PackageVariant, to which the annotations of the roles are added.
    pub(crate) variant: Option<&'static str>,
    /// A config for flags alone, where it is none of these.
    pub(crate) other: Option<&'static str>,
    pub(crate) place: Place,
}

/// How far kpt can go with what comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// What comes out takes the place of the package: only between source and sink.
    Pipe,
    /// There is no Kptfile, which `kpt fn render` wants.
    Eval,
    Render,
}

const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: app\n";

const CONFIG: Files = &[
    ("Kptfile", KPTFILE),
    (
        "app/config.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: settings
              namespace: shop
              annotations:
                team: web
            data:
              a: new
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: plain
              namespace: shop
            data:
              a: new
        "},
    ),
];
const LIVE: Files = &[(
    "cluster.yaml",
    indoc! {"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: settings
          namespace: shop
          uid: x
          annotations:
            seen: 'yes'
        data:
          a: old
          b: gone
          c: live
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: plain
          namespace: shop
          uid: y
        data:
          a: old
    "},
)];
const PREVIOUS: Files = &[(
    "before/last.yaml",
    indoc! {"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: settings
          namespace: shop
        data:
          a: old
          b: gone
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: plain
          namespace: shop
        data:
          a: old
    "},
)];
const PATCHES: Files = &[(
    "p/patches.yaml",
    indoc! {"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: settings
          namespace: shop
          annotations:
            patched: 'yes'
        data:
          b: patched
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: plain
          namespace: shop
        data:
          a: null
          b: patched
    "},
)];
const BASE: Files = &[
    ("Kptfile", KPTFILE),
    (
        "app.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: settings
            data:
              a: one
              b: one
        "},
    ),
    (
        "gone.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: gone
            data:
              a: one
        "},
    ),
];
const LOCAL: Files = &[
    ("Kptfile", KPTFILE),
    (
        "app.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: settings
            data:
              a: one
              b: local
        "},
    ),
    (
        "gone.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: gone
            data:
              a: one
        "},
    ),
];
const UPSTREAM: Files = &[
    ("Kptfile", KPTFILE),
    (
        "app.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: settings
              annotations:
                team: web
            data:
              a: two
              b: one
        "},
    ),
    (
        "new/new.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: new
            data:
              a: two
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: newer
              annotations:
                team: web
            data:
              a: two
        "},
    ),
];
const POINT: &str = indoc! {"
    apiVersion: example.com/v1
    kind: Endpoints
    metadata:
      name: endpoints
      annotations:
        kpt.dev/config-injection: required
    spec: {}
"};
const POINTS: Files = &[("Kptfile", KPTFILE), ("endpoints.yaml", POINT)];
const CLUSTER: Files = &[(
    "east/endpoints.yaml",
    indoc! {"
        apiVersion: example.com/v1
        kind: Endpoints
        metadata:
          name: east
        spec:
          auth: auth.example.com
    "},
)];
const BLUEPRINT: Files = &[
    ("Kptfile", KPTFILE),
    ("endpoints.yaml", POINT),
    (
        "package-context.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: kptfile.kpt.dev
              annotations:
                config.kubernetes.io/local-config: 'true'
            data:
              name: app
        "},
    ),
];
const NEWER_BLUEPRINT: Files = &[
    ("Kptfile", KPTFILE),
    ("endpoints.yaml", POINT),
    (
        "more.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: more
            data:
              a: two
        "},
    ),
    (
        "package-context.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: kptfile.kpt.dev
              annotations:
                config.kubernetes.io/local-config: 'true'
            data:
              name: app
        "},
    ),
];
const OBJECTS: Files = &[(
    "objects.yaml",
    indoc! {"
        apiVersion: config.porch.kpt.dev/v1alpha1
        kind: Repository
        metadata:
          name: edge
          namespace: default
          labels:
            edge: 'yes'
        ---
        apiVersion: porch.kpt.dev/v1alpha1
        kind: PackageRevision
        metadata:
          name: catalog.app.v1
          namespace: default
        spec:
          repository: catalog
          packageName: app
          revision: v1
    "},
)];

const VARIANT: &str = indoc! {"
    apiVersion: config.porch.kpt.dev/v1alpha1
    kind: PackageVariant
    metadata:
      name: pv
      namespace: default
    spec:
      upstream: {repo: catalog, package: app, revision: v1}
      downstream: {repo: edge, package: app}
      packageContext: {data: {region: east}}
      injectors: [{name: east}]
"};
const SET: &str = indoc! {"
    apiVersion: config.porch.kpt.dev/v1alpha2
    kind: PackageVariantSet
    metadata:
      name: set
      namespace: default
    spec:
      upstream: {repo: catalog, package: app, revision: v1}
      targets:
      - repositorySelector: {matchLabels: {edge: 'yes'}}
"};

macro_rules! clusters {
    ($path:literal) => {
        include_str!(concat!("../../../examples/render-fleet-clusters/", $path))
    };
}
/// A fleet of which one package is there.
const FLEET: Files = &[
    (
        "cluster-02/web/Kptfile",
        clusters!("package/cluster-02/web/Kptfile"),
    ),
    (
        "cluster-02/web/deployment.yaml",
        clusters!("package/cluster-02/web/deployment.yaml"),
    ),
    (
        "cluster-02/web/package-context.yaml",
        clusters!("package/cluster-02/web/package-context.yaml"),
    ),
];
const CATALOG: &str = concat!(
    "catalog: [{name: catalog, path: ",
    env!("CARGO_MANIFEST_DIR"),
    "/examples/render-fleet-clusters/catalog}]\n"
);

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        function: &apply_config::FUNCTION,
        name: "apply-config",
        package: CONFIG,
        roles: &[(Role::Live, LIVE), (Role::Original, PREVIOUS)],
        typed: Some(("ApplyConfig", "")),
        variant: None,
        other: None,
        place: Place::Render,
    },
    Scenario {
        function: &apply_patch::FUNCTION,
        name: "apply-patch",
        package: CONFIG,
        roles: &[(Role::Patches, PATCHES)],
        typed: Some(("ApplyPatch", "")),
        variant: None,
        other: None,
        place: Place::Render,
    },
    Scenario {
        function: &create_patch::FUNCTION,
        name: "create-patch",
        package: CONFIG,
        roles: &[(Role::Live, LIVE), (Role::Original, PREVIOUS)],
        typed: Some(("CreatePatch", "")),
        variant: None,
        other: None,
        place: Place::Pipe,
    },
    Scenario {
        function: &create_overlay::FUNCTION,
        name: "create-overlay",
        package: LOCAL,
        roles: &[
            (Role::Original, BASE),
            (Role::Upstream, UPSTREAM),
            (Role::Against, UPSTREAM),
        ],
        typed: Some(("CreateOverlay", "")),
        variant: None,
        other: None,
        place: Place::Pipe,
    },
    Scenario {
        function: &review_package::FUNCTION,
        name: "review-package",
        package: LOCAL,
        roles: &[
            (Role::Before, BASE),
            (Role::Original, BASE),
            (Role::Upstream, UPSTREAM),
        ],
        typed: Some(("ReviewPackage", "")),
        variant: None,
        other: None,
        place: Place::Render,
    },
    Scenario {
        function: &merge_package::FUNCTION,
        name: "merge-package",
        package: LOCAL,
        roles: &[(Role::Original, BASE), (Role::Upstream, UPSTREAM)],
        typed: Some(("MergePackage", "")),
        variant: None,
        other: None,
        place: Place::Render,
    },
    Scenario {
        function: &inject_config::FUNCTION,
        name: "inject-config",
        package: POINTS,
        roles: &[(Role::Resources, CLUSTER)],
        typed: Some(("InjectConfig", "injectors: [{name: east}]\n")),
        variant: Some(VARIANT),
        other: None,
        place: Place::Render,
    },
    Scenario {
        function: &render_variant::FUNCTION,
        name: "render-variant",
        package: &[],
        roles: &[(Role::Upstream, BLUEPRINT), (Role::Resources, CLUSTER)],
        typed: None,
        variant: Some(VARIANT),
        other: None,
        place: Place::Eval,
    },
    Scenario {
        function: &render_variant::FUNCTION,
        name: "render-variant",
        package: BLUEPRINT,
        roles: &[
            (Role::Original, BLUEPRINT),
            (Role::Upstream, NEWER_BLUEPRINT),
            (Role::Resources, CLUSTER),
        ],
        typed: None,
        variant: Some(VARIANT),
        other: None,
        place: Place::Render,
    },
    Scenario {
        function: &expand_variant_set::FUNCTION,
        name: "expand-variant-set",
        package: &[],
        roles: &[(Role::Resources, OBJECTS)],
        typed: None,
        variant: None,
        other: Some(SET),
        place: Place::Eval,
    },
    Scenario {
        function: &render_fleet::FUNCTION,
        name: "render-fleet",
        package: FLEET,
        roles: &[
            (
                Role::Variants,
                &[("fleet.yaml", clusters!("variants/fleet.yaml"))],
            ),
            (
                Role::Resources,
                &[("repositories.yaml", clusters!("repositories.yaml"))],
            ),
        ],
        typed: Some(("RenderFleet", CATALOG)),
        variant: None,
        other: None,
        place: Place::Eval,
    },
];
