//! JSON Schemas of all configs, for editors, generated from the structs that the functions read. The code exists only
//! in tests: `UPDATE_EXPECT=1 cargo test -p krmv --lib schemas` writes `schemas/` and `docs/configs.md`.
//!
//! The schemas do not express that null counts as an absent field.

use expect_test::expect_file;
use std::fmt::Write;
use std::path::Path;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use apply_config::ApplyConfig;
use apply_patch::ApplyPatch;
use create_overlay::CreateOverlay;
use create_patch::CreatePatch;
use inject_config::config::InjectConfig;
use krm_core::config::{API_VERSION, ConfigKind, Keys, PACKAGE_VARIANT};
use krm_core::package_variant::PackageVariant;
use krm_core::package_variant::schema::RELATIVE_PATH;
use krm_function::Function;
use krm_function::supplied::Role;
use krm_merge::decided::{PolicyFile, RulesFile};
use krm_patch::target::Target;
use krm_variant::package_variant_set::{self, PackageVariantSet};
use merge_package::config::MergePackage;
use prepend_pipeline::PrependPipeline;
use render_fleet::config::RenderFleet;
use review_package::ReviewPackage;
use set_package_context::SetPackageContext;

/// A config whose schema is `schemas/<kind>.json`.
struct Config {
    kind: ConfigKind,
    /// The function that reads the config.
    function: &'static Function,
    /// Whether the function's roles and keys are fields of the config.
    is_own: bool,
    /// Whether `metadata.name` is required.
    is_named: bool,
    schema: fn(SchemaGenerator) -> Schema,
}

/// All configs. To add one, add a line here.
fn configs() -> [Config; 14] {
    const SET: ConfigKind = (package_variant_set::API_VERSION, package_variant_set::KIND);
    const RULES: ConfigKind = (API_VERSION, "ConflictRules");
    const POLICY: ConfigKind = (API_VERSION, "UpgradePolicy");
    [
        own::<MergePackage>("MergePackage", &merge_package::FUNCTION),
        own::<RenderFleet>("RenderFleet", &render_fleet::FUNCTION),
        of::<PolicyFile>(POLICY, &merge_package::FUNCTION),
        of::<RulesFile>(RULES, &merge_package::FUNCTION),
        named::<PackageVariant>(PACKAGE_VARIANT, &render_variant::FUNCTION),
        named::<PackageVariantSet>(SET, &expand_variant_set::FUNCTION),
        own::<SetPackageContext>("SetPackageContext", &set_package_context::FUNCTION),
        named::<PrependPipeline>(
            (API_VERSION, "PrependPipeline"),
            &prepend_pipeline::FUNCTION,
        ),
        own::<InjectConfig>("InjectConfig", &inject_config::FUNCTION),
        own::<ApplyPatch>("ApplyPatch", &apply_patch::FUNCTION),
        own::<CreatePatch>("CreatePatch", &create_patch::FUNCTION),
        own::<ApplyConfig>("ApplyConfig", &apply_config::FUNCTION),
        own::<CreateOverlay>("CreateOverlay", &create_overlay::FUNCTION),
        own::<ReviewPackage>("ReviewPackage", &review_package::FUNCTION),
    ]
}

fn of<T: JsonSchema>(kind: ConfigKind, function: &'static Function) -> Config {
    Config {
        kind,
        function,
        is_own: false,
        is_named: false,
        schema: SchemaGenerator::into_root_schema_for::<T>,
    }
}

/// A config with the roles and keys of its function.
fn own<T: JsonSchema>(kind: &'static str, function: &'static Function) -> Config {
    Config {
        is_own: true,
        ..of::<T>((API_VERSION, kind), function)
    }
}

/// A config that requires a name, because the function's output contains it.
fn named<T: JsonSchema>(kind: ConfigKind, function: &'static Function) -> Config {
    Config {
        is_named: true,
        ..of::<T>(kind, function)
    }
}

impl Config {
    /// The JSON Schema, draft 7, which editors support.
    fn to_schema(&self) -> Value {
        let (version, kind) = self.kind;
        let mut schema = (self.schema)(SchemaSettings::draft07().into_generator()).to_value();
        schema["title"] = kind.into();
        let properties = &mut schema["properties"];
        properties["apiVersion"] = json!({"const": version});
        properties["kind"] = json!({"const": kind});
        if self.is_own {
            for role in self.function.roles {
                properties[role.as_str()] = role_schema(*role);
            }
            self.add_keys(properties);
            schema["description"] = self.function.about.into();
        }
        if self.is_named {
            let fields = schema["properties"].as_object().expect("a map");
            let wanted = ["metadata", "spec"].into_iter();
            let wanted = wanted
                .filter(|field| fields.contains_key(*field))
                .map(Value::from);
            let wanted: Vec<Value> = wanted.collect();
            let required = schema["required"].as_array_mut().expect("a list");
            required.extend(wanted);
            schema["definitions"]["Metadata"]["required"] = json!(["name"]);
        }
        if self.function.roles.contains(&Role::Patches) {
            let target = SchemaSettings::draft07().into_generator();
            let target = target.into_root_schema_for::<Target>().to_value();
            let mut definitions = target["definitions"].clone();
            definitions["Target"] = target;
            for (name, definition) in definitions.as_object().expect("a map") {
                schema["definitions"][name] = definition.clone();
            }
            let target = schema["definitions"]["Target"]
                .as_object_mut()
                .expect("a map");
            target.retain(|key, _| !matches!(key.as_str(), "$schema" | "definitions"));
        }
        simplify(&mut schema);
        schema
    }

    /// Adds the enumerations, defaults and descriptions of the scalar fields.
    fn add_keys(&self, properties: &mut Value) {
        let Keys::These(keys) = self.function.keys else {
            return;
        };
        for key in keys {
            let Some(field) = properties.get_mut(key.name) else {
                continue;
            };
            field["description"] = capitalized(key.help).into();
            field["default"] = key.words[0].into();
            if key.words.contains(&"true") {
                field["default"] = (key.words[0] == "true").into();
            } else if key.words.len() > 1 {
                field["enum"] = key.words.into();
            }
        }
    }
}

fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

/// The schema of a role's field: a list of resources, and for patches also objects with a `target`.
fn role_schema(role: Role) -> Value {
    let resource = json!({"type": "object", "required": ["apiVersion", "kind"]});
    let element = match role {
        Role::Patches => json!({"anyOf": [
            resource,
            {
                "type": "object",
                "properties": {
                    "patch": {"type": ["object", "string"], "description": "The patch, as an object or as text"},
                    "target": {"$ref": "#/definitions/Target"},
                },
                "required": ["patch"],
                "additionalProperties": false,
            },
        ]}),
        _ => resource,
    };
    let help = role.help();
    let (what, _) = help.split_once(':').unwrap_or((help, ""));
    json!({
        "description": format!("{what}: a list of resources, `{{path: DIRECTORY}}`, or a PackageRevisionResources"),
        "anyOf": [
            {"type": "array", "items": element},
            {
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "pattern": RELATIVE_PATH,
                        "description": "Directory of the package that holds the resources",
                    },
                },
                "required": ["path"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {"kind": {"const": "PackageRevisionResources"}, "spec": {"type": "object"}},
                "required": ["apiVersion", "kind", "spec"],
            },
        ],
    })
}

/// Removes null as an allowed type, empty defaults, and formats of integers.
fn simplify(schema: &mut Value) {
    if let Value::Object(fields) = schema {
        if let Some(Value::Array(types)) = fields.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                fields.insert("type".to_owned(), only);
            }
        }
        for name in ["anyOf", "allOf"] {
            let Some(Value::Array(choices)) = fields.get_mut(name) else {
                continue;
            };
            choices.retain(|choice| *choice != json!({"type": "null"}));
            // In draft 7, keywords next to `$ref` are ignored, so only a description may be there.
            if let [Value::Object(only)] = choices.as_slice()
                && only.contains_key("$ref")
            {
                let only = only.clone();
                fields.remove(name);
                fields.extend(only);
            }
        }
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::Array(values) => values.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        if fields.get("default").is_some_and(is_empty) {
            fields.remove("default");
        }
        if fields.get("format").is_some_and(|format| format == "int64") {
            fields.remove("format");
        }
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(simplify),
        Value::Array(values) => values.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// Adds the rows of a table: each field with its type, default and description.
fn rows(schema: &Value, definitions: &Value, path: &str, page: &mut String) {
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, field) in properties {
        if path.is_empty() && matches!(name.as_str(), "apiVersion" | "kind" | "metadata" | "status")
        {
            continue;
        }
        let inner = resolved(field, definitions);
        let path = format!("{path}{name}");
        let text = |key: &str| {
            [&field[key], &inner[key]]
                .into_iter()
                .find_map(Value::as_str)
        };
        let about = text("description")
            .unwrap_or_default()
            .trim_end_matches('.');
        let about = about.replace('\n', " ").replace('|', "\\|");
        let default = match (&field["default"], required.contains(&json!(name))) {
            (_, true) => "required".to_owned(),
            (Value::Null, _) => String::new(),
            (Value::String(word), _) => format!("`{word}`"),
            (value, _) => format!("`{value}`"),
        };
        let kind = kind_of(inner, definitions);
        writeln!(page, "| `{path}` | {kind} | {default} | {about} |").expect("a text");
        let items = resolved(&inner["items"], definitions);
        rows(inner, definitions, &format!("{path}."), page);
        rows(items, definitions, &format!("{path}[]."), page);
    }
}

fn resolved<'s>(schema: &'s Value, definitions: &'s Value) -> &'s Value {
    match schema["$ref"]
        .as_str()
        .and_then(|name| name.rsplit('/').next())
    {
        Some(name) => &definitions[name],
        None => schema,
    }
}

/// The type of a field, in words.
fn kind_of(field: &Value, definitions: &Value) -> String {
    let words = field["enum"].as_array();
    if let Some(words) = words.filter(|_| field["type"] == "string") {
        let words = words.iter().filter_map(Value::as_str);
        let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    let named = |field: &Value| match field["type"].as_str() {
        Some("array") => "list".to_owned(),
        Some("object") if field["properties"].is_object() => "object".to_owned(),
        Some("object") => "map".to_owned(),
        Some(name) => name.to_owned(),
        None => "any".to_owned(),
    };
    if let Some(choices) = field["anyOf"]
        .as_array()
        .filter(|_| field["type"].is_null())
    {
        let choices = choices
            .iter()
            .map(|choice| named(resolved(choice, definitions)));
        let mut choices: Vec<String> = choices.collect();
        choices.dedup();
        return choices.join(" or ");
    }
    match field["type"].as_str() {
        Some("array") => {
            let items = resolved(&field["items"], definitions);
            format!("list of {}s", named(items))
        }
        Some("object") if field["properties"].is_null() => {
            match &field["additionalProperties"]["type"] {
                Value::String(values) => format!("map of {values}s"),
                _ => "map".to_owned(),
            }
        }
        _ => named(field),
    }
}

/// The page about the fields of all configs.
fn page(schemas: &[(Config, Value)]) -> String {
    let mut page = "# Fields of the configs\n\n\
        <!-- Made from the code: UPDATE_EXPECT=1 cargo test -p krmv --lib schemas -->\n\n\
        Every config also has `apiVersion`, `kind` and `metadata`. Fields that are not required can be left out. An unknown field is an error.\n\n\
        Each kind has a JSON Schema in [`schemas/`](../schemas). Editors with the YAML language server find it by a comment in the first line of a config:\n\n\
        ```yaml\n# yaml-language-server: $schema=PATH/schemas/MergePackage.json\n```\n\n\
        The schemas do not allow `null`; the functions treat `null` as an absent field.\n"
        .to_owned();
    for (config, schema) in schemas {
        let (version, kind) = config.kind;
        let name = config.function.name;
        write!(
            page,
            "\n## {kind}\n\n`{version}`, for [`{name}`](../functions/{name}/README.md) ([schema](../schemas/{kind}.json))"
        )
        .expect("a text");
        let named = if config.is_named {
            "; `metadata.name` is required"
        } else {
            ""
        };
        writeln!(
            page,
            "{named}\n\n| field | type | default | meaning |\n|---|---|---|---|"
        )
        .expect("a text");
        rows(schema, &schema["definitions"], "", &mut page);
    }
    page
}

fn publish(path: &str, text: &str) {
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join(path)].assert_eq(text);
}

#[test]
fn schemas_and_their_page_are_up_to_date() {
    let schemas = configs().into_iter().map(|config| {
        let schema = config.to_schema();
        (config, schema)
    });
    let schemas: Vec<(Config, Value)> = schemas.collect();
    for (config, schema) in &schemas {
        let text = serde_json::to_string_pretty(schema).expect("JSON");
        publish(&format!("schemas/{}.json", config.kind.1), &(text + "\n"));
    }
    publish("docs/configs.md", &page(&schemas));
}

#[test]
fn every_kind_of_config_has_a_schema() {
    let configs = configs();
    let configs = configs.iter().map(|config| config.kind);
    let configs: Vec<ConfigKind> = configs.collect();
    for function in crate::functions::FUNCTIONS {
        for kind in function
            .configs
            .iter()
            .filter(|(_, kind)| *kind != "ConfigMap")
        {
            assert!(configs.contains(kind), "{kind:?} of {}", function.name);
        }
    }
}
