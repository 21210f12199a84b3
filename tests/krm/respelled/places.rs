//! Where a value stands.

use indoc::indoc;

/// A place of a value in the `spec` of a resource.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The text, with `$` for the value.
    text: &'static str,
    /// Column of the key or dash that owns it.
    column: usize,
    /// Comments around, which stay.
    pub(super) around: &'static [&'static str],
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Usual,
    /// CRLF line endings.
    Crlf,
    /// Without a line break at the end. The new value comes from a text that has one.
    Cut,
}

/// The head of each resource; `spec` follows.
const HEAD: &str = indoc! {"
    apiVersion: x.io/v1
    kind: Foo
    metadata:
      name: c
      labels: {side: base}
      annotations: &x {m: v}
"};

pub(super) const PLACES: [Place; 14] = [
    Place::of("spec:\n  k:$\n  z: 1\n", 2, &[]),
    Place::of("spec:\n  k:$\n", 2, &[]),
    Place::of("spec:\n  k:$\n", 2, &[]).in_form(Form::Cut),
    Place::of("spec:\n  k:$\n  z: 1\n", 2, &[]).in_form(Form::Crlf),
    Place::of("spec:\n  k:$\n# foot\n", 2, &["# foot"]),
    Place::of("spec:\n  k:$\n\n  # foot\n", 2, &["# foot"]),
    Place::of(
        "spec:\n  k:$\n  # of z\n  z: 1 # z\n",
        2,
        &["# of z", "# z"],
    ),
    Place::of(
        indoc! {"
        spec:
          # of k
          k:$


          z: 1
    "},
        2,
        &["# of k"],
    ),
    Place::of("spec:\n  l:\n  -$\n  - z\n", 2, &[]),
    Place::of("spec:\n  l:\n    - z\n    -$\n", 4, &[]),
    Place::of(
        indoc! {"
            spec:
              l:
              - name: a
                k:$
                z: 1
              - name: b
        "},
        4,
        &[],
    ),
    Place::of("spec:\n  l:\n  - k:$\n    name: a\n", 4, &[]),
    Place::of("spec:$\n", 0, &[]),
    Place::of("spec:$\nstatus: {}\n", 0, &[]),
];

impl Place {
    const fn of(text: &'static str, column: usize, around: &'static [&'static str]) -> Self {
        Self {
            text,
            column,
            around,
            form: Form::Usual,
        }
    }

    const fn in_form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// Whether the value is in a list without keys, whose elements go with their comments when others
    /// come.
    pub(super) fn is_in_list(&self) -> bool {
        self.text.contains("  l:")
    }

    /// Whether the value is the whole spec.
    pub(super) fn is_field_of_resource(&self) -> bool {
        self.text.starts_with("spec:$")
    }

    /// The value at the place in a spec.
    pub(super) fn value_in<'v>(
        &self,
        spec: &'v serde_json::Value,
    ) -> Option<&'v serde_json::Value> {
        if self.text.contains("  k:") {
            spec.get("k")
        } else {
            Some(spec)
        }
    }

    /// Whether a value means the same there to all readers: those of a block scalar differ where the
    /// text ends without a line break.
    pub(super) fn takes(&self, value: &str) -> bool {
        self.form != Form::Cut || !value.contains(['|', '>'])
    }

    /// The resource that gives a new value for the place.
    pub(super) fn giving(&self, value: &str) -> String {
        let form = match self.form {
            Form::Cut => Form::Usual,
            form => form,
        };
        self.in_form(form).resource(value)
    }

    /// The resource with a value at the place.
    pub(super) fn resource(&self, value: &str) -> String {
        let mut lines = value.split('\n');
        let mut text = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            text.push('\n');
            if !line.is_empty() {
                text.push_str(&" ".repeat(self.column));
                text.push_str(line);
            }
        }
        let text = format!("{HEAD}{}", self.text.replace('$', &text));
        match self.form {
            Form::Usual => text,
            Form::Crlf => text.replace('\n', "\r\n"),
            Form::Cut => text.trim_end_matches('\n').to_owned(),
        }
    }
}
