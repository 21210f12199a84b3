//! Runs the user's `helm` or `kustomize` on a source, in a private folder.
//!
//! ```text
//! FOLDER/source/        the chart, or the files around the kustomization
//! FOLDER/values-1.yaml  the values
//! FOLDER/home/          what the program takes for its configuration and cache
//! FOLDER/zone           the time zone of the second rendering
//! ```
//!
//! Sources come from strangers. So the programs get no plugins, no repositories, no cluster and no configuration, and
//! `kustomize` no base from another machine.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use krm_package::Package;
use krm_render::{
    RenderRequest, RenderedPackage, far_zone, reads_clock, refuse_remote, values_name,
};

use tempfile::TempDir;

use crate::failure::{Failure, Result, command};
use krm_process::LARGEST_DOWNLOAD;
use krm_process::running::{self, ProgramOutput, StopReason, Watch};

/// How long a program may take. It prints nothing before its end.
const PATIENCE: Duration = Duration::from_secs(60);

/// The most characters of what a program says about its failure.
const LONGEST_REASON: usize = 600;

/// Variables that begin like this configure a program, or name a cluster.
const CONFIGURATION: [&str; 3] = ["HELM_", "KUSTOMIZE_", "KUBE"];

/// What the variables of the programs are: folders and files in the private folder that do not exist.
const PRIVATE: [&str; 9] = [
    "HELM_CACHE_HOME",
    "HELM_CONFIG_HOME",
    "HELM_DATA_HOME",
    "HELM_PLUGINS",
    "HELM_REGISTRY_CONFIG",
    "HELM_REPOSITORY_CONFIG",
    "HELM_REPOSITORY_CACHE",
    "KUSTOMIZE_PLUGIN_HOME",
    "KUBECONFIG",
];

/// Where proxied requests end: no server listens there.
const NOWHERE: &str = "http://127.0.0.1:1";

/// Renders a folder of a source twice. `name` is what the user calls it.
pub(crate) fn render(
    source: &Package,
    inner: &str,
    request: &RenderRequest,
    name: &str,
) -> Result<RenderedPackage> {
    let folder = unpacked(source, inner, request)?;
    let first = once(folder.path(), inner, request, name, None)?;
    if source.files().any(|(path, _)| reads_clock(source, path)) {
        // A value made of the time differs in another second.
        std::thread::sleep(Duration::from_millis(1_050));
    }
    fs::write(folder.path().join(ZONE), far_zone())?;
    let second = once(folder.path(), inner, request, name, Some(ZONE))?;
    Ok(RenderedPackage::of_printed(&first, &second))
}

/// A private folder with a source and values.
fn unpacked(source: &Package, inner: &str, request: &RenderRequest) -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    unpack(source, &folder.path().join("source"))?;
    fs::create_dir(folder.path().join("home"))?;
    if let RenderRequest::Helm(helm) = request {
        for (number, bytes) in (1..).zip(&helm.values) {
            fs::write(folder.path().join(values_name(number)), bytes)?;
        }
    } else {
        let refused = refuse_remote(source, inner);
        refused.map_err(|error| Failure::from(error).hint("krmv help get"))?;
    }
    Ok(folder)
}

/// The file with the time zone of the second rendering.
const ZONE: &str = "zone";

/// Writes the files of a source. Their paths were checked when it was read.
fn unpack(source: &Package, folder: &Path) -> Result<()> {
    fs::create_dir(folder)?;
    for (path, _) in source.files() {
        krm_package::check_package_path(path)?;
        let file = folder.join(path);
        if let Some(above) = file.parent() {
            fs::create_dir_all(above)?;
        }
        fs::write(file, source.read(path)?)?;
    }
    Ok(())
}

/// What the program prints, in a time zone that a file in the folder has, or else in the zone of the user.
fn once(
    folder: &Path,
    inner: &str,
    request: &RenderRequest,
    name: &str,
    zone: Option<&str>,
) -> Result<String> {
    let mut program = prepared(folder, inner, request);
    if let Some(zone) = zone {
        program.env("TZ", std::path::absolute(folder.join(zone))?);
    }
    let watch = Watch {
        patience: Some(PATIENCE),
        limit: Some(LARGEST_DOWNLOAD),
        ..Watch::default()
    };
    let output = running::run(&mut program, &watch).map_err(|error| {
        let program = request.program();
        let message = match error.kind() {
            ErrorKind::NotFound => format!(
                "cannot find `{program}` on PATH; this package is what it prints: install {}",
                installation(request)
            ),
            _ => format!("cannot run `{program}`: {error}"),
        };
        Failure::new(message).hint(command([program, "version"]))
    })?;
    if let Some(reason) = failed(&output) {
        let program = request.program();
        let private = folder.to_string_lossy();
        let reason = reason
            .replace(&format!("{private}/"), "")
            .replace(&*private, "");
        let message = format!("`{program}` cannot render {name}: {reason}");
        return Err(Failure::new(message).hint("krmv help get"));
    }
    String::from_utf8(output.stdout).map_err(|_| {
        let program = request.program();
        let message = format!("`{program}` of {name}: expected UTF-8, found other bytes");
        Failure::new(message).hint("krmv help get")
    })
}

fn installation(request: &RenderRequest) -> &'static str {
    match request {
        RenderRequest::Helm(_) => "Helm 3 or later (https://helm.sh/docs/intro/install/)",
        RenderRequest::Kustomize => {
            "kustomize 5 (https://kubectl.docs.kubernetes.io/installation/kustomize/)"
        }
    }
}

/// Why a program failed. `None` if it did not.
fn failed(output: &ProgramOutput) -> Option<String> {
    match output.stopped {
        Some(StopReason::Silence) => {
            return Some(format!("gave up after {} seconds", PATIENCE.as_secs()));
        }
        Some(StopReason::TooMuch) => {
            return Some(format!("it prints more than {} MB", LARGEST_DOWNLOAD >> 20));
        }
        None => {}
    }
    if output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines
        .filter(|line| !line.starts_with("Use --debug flag"))
        .collect();
    let mut reason = lines.join("; ");
    if let Some((at, _)) = reason.char_indices().nth(LONGEST_REASON) {
        reason.truncate(at);
        reason.push_str("...");
    }
    Some(match reason.trim_start_matches("Error: ") {
        "" => format!("it ended with {}", output.status),
        reason => reason.to_owned(),
    })
}

/// The process, with its arguments and environment.
fn prepared(folder: &Path, inner: &str, request: &RenderRequest) -> Command {
    let mut program = Command::new(request.program());
    // Relative to the private folder, so that nothing in its own path counts.
    let source = match inner {
        "" => "./source".to_owned(),
        inner => format!("./source/{inner}"),
    };
    match request {
        RenderRequest::Helm(helm) => {
            program.args(helm.arguments(&source));
        }
        RenderRequest::Kustomize => {
            program.args(["build", &source]);
        }
    }
    program.current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if CONFIGURATION.iter().any(|start| text.starts_with(start)) {
            program.env_remove(&name);
        }
    }
    let home = folder.join("home");
    program.envs(PRIVATE.map(|name| (name, home.join(name.to_lowercase()))));
    program.env("HELM_NO_PLUGINS", "1");
    program.env("TMPDIR", &home);
    // A base on another machine: no Git, and no server.
    program.env("GIT_ALLOW_PROTOCOL", "none");
    program.env("GIT_TERMINAL_PROMPT", "0");
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        program.env(name, NOWHERE);
        program.env(name.to_lowercase(), NOWHERE);
    }
    program.env_remove("NO_PROXY").env_remove("no_proxy");
    program
}
