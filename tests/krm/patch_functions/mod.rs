//! `apply-patch`, `create-patch` and `apply-config` as functions: texts in, texts out.

mod aliases;
mod applied_configs;
mod bad_input;
mod created_patches;
mod edits;
mod kustomize;

use crate::step::{Outcome, on_list, on_package};

const DEPLOYMENT: &str = "\
# The front end.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: front # its name
  namespace: shop
spec:
  template:
    spec:
        containers:
          # the application
          - name: app
            image: \"app:1\" # tag
            env: [{name: A, value: one}, {name: B, value: two}]
          # helps
          - name: sidecar
            image: sidecar:1
";

fn config(kind: &str, fields: &str) -> String {
    format!("apiVersion: fn.kpt.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: c\n{fields}")
}

/// Applies patches (the field's text) to one file.
fn patched(text: &str, patches: &str) -> Outcome {
    let config = config("ApplyPatch", &format!("patches:\n{patches}"));
    on_package(&apply_patch::FUNCTION, &config, &[("d.yaml", text)]).expect("a config")
}

const CONFIG_ITEM: &str = "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: c
    annotations:
      internal.config.kubernetes.io/path: c.yaml
      config.kubernetes.io/path: c.yaml
      internal.config.kubernetes.io/index: '0'
      config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/id: '7'
  data:
    a: new # from the config
    # also
    c: more
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: other
    annotations:
      config.kubernetes.io/local-config: \"true\"
";

const LIVE: &str = "\
live:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: c
    uid: x
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {\"apiVersion\":\"v1\",\"data\":{\"a\":\"old\",\"b\":\"gone\"},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"c\"}}
  data:
    # kept
    a: old
    b: gone
    live: only
";
