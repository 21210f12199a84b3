//! Text from data reaches standard error, pages, Markdown and terminals escaped: in all commands and all functions, in
//! every field that is shown.

use std::collections::BTreeSet;
use std::path::Path;

use assert_cmd::Command;
use krm_function::filter::command;
use krm_package::escaped::printable;
use krmv::FUNCTIONS;

use crate::all_functions::binary;
use crate::git::Folder;
use crate::krmv::{SERVICE, World, deployment, on_path};
use crate::render_fleet::Fleet;

/// What a name, a value or an argument can be. It sets the title of a window, erases the screen, begins a line, hides
/// and reorders text, and it is Markdown and HTML.
const HOSTILE: &str = "h\u{1b}]0;x\u{7}\u{1b}[2J\r\nhint: rm\t\u{9b}31m\u{7f}\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}\u{e0041}\
                       |`@ann` <b>[a](b)</b>";

/// What a reference can be: Git refuses most control characters in names.
const REFERENCE: &str = "h\u{9b}31m\u{202e}\u{200b}e";

/// What a file or folder can be called.
fn file_name() -> String {
    HOSTILE.replace('/', "")
}

/// A text in double quotes in YAML, where control characters are escapes.
fn yaml(text: &str) -> String {
    let letter = |c: char| match u32::from(c) {
        34 | 92 => format!("\\{c}"),
        32..=126 => c.to_string(),
        code => format!("\\U{code:08X}"),
    };
    format!("\"{}\"", text.chars().map(letter).collect::<String>())
}

/// The same with the characters that YAML allows in comments and plain scalars.
fn comment() -> String {
    let is_allowed = |c: &char| !c.is_control() && *c != '\u{feff}';
    HOSTILE.chars().filter(is_allowed).collect()
}

/// Fails if a text for a person has anything but printable characters and line endings.
#[track_caller]
fn assert_escaped(text: &str, what: &dyn std::fmt::Debug) {
    for line in text.split('\n') {
        assert_eq!(printable(line), line, "{what:?}");
        assert!(!line.starts_with("hint: rm"), "{what:?}: {text}");
    }
}

/// The commands of `krmv`, from its help.
fn commands(world: &World) -> Vec<String> {
    let help = world.krmv(&["--help"]).stdout;
    let list = help
        .split("Commands:\n")
        .nth(1)
        .expect("a list of commands");
    let list = list.split("\n\n").next().unwrap_or_default();
    let names = list.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty()).then(|| name.to_owned())
    });
    names.collect()
}

/// The flags of a command with a value, and those without, from its help.
fn flags(help: &str) -> (Vec<String>, Vec<String>) {
    let (mut with_value, mut without) = (Vec::new(), Vec::new());
    for line in help.lines().map(str::trim_start) {
        let Some(at) = line
            .find("--")
            .filter(|at| *at <= 4 && line.starts_with('-'))
        else {
            continue;
        };
        let rest = &line[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let (flag, after) = rest.split_at(end.unwrap_or(rest.len()));
        if after.starts_with(" <") {
            with_value.push(flag.to_owned());
        } else if flag != "--help" && flag != "--version" {
            without.push(flag.to_owned());
        }
    }
    (with_value, without)
}

/// A Deployment with a hostile name, namespace, label, argument, environment and comment.
fn hostile_deployment(replicas: u8, value: &str) -> String {
    let (text, comment) = (yaml(HOSTILE), comment());
    let resource = deployment(replicas, "app:1", "64Mi").replace(
        "metadata:\n  name: app\n",
        &format!("metadata: # {comment}\n  name: {text}\n  namespace: {text}\n  labels: {{{text}: {text}}}\n"),
    );
    let value = yaml(&format!("{value}{HOSTILE}"));
    format!(
        "{resource}        args: [{value}, {text}]\n        env:\n        - name: {text}\n          value: {value}\n"
    )
}

/// A world with a package that is hostile in every part, upstream and in the work tree, where it was edited.
fn hostile_world() -> World {
    let world = World::new();
    let name = file_name();
    let kptfile = format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {text}\n  annotations:\n    {text}: {text}\n\
         info:\n  description: {text}\npipeline:\n  mutators:\n  - image: {text}\n    name: {text}\n\
         status:\n  conditions:\n  - type: {text}\n    status: {text}\n    reason: {text}\n    message: {text}\n",
        text = yaml(HOSTILE)
    );
    let put = |path: &str, text: &str| world.folder.put(&format!("catalog/web/{path}"), text);
    for (tag, replicas) in [("v5.0.0", 1), ("v6.0.0", 2)] {
        put("Kptfile", &kptfile);
        put(&format!("{name}.yaml"), &hostile_deployment(replicas, tag));
        put(
            &format!("{name}/{name}.yaml"),
            &hostile_deployment(replicas, tag).replace("app:1", tag),
        );
        put(&format!("{name}/Kptfile"), &kptfile);
        put(&format!("{name}.txt"), &format!("{tag} {HOSTILE}\n"));
        put(&format!("broken{name}.txt"), &format!("{tag}\n"));
        world.release(tag, &deployment(replicas, "app:5", "64Mi"), SERVICE);
        let author = [
            "-c",
            "user.name=h\u{1b}[2J\u{202e}\u{9b}e",
            "-c",
            "user.email=a@b",
        ];
        let commit = [
            "commit",
            "--quiet",
            "--amend",
            "--reset-author",
            "-m",
            HOSTILE,
        ];
        world.folder.git(&[&author[..], &commit[..]].concat());
        world
            .folder
            .git(&["tag", "--force", "-a", "-m", HOSTILE, tag]);
    }
    world.folder.git(&["tag", &format!("v7.0.0-{REFERENCE}")]);
    world.folder.git(&["branch", REFERENCE]);
    world
}

/// The package in the work tree, with edits that conflict with v6.0.0.
fn with_edits(world: &World, directory: &str) {
    let outcome = world.krmv(&["get", "../catalog//web@v5.0.0", directory]);
    outcome.assert_code(0);
    assert_escaped(&outcome.stdout, &"get");
    world.commit(HOSTILE);
    let name = file_name();
    for file in [format!("{name}.yaml"), format!("{name}/{name}.yaml")] {
        let path = format!("{directory}/{file}");
        let own = world.read(&path).replace("replicas: 1", "replicas: 5");
        world.write(&path, &own.replace("v5.0.0h", "own"));
    }
    let path = format!("{directory}/{name}.txt");
    world.write(&path, &format!("own {HOSTILE}\n"));
    world.write(
        &format!("{directory}/added{name}.yaml"),
        &hostile_deployment(1, "own"),
    );
    let mut commit = world.command(Path::new("git"));
    commit.env("GIT_AUTHOR_NAME", "h\u{1b}[2J\u{202e}\u{9b}e");
    commit.args(["-c", "core.quotePath=false", "add", "--all"]);
    assert!(commit.status().expect("git runs").success());
    let mut commit = world.command(Path::new("git"));
    commit.env("GIT_AUTHOR_NAME", "h\u{1b}[2J\u{202e}\u{9b}e");
    commit.args(["commit", "--quiet", "-m", HOSTILE]);
    assert!(commit.status().expect("git runs").success());
}

/// Whether a command line prints JSON or a document, which are bytes in a pipe.
fn is_document(arguments: &[&str]) -> bool {
    let documents = ["--json", "--diff", "diff", "overlay", "completion"];
    arguments.iter().any(|word| documents.contains(word))
}

/// Runs a command; what it prints for a person is escaped.
#[track_caller]
fn check(world: &World, arguments: &[&str]) -> Option<i32> {
    let outcome = world.krmv(arguments);
    assert_escaped(&outcome.stderr, &arguments);
    if !is_document(arguments) {
        assert_escaped(&outcome.stdout, &arguments);
    }
    outcome.code
}

/// Runs that come to what each command shows, in the order in which they are possible.
fn runs<'a>(directory: &'a str, file: &'a str) -> Vec<(Vec<&'a str>, Option<i32>)> {
    let run = |words: &[&'a str], code| (words.to_vec(), code);
    vec![
        run(&["status", directory], Some(3)),
        run(&["status", directory, "--bisect", "*", "-v"], Some(3)),
        run(&["status", directory, "--json"], Some(3)),
        run(&["diff", directory, "--stat"], Some(0)),
        run(&["diff", directory], Some(0)),
        run(&["blame", file], Some(0)),
        run(&["blame", file, HOSTILE], Some(2)),
        run(&["review", directory], Some(0)),
        run(&["review", directory, "v6.0.0", "-v"], Some(0)),
        run(
            &["review", directory, "v6.0.0", "--format", "markdown"],
            Some(0),
        ),
        run(&["overlay", directory], None),
        run(&["overlay", directory, "--into", HOSTILE], None),
        run(&["overlay", "--check", directory], None),
        run(&["upgrade", directory, "v6.0.0", "--diff"], Some(1)),
        run(
            &["upgrade", directory, "v6.0.0", "--dry-run", "-v"],
            Some(1),
        ),
        run(&["upgrade", directory, "v6.0.0"], Some(1)),
        run(&["upgrade", directory, "v5.0.0"], None),
        run(&["upgrade", directory, "v6.0.0", "-v"], Some(1)),
        run(&["status", directory], Some(0)),
        run(&["resolve", directory, "-v"], Some(1)),
        run(&["resolve", directory, HOSTILE], None),
        run(
            &[
                "resolve",
                directory,
                "--take",
                "local",
                "*replicas",
                "--remember",
            ],
            None,
        ),
        run(&["resolve", directory, "--take", "upstream"], None),
        run(&["upgrade", directory, "--abort"], None),
        run(&["get", "../catalog//web", directory], None),
        run(&["get", HOSTILE], Some(2)),
        run(&["skip", directory, HOSTILE], None),
        run(&["allow", directory, HOSTILE], None),
        run(&["fetch", HOSTILE], Some(2)),
        run(&["version"], Some(0)),
        run(&["functions"], Some(0)),
        run(&["completion", HOSTILE], Some(2)),
        run(&["man", "h\u{1b}\u{202e}"], None),
        run(&["help", HOSTILE], Some(2)),
    ]
}

#[test]
fn every_command_of_krmv_escapes_what_a_package_holds() {
    let world = hostile_world();
    let directory = file_name();
    with_edits(&world, &directory);
    let file = format!("{directory}/{}.yaml", file_name());
    let mut tried = BTreeSet::new();
    for (arguments, code) in runs(&directory, &file) {
        let found = check(&world, &arguments);
        assert!(code.is_none() || found == code, "{arguments:?}: {found:?}");
        tried.insert(arguments[0].to_owned());
    }
    let all: BTreeSet<String> = commands(&world).into_iter().collect();
    assert_eq!(tried, all, "a command without a run");
    // Names of references, from other repositories.
    let version = format!("v7.0.0-{REFERENCE}");
    for revision in [REFERENCE, &version, HOSTILE] {
        let source = format!("../catalog//web@{revision}");
        for arguments in [
            &["get", &source, revision][..],
            &["status", revision],
            &["upgrade", revision, "v6.0.0"],
        ] {
            check(&world, arguments);
        }
        check(&world, &["upgrade", &directory, revision, "--dry-run"]);
        check(&world, &["review", &directory, revision]);
        check(&world, &["get", "--adopt", &source, &directory]);
    }
}

#[test]
fn every_flag_of_krmv_escapes_its_value() {
    let world = World::with_package();
    let names = commands(&world);
    assert!(names.len() > 8, "{names:?}");
    for name in &names {
        let help = world.krmv(&[name, "--help"]).stdout;
        assert_escaped(&help, name);
        let (with_value, without) = flags(&help);
        assert!(with_value.contains(&"--color".to_owned()), "{help}");
        check(&world, &[name, HOSTILE]);
        check(&world, &[name, HOSTILE, HOSTILE, HOSTILE]);
        check(&world, &[name, &format!("--{HOSTILE}")]);
        for flag in with_value {
            check(&world, &[name, "web", &flag, HOSTILE]);
            check(&world, &[name, HOSTILE, &format!("{flag}={HOSTILE}")]);
        }
        for flag in without {
            check(&world, &[name, HOSTILE, &flag]);
            check(&world, &[name, &format!("{flag}={HOSTILE}")]);
        }
    }
    check(&world, &[HOSTILE]);
}

#[test]
fn every_field_of_a_kptfile_is_escaped() {
    let world = World::edited();
    let kptfile = world.read("web/Kptfile");
    world.write(
        "web/Kptfile",
        &kptfile.replace("name: web", "name: web\n  namespace: x"),
    );
    let kptfile = world.read("web/Kptfile");
    let mut count = 0;
    for line in kptfile.lines() {
        let Some((key, _)) = line.split_once(": ") else {
            continue;
        };
        let name = key.trim_start();
        let hostile = [
            format!("{key}: {}", yaml(HOSTILE)),
            format!("{}{}: x", &key[..key.len() - name.len()], yaml(HOSTILE)),
        ];
        for hostile in hostile {
            world.write("web/Kptfile", &kptfile.replace(line, &hostile));
            for name in ["status", "upgrade", "diff", "review", "resolve", "overlay"] {
                check(&world, &[name, "web"]);
            }
            check(&world, &["blame", "web/app.yaml"]);
        }
        count += 1;
    }
    assert!(count > 8, "{count} fields");
}

#[test]
fn hints_run_as_they_are_printed() {
    let world = hostile_world();
    let directory = file_name();
    with_edits(&world, &directory);
    let Some(bash) = on_path("bash") else { return };
    let outcome = world.krmv(&["upgrade", &directory, "v6.0.0"]);
    outcome.assert_code(1);
    let hints = crate::krmv::hints(&outcome.stdout);
    let take = hints.iter().find(|hint| hint.contains("--take local"));
    let mut shell = world.command(&bash);
    let folder = Path::new(crate::krmv::KRMV).parent().expect("a folder");
    let path = std::env::var("PATH").expect("a PATH");
    shell.env("PATH", format!("{}:{path}", folder.display()));
    shell.args(["-c", take.expect("a hint")]);
    let output = shell.output().expect("bash runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        text.contains("decided: kept your version"),
        "{text}{hints:?}"
    );
    assert_escaped(&text, take.expect("a hint"));
}

/// On a terminal also documents and JSON are escaped.
#[test]
fn a_terminal_never_gets_a_document_unescaped() {
    let world = World::edited();
    let Some(script) = on_path("script") else {
        return;
    };
    let comment = comment();
    let own = world.read("web/app.yaml");
    world.write(
        "web/app.yaml",
        &own.replace("# by load", &format!("# {comment}")),
    );
    world.write("web/notes.txt", &format!("a\t{HOSTILE}\n"));
    world.commit("edits");
    let merge = binary("merge-package");
    let merge = format!(
        "{} --package web --original auto --upstream ../catalog//web",
        merge.display()
    );
    let krmv = crate::krmv::KRMV;
    for line in [
        format!("{krmv} diff web"),
        format!("{krmv} upgrade web v2.0.0 --diff"),
        format!("{krmv} overlay web"),
        format!("{krmv} status web --json"),
        format!("{krmv} diff web --json"),
        format!("{krmv} blame web/app.yaml"),
        format!("{merge} --diff"),
        format!(
            "{} --package web region=x --diff",
            binary("set-package-context").display()
        ),
        format!(
            "cat web/app.yaml | {}",
            binary("set-package-context").display()
        ),
    ] {
        for color in ["never", "always"] {
            let mut on_terminal = world.command(&script);
            let whole = format!("{line} --color {color}");
            on_terminal.args(["--quiet", "--return", "--command", &whole, "/dev/null"]);
            let output = on_terminal
                .env("TERM", "xterm")
                .output()
                .expect("script runs");
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            let mut text = text.replace("\r\n", "\n").replace('\t', " ");
            if color == "always" {
                for style in ["0", "1", "2", "31", "32", "33", "36"] {
                    text = text.replace(&format!("\u{1b}[{style}m"), "");
                }
            }
            assert!(text.len() > 20, "{line}: {text}");
            assert_escaped(&text, &whole);
        }
    }
}

/// The files that the roles of the functions need, all of them hostile.
fn inputs() -> Folder {
    let folder = Folder::new(&[]);
    let name = file_name();
    for (role, replicas) in [("package", 1), ("old", 2), ("new", 3)] {
        let resource = hostile_deployment(replicas, role);
        folder.put(&format!("{role}{name}/{name}.yaml"), &resource);
        folder.put(
            &format!("{role}{name}/{name}/{name}.yaml"),
            resource.replace("64Mi", role),
        );
        folder.put(
            &format!("{role}{name}/{name}.txt"),
            format!("{role}{HOSTILE}"),
        );
        folder.put(
            &format!("{role}{name}/broken{name}.yaml"),
            format!("# {}\na: b\n", comment()),
        );
        let kptfile = format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {}\n",
            yaml(HOSTILE)
        );
        folder.put(&format!("{role}{name}/Kptfile"), kptfile);
    }
    folder.put(
        &format!("invalid{name}/{name}.yaml"),
        format!("a: [{}\n\tb", comment()),
    );
    folder.put("invalid.yaml", format!("{}: [x", yaml(HOSTILE)));
    folder
}

/// Runs a function; what it prints for a person is escaped. Its standard output is documents, except for a review.
#[track_caller]
fn check_function(folder: &Folder, name: &str, arguments: &[&str], stdin: &str) -> String {
    let output = Command::new(binary(name))
        .current_dir(folder.path(""))
        .args(arguments)
        .write_stdin(stdin)
        .output()
        .expect("the binary runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_escaped(&stderr, &(name, arguments, stdin));
    if name == "review-package" && arguments.contains(&"--package") {
        let stdout = String::from_utf8(output.stdout).expect("UTF-8");
        assert_escaped(&stdout, &(name, arguments));
    }
    stderr
}

#[test]
fn every_function_escapes_what_its_inputs_hold() {
    let folder = inputs();
    let name = file_name();
    let [package, old, new, invalid] =
        ["package", "old", "new", "invalid"].map(|role| format!("{role}{name}"));
    for function in FUNCTIONS {
        let mut shown = String::new();
        let mut roles = Vec::new();
        for (at, role) in function.roles.iter().enumerate() {
            roles.push(format!("--{}", role.as_str()));
            roles.push([&old, &new][at % 2].clone());
        }
        let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
        for directory in [&package, &invalid, &name] {
            for extra in [&["--verbose"][..], &["--check"], &["--diff"]] {
                let arguments = [&["--package", directory], &roles[..], extra].concat();
                shown += &check_function(&folder, function.name, &arguments, "");
            }
        }
        for (at, _) in function.roles.iter().enumerate() {
            for other in [&invalid, &name, &"invalid.yaml".to_owned()] {
                let mut roles = roles.clone();
                roles[2 * at + 1] = other;
                let arguments = [&["--package", &package], &roles[..]].concat();
                shown += &check_function(&folder, function.name, &arguments, "");
            }
        }
        for (api_version, kind) in function.configs {
            for config in [
                format!(
                    "metadata: {{name: {0}}}\nspec: {{{0}: {0}}}\n{0}: {0}\ndata: {{{0}: {0}}}",
                    yaml(HOSTILE)
                ),
                format!(
                    "metadata: {{name: {0}, annotations: {{{0}: {0}}}}}\ndata: {{{0}: {0}}}",
                    yaml(HOSTILE)
                ),
            ] {
                let config = format!("apiVersion: {api_version}\nkind: {kind}\n{config}\n");
                folder.put("config.yaml", &config);
                let arguments = [
                    &["--package", &package, "--config", "config.yaml"],
                    &roles[..],
                ]
                .concat();
                shown += &check_function(&folder, function.name, &arguments, "");
            }
        }
        let list = format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig: {{apiVersion: v1, kind: {0}}}\nitems:\n\
             - {{apiVersion: v1, kind: {0}, metadata: {{name: {0}, annotations: {{config.kubernetes.io/path: {0}}}}}}}\n",
            yaml(HOSTILE)
        );
        shown += &check_function(&folder, function.name, &roles, &list);
        shown += &check_function(&folder, function.name, &[], &comment());
        shown += &check_function(&folder, function.name, &[], "a: [\u{1b}\u{202e}");
        assert!(shown.contains(r"\u{202e}"), "{}: {shown}", function.name);
    }
}

#[test]
fn every_argument_of_a_function_is_escaped() {
    let folder = inputs();
    for function in FUNCTIONS {
        let mut shown = check_function(&folder, function.name, &[HOSTILE], "");
        shown += &check_function(&folder, function.name, &[&format!("--{HOSTILE}")], "");
        shown += &check_function(
            &folder,
            function.name,
            &[&format!("{HOSTILE}={HOSTILE}")],
            "",
        );
        for argument in command(function).get_arguments() {
            let Some(flag) = argument.get_long() else {
                continue;
            };
            let flag = format!("--{flag}={HOSTILE}");
            shown += &check_function(&folder, function.name, &[&flag], "");
            shown += &check_function(&folder, function.name, &["--package", HOSTILE, &flag], "");
        }
        assert!(shown.contains(r"\u{202e}"), "{}: {shown}", function.name);
    }
}

/// A review of a hostile package as a comment: its tables have as many cells as their heads, and no markup of others.
#[test]
fn nothing_in_a_package_is_markup_of_a_comment() {
    let folder = inputs();
    let name = file_name();
    let [package, old] = ["package", "old"].map(|role| format!("{role}{name}"));
    let output = Command::new(binary("review-package"))
        .current_dir(folder.path(""))
        .args([
            "--package",
            &package,
            "--before",
            &old,
            "--format",
            "markdown",
        ])
        .output()
        .expect("the binary runs");
    let page = String::from_utf8(output.stdout).expect("UTF-8");
    assert_escaped(&page, &"markdown");
    assert!(page.matches('\n').count() > 5, "{page}");
    let columns = page.lines().find(|line| line.starts_with("|---"));
    let columns = columns.expect("a table").matches('|').count();
    for line in page.lines().filter(|line| line.starts_with('|')) {
        assert_eq!(line.matches('|').count(), columns, "{line}");
    }
    let mut rest = page.clone();
    for own in [
        "<code>",
        "</code>",
        "<br>",
        "<span>",
        "</span>",
        "<details>",
        "</details>",
        "<summary>",
        "</summary>",
    ] {
        rest = rest.replace(own, "");
    }
    // `&#64;` and the like are characters.
    let rest = rest.replace("&#", "").replace("### ", "");
    assert!(
        !rest.contains(['<', '>', '@', '[', ']', '`', '*', '_', '#']),
        "{rest}"
    );
}

#[test]
fn nothing_in_a_package_is_markup_of_a_page() {
    let fleet = Fleet::new();
    let name = file_name();
    fleet.put("one", "v1", "r/app", "");
    fleet.run(&[]).assert_code(0);
    let own = "fleet/r/app";
    let local = crate::git::map("1", "0").replace("\"1\"", &yaml(HOSTILE));
    fleet.folder.put(&format!("{own}/cm.yaml"), local);
    fleet
        .folder
        .put(&format!("{own}/{name}.yaml"), hostile_deployment(1, "own"));
    let upstream = hostile_deployment(2, "new");
    fleet
        .folder
        .put(&format!("catalog/nginx/{name}.yaml"), &upstream);
    fleet.folder.put(
        &format!("catalog/nginx/{name}/other.yaml"),
        upstream.replace("app:1", "app:2"),
    );
    fleet
        .folder
        .put(&format!("catalog/nginx/{name}.txt"), HOSTILE);
    fleet.folder.commit(HOSTILE);
    fleet.folder.git(&["tag", "v9"]);
    fleet.put("one", "v9", "r/app", "");
    let title = format!("--report-title={HOSTILE}");
    for arguments in [&["--report", "r.html"][..], &["--report", "r.html", &title]] {
        assert_escaped(&fleet.run(arguments).stderr, &arguments);
    }
    let page = fleet.folder.get("r.html");
    assert_escaped(
        &page.replace('\t', " ").replace("\nhint: rm", ""),
        &"the page",
    );
    assert!(
        page.contains("&#60;b&#62;[a](b)") && page.contains(r"\u{202e}"),
        "{page}"
    );
    assert!(!page.contains("<b>[a]"), "{page}");
}
