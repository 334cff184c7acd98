"""Values for the chart, and checks of the objects that it renders."""

POSTGRES = {
    "store": "postgres",
    "postgres": {"url": "postgres://garth@database/garth", "passwordSecret": {"name": "database"}},
    "attachments": {"url": "s3://garth/files", "keysSecret": {"name": "bucket"}, "endpoint": "http://bucket:9000"},
}
EVERYTHING = POSTGRES | {
    "replicas": 3,
    "bootstrapTokenSecret": {"name": "token"},
    "publicUrl": "https://garth.example.com",
    "trustedProxies": ["10.0.0.0/8", "192.0.2.1"],
    "settings": 'event_days = 30\n[provider]\nname = "Example"\n',
    "extraEnv": [{"name": "GARTH_LOG", "value": "warn"}],
    "imagePullSecrets": [{"name": "registry"}],
    "service": {"annotations": {"example.com/name": "value"}},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "certificate", "annotations": {"a": "b"}},
    "networkPolicy": {
        "apiFrom": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
    },
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
    "podAnnotations": {"example.com/name": "value"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "garth", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
}
ALWAYS = ["ConfigMap", "Service", "Service", "ServiceAccount"]
ALL = [*ALWAYS, "Deployment", "Ingress", "NetworkPolicy", "PodDisruptionBudget", "PrometheusRule", "ServiceMonitor"]

# Values, and the kinds of the objects.
VALID = {
    "the default values": ({}, [*ALWAYS, "NetworkPolicy", "StatefulSet"]),
    "SQLite with a storage class": (
        {"persistence": {"storageClass": "fast"}, "networkPolicy": {"enabled": False}},
        [*ALWAYS, "StatefulSet"],
    ),
    "PostgreSQL": (POSTGRES, [*ALWAYS, "Deployment", "NetworkPolicy", "PodDisruptionBudget"]),
    "one pod on PostgreSQL": (POSTGRES | {"replicas": 1}, [*ALWAYS, "Deployment", "NetworkPolicy"]),
    "everything": (EVERYTHING, ALL),
}
# Values, and a part of the reason.
INVALID = {
    "an unknown store": ({"store": "mysql"}, "store must be sqlite or postgres"),
    "PostgreSQL without a URL": (POSTGRES | {"postgres": {"url": ""}}, "needs postgres.url"),
    "PostgreSQL without a bucket": (POSTGRES | {"attachments": {"url": ""}}, "needs attachments.url with a bucket"),
    "a password in the URL": (
        POSTGRES | {"postgres": {"url": "postgres://garth:secret@database/garth"}},
        "postgres.url has a password",
    ),
}


def check_objects(objects: list[dict], kinds: list[str]) -> list[str]:
    found = sorted(item["kind"] for item in objects)
    errors = [] if found == sorted(kinds) else [f"the objects are {found}, not {sorted(kinds)}"]
    workload = next(item for item in objects if item["kind"] in ("Deployment", "StatefulSet"))
    labels = workload["spec"]["template"]["metadata"]["labels"].items()
    names = {item["metadata"]["name"] for item in objects if item["kind"] == "Service"}
    for item in objects:
        spec, name = item.get("spec", {}), f"{item['kind']} {item['metadata']['name']}"
        selector = spec.get("podSelector") or spec.get("selector", {})
        selector = selector.get("matchLabels", selector)
        if item["kind"] == "ServiceMonitor":
            services = [other for other in objects if other["kind"] == "Service"]
            if not any(selector.items() <= other["metadata"]["labels"].items() for other in services):
                errors.append(f"{name} selects no Service")
        elif selector and not selector.items() <= labels:
            errors.append(f"{name} does not select the pods")
        if spec.get("serviceName", next(iter(names))) not in names:
            errors.append(f"{name} refers to a Service that does not exist")
        if item["kind"] == "PrometheusRule" and not spec.get("groups"):
            errors.append(f"{name} has no alerts")
    return errors
