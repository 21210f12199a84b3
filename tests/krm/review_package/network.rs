//! Traffic: ports, TLS, and certificates.

use super::{check, container};

fn object(start: &str, fields: &str) -> String {
    format!("apiVersion: {start}\nmetadata: {{name: a}}\n{fields}\n")
}

fn ingress(spec: &str) -> String {
    object(
        "networking.k8s.io/v1\nkind: Ingress",
        &format!("spec: {{{spec}}}"),
    )
}

#[test]
fn an_ingress_without_tls() {
    let rules = "rules: [{host: a.io}, {host: b.io}]";
    let with = |tls: &str| ingress(&format!("{rules}, tls: [{tls}]"));
    let both = with("{hosts: [a.io, b.io], secretName: s}");
    let gone = |hosts: &str| {
        format!("dangerous TlsWeakened spec.tls: the Ingress no longer uses TLS for {hosts}")
    };
    check(&both, &ingress(rules), &[&gone("a.io, b.io")]);
    check(
        &both,
        &with("{hosts: [a.io], secretName: s}"),
        &[&gone("b.io")],
    );
    let none =
        "dangerous TlsWeakened spec.tls: the Ingress no longer names a certificate for a.io, b.io";
    check(&both, &with("{hosts: [a.io, b.io]}"), &[none]);
    // In other words.
    check(
        &both,
        &with("{hosts: [b.io], secretName: t}, {hosts: [a.io], secretName: s}"),
        &[],
    );
    check(&both, &with("{secretName: s}"), &[]);
    check(&with("{hosts: ['*.io'], secretName: s}"), &both, &[]);
    // The host is no longer routed, or another one is.
    let one = ingress("rules: [{host: a.io}], tls: [{hosts: [a.io], secretName: s}]");
    check(&both, &one, &[]);
    check(&one, &one.replace("a.io", "c.io"), &[]);
    check(
        &one,
        &one.replace("host: a.io", "").replace("[a.io]", "[]"),
        &[],
    );
    let any = ingress("tls: [{secretName: s}]");
    check(&any, &ingress("tls: []"), &[&gone("any host")]);
    check("", &ingress(rules), &["notable ResourceAdded"]);
}

#[test]
fn a_gateway_that_no_longer_ends_tls() {
    let gateway = |fields: &str| {
        let start = "gateway.networking.k8s.io/v1\nkind: Gateway";
        object(
            start,
            &format!(
                "spec: {{listeners: [{{name: other, protocol: HTTP}}, {{name: web, {fields}}}]}}"
            ),
        )
    };
    let secure = gateway("protocol: HTTPS, tls: {certificateRefs: [{name: s}]}");
    let start = "dangerous TlsWeakened spec.listeners: the listener `web`";
    for (fields, message) in [
        ("protocol: HTTP", "no longer uses TLS"),
        ("protocol: HTTPS", "no longer uses TLS"),
        (
            "protocol: TLS, tls: {mode: Passthrough}",
            "no longer terminates TLS: its backends must",
        ),
        (
            "protocol: HTTPS, tls: {mode: Terminate}",
            "no longer has a certificate",
        ),
    ] {
        check(&secure, &gateway(fields), &[&format!("{start} {message}")]);
        check(&gateway(fields), &secure, &[]);
    }
    check(&secure, &secure.replace("name: s", "name: t"), &[]);
}

#[test]
fn ports_that_change() {
    let service = |ports: &str| object("v1\nkind: Service", &format!("spec: {{ports: [{ports}]}}"));
    let place = "PortChanged spec.ports:";
    let old = service("{name: web, port: 80, nodePort: 30080}, {port: 53, protocol: UDP}");
    let lost =
        |ports: &str| format!("dangerous {place} clients can no longer use the port {ports}");
    check(&old, &service(""), &[&lost("80/TCP, 53/UDP")]);
    check(&old, &old.replace("UDP", "TCP"), &[&lost("53/UDP")]);
    check(
        &old,
        &old.replace("port: 80,", "port: 8080,"),
        &[&lost("80/TCP")],
    );
    for (from, to, message) in [
        (
            "port: 80,",
            "port: 80, targetPort: 8080,",
            "the targetPort of 80/TCP changes from 80 to 8080",
        ),
        (
            "30080",
            "30081",
            "the nodePort of 80/TCP changes from 30080 to 30081",
        ),
        (
            "name: web",
            "name: http",
            "the name of 80/TCP changes from web to http",
        ),
    ] {
        check(
            &old,
            &old.replace(from, to),
            &[&format!("notable {place} {message}")],
        );
    }
    // A name may be the name of the same port.
    for target in ["80", "http"] {
        let same = format!("port: 80, targetPort: {target},");
        check(&old, &old.replace("port: 80,", &same), &[]);
    }
    let named = old.replace("port: 80,", "port: 80, targetPort: http,");
    check(
        &named,
        &named.replace("http", "proxy"),
        &[&format!(
            "notable {place} the targetPort of 80/TCP changes from http to proxy"
        )],
    );
    check(&old, &old.replace(", nodePort: 30080", ""), &[]);
    check(
        &service("{port: 80}"),
        &service("{port: 80, name: a}, {port: 81, name: b}"),
        &[],
    );
}

#[test]
fn certificates_that_are_not_checked() {
    let api = |spec: &str| {
        object(
            "apiregistration.k8s.io/v1\nkind: APIService",
            &format!("spec: {{{spec}}}"),
        )
    };
    let skips = "the certificate of the server is not checked";
    check(
        &api("caBundle: YQ=="),
        &api("insecureSkipTLSVerify: true"),
        &[
            &format!("dangerous TlsWeakened spec.insecureSkipTLSVerify: {skips}"),
            "notable TlsWeakened spec.caBundle: the API server no longer knows the authority",
        ],
    );
    // cert-manager writes the bundle.
    let injected = |spec: &str| {
        api(spec).replace(
            "{name: a}",
            "{name: a, annotations: {cert-manager.io/inject-ca-from: b/c}}",
        )
    };
    check(&injected("caBundle: YQ=="), &injected(""), &[]);
    check(&api("caBundle: Cg=="), &api(""), &[]);
    let webhook = |client: &str| {
        let start = "admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration";
        object(
            start,
            &format!("webhooks: [{{name: a.b.c, clientConfig: {{{client}}}}}]"),
        )
    };
    let found = "notable TlsWeakened webhooks[0].clientConfig.caBundle: ";
    check(&webhook("caBundle: YQ=="), &webhook(""), &[found]);
}

#[test]
fn certificates_that_monitors_do_not_check() {
    let monitor = |endpoints: &str| {
        let start = "monitoring.coreos.com/v1\nkind: ServiceMonitor";
        object(start, &format!("spec: {{endpoints: [{endpoints}]}}"))
    };
    let skips = "tlsConfig: {insecureSkipVerify: true}";
    let found = |at: usize| {
        format!(
            "dangerous TlsWeakened spec.endpoints[{at}].tlsConfig.insecureSkipVerify: the certificate"
        )
    };
    let one = monitor("{port: a}, {port: b}");
    check(
        &one,
        &monitor(&format!("{{port: a}}, {{port: b, {skips}}}")),
        &[&found(1)],
    );
    check(
        &one,
        &monitor(&format!("{{port: a}}, {{port: b}}, {{port: c, {skips}}}")),
        &[&found(2)],
    );
    // The element that has it stays.
    let old = monitor(&format!("{{port: a, {skips}}}, {{port: b}}"));
    check(
        &old,
        &monitor(&format!("{{port: c}}, {{port: a, {skips}}}")),
        &[],
    );
}

#[test]
fn load_balancers_that_become_public() {
    let service = |annotation: &str| {
        let spec = "spec: {type: LoadBalancer}";
        object("v1\nkind: Service", spec).replace(
            "name: a",
            &format!("name: a, annotations: {{{annotation}}}"),
        )
    };
    let internal = service("networking.gke.io/load-balancer-type: Internal, x: y");
    let found = "dangerous ServiceExposed metadata.annotations[\"networking.gke.io/load-balancer-type\"]: the load balancer is no longer internal";
    check(&internal, &service("x: y"), &[found]);
    check(&internal, &service(""), &[found]);
    // The same in another word of the cloud.
    check(
        &internal,
        &service("cloud.google.com/load-balancer-type: Internal"),
        &[],
    );
    check(&service("x: y"), &internal, &[]);
}

#[test]
fn routes_that_change() {
    let with = |rules: &str| ingress(&format!("rules: [{rules}]"));
    let path = |host: &str, path: &str, service: &str| {
        format!(
            "{{host: {host}, http: {{paths: [{{path: {path}, backend: {{service: {{name: {service}}}}}}}]}}}}"
        )
    };
    let [web, api] = [path("a.io", "/", "web"), path("a.io", "/api", "api")];
    let both = with(&format!("{web}, {api}"));
    let start = "RouteChanged spec.rules: ";
    check(
        &both,
        &with(&web),
        &[&format!(
            "dangerous {start}the Ingress no longer has the route: a.io/api"
        )],
    );
    let other = with(&format!("{web}, {}", path("a.io", "/api", "new")));
    check(
        &both,
        &other,
        &[&format!(
            "notable {start}the route leads to another backend: a.io/api"
        )],
    );
    check(&with(&web), &both, &[]);
    check(&both, &with(&format!("{api}, {web}")), &[]);
}

/// An older version names the same backend in other fields.
#[test]
fn routes_of_an_older_version() {
    let of = |version: &str, backend: &str| {
        let rule = format!("{{http: {{paths: [{{path: /, backend: {{{backend}}}}}]}}}}");
        ingress(&format!("rules: [{rule}]")).replace("/v1", version)
    };
    let new = |port: &str| of("/v1", &format!("service: {{name: web, port: {{{port}}}}}"));
    let old = of("/v1beta1", "serviceName: web, servicePort: 80");
    check(&old, &new("number: 80"), &[]);
    check(&old.replace("80", "http"), &new("name: http"), &[]);
    let found = "notable RouteChanged spec.rules: the route leads to another backend: */";
    for other in [old.replace("80", "81"), old.replace("web", "api")] {
        check(&other, &new("number: 80"), &[found]);
    }
}

#[test]
fn an_ingress_without_guards() {
    let with = |annotation: &str| {
        ingress("").replace(
            "name: a",
            &format!("name: a, annotations: {{x: y, {annotation}}}"),
        )
    };
    for (name, reason) in [
        (
            "nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/8",
            "ServiceExposed",
        ),
        (
            "nginx.ingress.kubernetes.io/auth-url: 'https://a.io'",
            "ServiceExposed",
        ),
        (
            "nginx.ingress.kubernetes.io/force-ssl-redirect: 'true'",
            "TlsWeakened",
        ),
    ] {
        check(
            &with(name),
            &with(""),
            &[&format!("dangerous {reason} metadata.annotations[")],
        );
        check(&with(""), &with(name), &[]);
    }
    let off = with("nginx.ingress.kubernetes.io/ssl-redirect: 'false'");
    check(
        &with(""),
        &off,
        &["dangerous TlsWeakened metadata.annotations["],
    );
}

#[test]
fn policies_that_become_stricter() {
    let policy = |spec: &str| {
        let start = "networking.k8s.io/v1\nkind: NetworkPolicy";
        object(
            start,
            &format!("spec: {{podSelector: {{}}, policyTypes: [Ingress], {spec}}}"),
        )
    };
    let any = policy("ingress: [{from: [{namespaceSelector: {}}]}]");
    let one = policy("ingress: [{from: [{namespaceSelector: {}}], ports: [{port: 80}]}]");
    let found = "notable NetworkRestricted spec.ingress: the policy admits less ingress traffic";
    check(&any, &one, &[found]);
    check(&any, &policy(""), &[found]);
}

#[test]
fn custom_resources_without_tls() {
    for (start, before, after, field) in [
        (
            "kafka.strimzi.io/v1\nkind: Kafka",
            "listeners: [{name: a, tls: true}]",
            "listeners: [{name: a, tls: false}]",
            "listeners[0].tls",
        ),
        (
            "monitoring.coreos.com/v1\nkind: PodMonitor",
            "endpoints: [{scheme: https}]",
            "endpoints: [{port: a}]",
            "endpoints[0].scheme",
        ),
        (
            "security.istio.io/v1\nkind: PeerAuthentication",
            "mtls: {mode: STRICT}",
            "mtls: {mode: PERMISSIVE}",
            "mtls.mode",
        ),
    ] {
        let [before, after] =
            [before, after].map(|spec| object(start, &format!("spec: {{{spec}}}")));
        check(
            &before,
            &after,
            &[&format!("dangerous TlsWeakened spec.{field}: ")],
        );
        check(&after, &before, &[]);
    }
}

/// A Service, an Ingress and a webhook for the pods of a Deployment.
fn published(port_of_pod: &str, port_of_service: &str, target: &str) -> String {
    let pod = container(&format!(
        "image: a, ports: [{{name: {port_of_pod}, containerPort: 80}}]"
    ));
    format!(
        "{pod}---\napiVersion: v1\nkind: Service\nmetadata: {{name: front}}\nspec:\n  selector: {{app: front}}\n  \
         ports: [{{{port_of_service}, targetPort: {target}}}]\n---\n\
         apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: mine}}\nspec:\n  \
         defaultBackend: {{service: {{name: front, port: {{name: http}}}}}}\n---\n\
         apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: mine}}\nspec:\n  \
         rules: [{{backendRefs: [{{name: front, port: 80}}]}}]\n---\n\
         apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {{name: mine}}\nspec: {{service: {{name: front}}}}\n"
    )
}

#[test]
fn a_port_that_others_name_is_removed() {
    let before = published("http", "name: http, port: 80", "http");
    let dangling =
        |field: &str, message: &str| format!("dangerous DanglingReference {field}: {message}");
    // Only the pods know another name.
    let lost = "the pods of the Service no longer have a port with the name http";
    let finding = dangling("spec.ports[0].targetPort", lost);
    check(
        &before,
        &published("web", "name: http, port: 80", "http"),
        &[&finding],
    );
    // The Service follows, with another name of its own.
    let service = |port: &str| {
        format!("the Service `front` no longer has the port {port} that the field names")
    };
    let by_name = dangling("spec.defaultBackend.service", &service("http"));
    let by_number = dangling("spec.rules[0].backendRefs[0]", &service("80"));
    let renamed = "notable PortChanged spec.ports: the targetPort of 80/TCP changes from http to web; the name";
    check(
        &before,
        &published("web", "name: web, port: 80", "web"),
        &[&by_name, renamed],
    );
    // With another number.
    let moved = "dangerous PortChanged spec.ports: clients can no longer use the port 80/TCP";
    check(
        &before,
        &published("http", "name: http, port: 8080", "http"),
        &[moved, &by_number],
    );
    // The default.
    let before = published("http", "name: http, port: 443", "http");
    check(
        &before,
        &published("http", "name: http, port: 8443", "http"),
        &[
            "dangerous PortChanged",
            &dangling("spec.service", &service("443")),
        ],
    );
}
