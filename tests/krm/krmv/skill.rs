//! The page for agents, `skills/krmv/SKILL.md`, names fields that `--json` prints.

use serde_json::Value;

use super::World;

const PAGE: &str = include_str!("../../../skills/krmv/SKILL.md");

/// Whether a document has a field at `a[].b.c`, in at least one element of each list.
fn has(document: &Value, path: &str) -> bool {
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, is_list) = match head.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (head, false),
    };
    let Some(value) = document.get(name) else {
        return false;
    };
    match value.as_array() {
        Some(elements) if is_list => elements
            .iter()
            .any(|element| rest.is_empty() || has(element, rest)),
        _ => !is_list && (rest.is_empty() || has(value, rest)),
    }
}

/// The rows of the table: the fields, and the commands that print them.
fn rows() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let (_, table) = PAGE.split_once("|---|---|---|\n").expect("a table");
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let fields = cells[0].split('`').skip(1).step_by(2).collect();
        (fields, cells[1].split(", ").collect())
    })
    .collect()
}

#[test]
fn each_field_that_the_page_names_is_printed() {
    let world = World::edited();
    let get = ["get", "../catalog//web@v1.0.0", "plain"];
    world.krmv(&get).assert_code(0);
    world.commit("plain");
    let before = world.json(&["status"]);
    let upgrade = world.json(&["upgrade", "web", "v2.0.0"]);
    let open = world.json(&["status"]);
    let resolve = world.json(&["resolve", "web", "spec.replicas", "--take", "local"]);
    let review = world.json(&["review", "web"]);
    world.commit("web");
    let all = world.json(&["upgrade", "--all"]);
    for (fields, commands) in rows() {
        assert!(!fields.is_empty() && !commands.is_empty());
        for (field, command) in fields
            .iter()
            .flat_map(|field| commands.iter().map(move |command| (field, command)))
        {
            let documents = match *command {
                "status" => vec![&before, &open],
                "upgrade" => vec![&upgrade],
                "resolve" => vec![&resolve],
                "review" => vec![&review],
                "upgrade --all" => vec![&all],
                other => panic!("not a command with JSON: {other}"),
            };
            let is_printed = documents.iter().any(|document| has(document, field));
            assert!(is_printed, "{command} prints no `{field}`: {documents:?}");
        }
    }
}
