//! The scenarios: for each function its package and what fills its roles.

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
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\n  annotations:\n    team: web\ndata:\n  a: new\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\n  namespace: shop\ndata:\n  a: new\n",
    ),
];
const LIVE: Files = &[(
    "cluster.yaml",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\n  uid: x\n  annotations:\n    seen: 'yes'\ndata:\n  a: old\n  b: gone\n  c: live\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\n  namespace: shop\n  uid: y\ndata:\n  a: old\n",
)];
const PREVIOUS: Files = &[(
    "before/last.yaml",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\ndata:\n  a: old\n  b: gone\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\n  namespace: shop\ndata:\n  a: old\n",
)];
const PATCHES: Files = &[(
    "p/patches.yaml",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\n  annotations:\n    patched: 'yes'\ndata:\n  b: patched\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\n  namespace: shop\ndata:\n  a: null\n  b: patched\n",
)];
const BASE: Files = &[
    ("Kptfile", KPTFILE),
    (
        "app.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  a: one\n  b: one\n",
    ),
    (
        "gone.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: gone\ndata:\n  a: one\n",
    ),
];
const LOCAL: Files = &[
    ("Kptfile", KPTFILE),
    (
        "app.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  a: one\n  b: local\n",
    ),
    (
        "gone.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: gone\ndata:\n  a: one\n",
    ),
];
const UPSTREAM: Files = &[
    ("Kptfile", KPTFILE),
    (
        "app.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  annotations:\n    team: web\ndata:\n  a: two\n  b: one\n",
    ),
    (
        "new/new.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: new\ndata:\n  a: two\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: newer\n  annotations:\n    team: web\ndata:\n  a: two\n",
    ),
];
const POINT: &str = "apiVersion: example.com/v1\nkind: Endpoints\nmetadata:\n  name: endpoints\n  annotations:\n    kpt.dev/config-injection: required\nspec: {}\n";
const POINTS: Files = &[("Kptfile", KPTFILE), ("endpoints.yaml", POINT)];
const CLUSTER: Files = &[(
    "east/endpoints.yaml",
    "apiVersion: example.com/v1\nkind: Endpoints\nmetadata:\n  name: east\nspec:\n  auth: auth.example.com\n",
)];
const BLUEPRINT: Files = &[
    ("Kptfile", KPTFILE),
    ("endpoints.yaml", POINT),
    (
        "package-context.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n  annotations:\n    config.kubernetes.io/local-config: 'true'\ndata:\n  name: app\n",
    ),
];
const NEWER_BLUEPRINT: Files = &[
    ("Kptfile", KPTFILE),
    ("endpoints.yaml", POINT),
    (
        "more.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more\ndata:\n  a: two\n",
    ),
    (
        "package-context.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n  annotations:\n    config.kubernetes.io/local-config: 'true'\ndata:\n  name: app\n",
    ),
];
const OBJECTS: Files = &[(
    "objects.yaml",
    "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata:\n  name: edge\n  namespace: default\n  labels:\n    edge: 'yes'\n---\napiVersion: porch.kpt.dev/v1alpha1\nkind: PackageRevision\nmetadata:\n  name: catalog.app.v1\n  namespace: default\nspec:\n  repository: catalog\n  packageName: app\n  revision: v1\n",
)];

const VARIANT: &str = "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: pv\n  namespace: default\nspec:\n  upstream: {repo: catalog, package: app, revision: v1}\n  downstream: {repo: edge, package: app}\n  packageContext: {data: {region: east}}\n  injectors: [{name: east}]\n";
const SET: &str = "apiVersion: config.porch.kpt.dev/v1alpha2\nkind: PackageVariantSet\nmetadata:\n  name: set\n  namespace: default\nspec:\n  upstream: {repo: catalog, package: app, revision: v1}\n  targets:\n  - repositorySelector: {matchLabels: {edge: 'yes'}}\n";

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
