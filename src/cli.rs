//! The commands and their flags.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use krm_function::filter::{Color, ReportFormat};

/// Keeps a configuration package up to date with its upstream, without losing your edits
#[derive(Debug, Parser)]
#[command(
    name = "krmv",
    version,
    max_term_width = 80,
    disable_help_subcommand = true,
    after_help = "Every function is a command too: `krmv functions` lists them, `krmv merge-package --help` \
                  explains one.",
    after_long_help = "Every function is a command too: `krmv functions` lists them, `krmv merge-package --help` \
                  explains one.\n\nExit codes:\n  0  done\n  1  conflicts are undecided, or an error result\n  \
                  2  wrong usage or input, or Git failed\n  3  status: a newer release exists"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Print one JSON document for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Stay off the network: read repositories from the cache
    #[arg(long, global = true)]
    pub(crate) offline: bool,
    /// List what is otherwise grouped
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Get(GetArguments),
    Fetch(FetchArguments),
    Upgrade(UpgradeArguments),
    Skip(SkipArguments),
    Allow(AllowArguments),
    Resolve(ResolveArguments),
    Diff(DiffArguments),
    Status(StatusArguments),
    Review(ReviewArguments),
    Blame(BlameArguments),
    Overlay(OverlayArguments),
    /// Print the version
    Version,
    /// List the functions, which are commands too
    Functions,
    /// Print the completions for a shell
    #[command(
        after_help = "Example:\n  krmv completion bash > ~/.local/share/bash-completion/completions/krmv"
    )]
    Completion {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages into a directory
    #[command(after_help = "Example:\n  krmv man ~/.local/share/man/man1")]
    Man {
        /// The directory
        directory: PathBuf,
    },
    /// Explain a command or a topic: conflicts, state
    #[command(after_help = "Examples:\n  krmv help upgrade\n  krmv help conflicts")]
    Help {
        /// A command, function or topic
        topic: Option<String>,
    },
}

/// Create a package from a repository, release file, chart or image, with the lock that upgrades start from
///
/// SOURCE is a URL or a path: REPOSITORY[//DIRECTORY or FILE][@REVISION], or REPO.git/DIR@REV as in kpt.
/// It can also be a release file over HTTPS, an address copied from a browser, a Helm chart
/// (helm+https://HOST/PATH//NAME), an image or chart of a registry (oci://HOST/REPOSITORY[:TAG]), an archive
/// (app-1.2.0.tgz[//DIRECTORY]) or an image layout (oci:PATH[:TAG]). With `//values.yaml` after a chart, it is that
/// file alone. Without a revision, it is the newest final release.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    krmv get https://github.com/example/catalog//web@v1.2.0\n  \
    krmv get https://github.com/argoproj/argo-cd//manifests/install.yaml@v3.1.0 argo-cd\n  \
    krmv get https://github.com/example/app/releases/latest/download/app.yaml\n  \
    krmv get helm+https://charts.example.com//app//values.yaml app\n  \
    krmv get helm+https://charts.example.com//app app --render helm --values app.yaml\n  \
    krmv get --adopt https://github.com/example/catalog//web my-old-copy")]
pub(crate) struct GetArguments {
    /// Where the package comes from
    pub(crate) source: String,
    /// The new directory; if it exists, the package is created inside it
    pub(crate) directory: Option<PathBuf>,
    /// Record the upstream of an existing copy; krmv finds the revision by its content
    #[arg(long)]
    pub(crate) adopt: bool,
    /// For an address with `{version}` or `{tag}` in it: the repository whose tags are the releases
    #[arg(long, value_name = "REPOSITORY")]
    pub(crate) tags: Option<String>,
    /// Create the package from what this program renders: `helm template` or `kustomize build`
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) render: Option<RenderProgram>,
    /// For Helm: a file with values, in the work tree of the package
    #[arg(long, value_name = "FILE", requires = "render")]
    pub(crate) values: Vec<PathBuf>,
    /// For Helm: the name of the release (default: the name of the package)
    #[arg(long, value_name = "NAME", requires = "render")]
    pub(crate) release: Option<String>,
    /// For Helm: the namespace of the release
    #[arg(long, value_name = "NAMESPACE", requires = "render")]
    pub(crate) namespace: Option<String>,
    /// For Helm: the Kubernetes release
    #[arg(long, value_name = "VERSION", requires = "render")]
    pub(crate) kube_version: Option<String>,
}

/// What renders a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RenderProgram {
    Helm,
    Kustomize,
}

/// Fetch a revision into the cache and print its path
///
/// Functions read files on this machine: pass the printed path to their flags.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    krmv fetch oci://ghcr.io/example/web:1.3.0")]
pub(crate) struct FetchArguments {
    /// What to fetch, as for `krmv get`
    pub(crate) source: String,
    /// For an address with `{version}` or `{tag}` in it: the repository whose tags are the releases
    #[arg(long, value_name = "REPOSITORY")]
    pub(crate) tags: Option<String>,
}

/// Merge a newer revision of upstream into a package
///
/// Conflicts that no rule decides keep your value; `krmv resolve` decides them. While one is
/// undecided, `upstreamLock` stays at the old revision.
#[derive(Debug, Clone, Args)]
#[command(
    override_usage = "krmv upgrade [OPTIONS] [DIR] [REV]\n       krmv upgrade [OPTIONS] --all [DIR]...",
    after_help = "Examples:\n  krmv upgrade\n  krmv upgrade v1.4.0 --dry-run\n  krmv upgrade web '~1.4'\n  \
    krmv upgrade --all apps --commit\n  krmv upgrade --all --branch    # every night"
)]
pub(crate) struct UpgradeArguments {
    /// The package (default: the current directory), then the revision: a tag, branch or commit,
    /// `latest`, or a range like `~1.2` (default: what the package follows). With --all: directories
    #[arg(value_name = "DIR] [REV", num_args = 0..)]
    pub(crate) arguments: Vec<String>,
    /// Upgrade every package below the directories; one that fails does not stop the others
    #[arg(long, conflicts_with_all = ["diff", "abort"])]
    pub(crate) all: bool,
    /// With --all: commit each package, and run your hooks
    #[arg(long, requires = "all", conflicts_with_all = ["dry_run", "markers", "force"])]
    pub(crate) commit: bool,
    /// With --all: commit each package on a branch PREFIX/PATH that begins at HEAD, and leave the work
    /// tree as it is
    #[arg(long, value_name = "PREFIX", num_args = 0..=1, require_equals = true,
        default_missing_value = "krmv", requires = "all",
        conflicts_with_all = ["dry_run", "markers", "force"])]
    pub(crate) branch: Option<String>,
    /// With --all: also upgrade subpackages that upstream brought; their addresses are upstream's choice
    #[arg(long, requires = "all")]
    pub(crate) all_upstreams: bool,
    /// Decide all conflicts in favour of one side
    #[arg(long, value_name = "SIDE", value_parser = side())]
    pub(crate) take: Option<Take>,
    /// Write undecided conflicts as conflict markers, for an editor
    #[arg(long, conflicts_with_all = ["take", "dry_run", "diff"])]
    pub(crate) markers: bool,
    /// Write nothing; show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write nothing; print the diff
    #[arg(long)]
    pub(crate) diff: bool,
    /// Upgrade even if the package has uncommitted changes
    #[arg(long)]
    pub(crate) force: bool,
    /// Restore the package to its state before the open upgrade
    #[arg(long, conflicts_with_all = ["take", "markers", "dry_run", "diff", "force"])]
    pub(crate) abort: bool,
}

/// Leave out a release: `status` and `upgrade` skip it
///
/// The package's `.krmv.yaml` records it. You can still upgrade to the release by its name.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  krmv skip v1.4.0\n  krmv skip web v1.4.0")]
pub(crate) struct SkipArguments {
    /// The package (default: the current directory), then the release
    #[arg(value_name = "DIR] [REV", num_args = 1..=2, required = true)]
    pub(crate) arguments: Vec<String>,
}

/// Count only the releases in a range of versions
///
/// The package's `.krmv.yaml` records it. You can still upgrade to another release by its name.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  krmv allow '<4'\n  krmv allow web '~1.4'")]
pub(crate) struct AllowArguments {
    /// The package (default: the current directory), then the range
    #[arg(value_name = "DIR] [RANGE", num_args = 1..=2, required = true)]
    pub(crate) arguments: Vec<String>,
}

/// Decide the conflicts of an upgrade
///
/// PATTERN is a glob over FILE, FIELD or FILE:FIELD, or names a resource: Kind/name. Without one, it means all
/// conflicts. Without --take, krmv lists them or, on a terminal, asks about each.
#[derive(Debug, Args)]
#[command(
    override_usage = "krmv resolve [OPTIONS] [DIR] [PATTERN]...",
    after_help = "Examples:\n  krmv resolve\n  krmv resolve --take local 'spec.replicas'\n  \
    krmv resolve --take upstream --remember '*image'\n  krmv resolve --take file app.yaml"
)]
pub(crate) struct ResolveArguments {
    /// The package (default: the current directory), then patterns
    #[arg(value_name = "DIR] [PATTERN")]
    pub(crate) arguments: Vec<String>,
    /// Decide in favour of one side, or keep what the file has now
    #[arg(long, value_name = "SIDE")]
    pub(crate) take: Option<Take>,
    /// Write the decision to .krmv.yaml, for later upgrades
    #[arg(long, requires = "take")]
    pub(crate) remember: bool,
    /// List the conflicts without asking, even on a terminal
    #[arg(long, conflicts_with = "take")]
    pub(crate) list: bool,
}

/// Show what you changed since the original revision
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  krmv diff web\n  krmv diff web --stat")]
pub(crate) struct DiffArguments {
    /// The package
    #[arg(default_value = ".")]
    pub(crate) directory: PathBuf,
    /// Count the changed lines of each resource
    #[arg(long)]
    pub(crate) stat: bool,
    /// Also show the values of Secrets
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

/// Show the revision, edits and newer releases of each package below a directory
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  krmv status\n  krmv status apps --json\n  krmv status web --bisect spec.replicas"
)]
pub(crate) struct StatusArguments {
    /// Directories with packages
    #[arg(default_value = ".")]
    pub(crate) directories: Vec<PathBuf>,
    /// Name the newer releases that change a field: its path, `Kind/name:path`, or a glob over either
    #[arg(long, value_name = "FIELD")]
    pub(crate) bisect: Option<String>,
    /// Also contact the upstreams of subpackages that came from upstream: upstream chose their addresses
    #[arg(long)]
    pub(crate) all_upstreams: bool,
}

/// Show what an upgrade or your changes mean for the cluster
///
/// With REV, it shows what an upgrade to it changes; without, what you changed since the last commit or, if everything
/// is committed, since the original revision. The most dangerous changes come first. Several packages, or a
/// directory of packages, are one review.
#[derive(Debug, Args)]
#[command(
    override_usage = "krmv review [OPTIONS] [DIR]... [REV]",
    after_help = "Examples:\n  krmv review web v1.4.0\n  krmv review web --from lock\n  \
    krmv review web --from v1.3.0 v1.4.0    # two releases, without your edits\n  \
    krmv review web '~1.4' --format markdown --fail-on dangerous"
)]
pub(crate) struct ReviewArguments {
    /// The packages, or directories of packages (default: the current directory), then the revision to
    /// upgrade to
    #[arg(value_name = "DIR]... [REV", num_args = 0..)]
    pub(crate) arguments: Vec<String>,
    /// Where the change begins: `lock` (the original revision), `HEAD` (your last commit), or a
    /// revision of upstream
    #[arg(long, value_name = "STATE")]
    pub(crate) from: Option<String>,
    /// The output format; markdown: a comment for a pull request
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,
    /// Exit with 1 from this risk on: never (default), dangerous, blocking
    #[arg(long, value_name = "RISK", value_parser = ["never", "dangerous", "blocking"])]
    pub(crate) fail_on: Option<String>,
    /// The Kubernetes release that must serve every API version, such as 1.34
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: Option<String>,
}

/// Show who set each field of a file: a release of upstream, or a commit of yours
///
/// It follows moved files and renamed resources. It shows no values.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  krmv blame web/app.yaml\n  krmv blame web/app.yaml spec.replicas\n  \
    krmv blame web/app.yaml '*.image'"
)]
pub(crate) struct BlameArguments {
    /// A file of a package
    pub(crate) file: PathBuf,
    /// A field with everything below it, or a glob over fields
    pub(crate) field: Option<String>,
}

/// Show a package as its upstream and a kustomize overlay
///
/// krmv proves that the overlay builds the same resources as the package.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  krmv overlay web --into overlays/web --verify\n  \
    krmv overlay --check overlays/web    # after an upgrade of its base"
)]
pub(crate) struct OverlayArguments {
    /// The package
    #[arg(default_value = ".")]
    pub(crate) directory: PathBuf,
    /// Write the files into a directory that is empty or does not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Also show the values of Secrets. The files of --into always have them
    #[arg(long)]
    pub(crate) show_secrets: bool,
    /// Also compare with the output of the kustomize on PATH
    #[arg(long)]
    pub(crate) verify: bool,
    /// Check an overlay: list its patches that match nothing in the base, or change nothing. Exit with 1
    /// if there are any
    #[arg(long, value_name = "DIR", conflicts_with_all = ["into", "verify"])]
    pub(crate) check: Option<PathBuf>,
}

/// Which side wins a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Take {
    Local,
    Upstream,
    File,
}

impl Take {
    /// How a report describes conflicts that were decided this way.
    pub(crate) fn done(self) -> &'static str {
        match self {
            Self::Local => "kept your version",
            Self::Upstream => "took upstream's version",
            Self::File => "kept what the file has",
        }
    }
}

/// The values of `upgrade --take`. `file` is not among them: before the merge, the file has no decision to keep.
fn side() -> impl TypedValueParser<Value = Take> {
    PossibleValuesParser::new(["local", "upstream"]).try_map(|side| Take::from_str(&side, false))
}
