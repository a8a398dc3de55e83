"""The library kr8s, unchanged, against a server of a kubeconfig. Exits with 1 if a check fails."""

import sys
import threading
import time
import traceback

import kr8s
from kr8s.objects import ConfigMap, Deployment, Namespace, new_class

NAMESPACE = "kr8s-programs"
GROUP = "kr8s.example.com"


def resource(name, **fields):
    return {"metadata": {"name": name, "namespace": NAMESPACE}, **fields}


def refused_with(status, call):
    try:
        call()
    except kr8s.ServerError as error:
        assert error.response.status_code == status, error
        return
    raise AssertionError(f"it was not refused with {status}")


def create_list_patch(api):
    made = ConfigMap(resource("one", data={"a": "1"}), api=api)
    made.create()
    made.patch({"data": {"b": "2"}})
    made.label({"app": "one"})
    found = list(api.get("configmaps", namespace=NAMESPACE, label_selector={"app": "one"}))
    assert [dict(one.data) for one in found] == [{"a": "1", "b": "2"}], found
    refused_with(409, ConfigMap(resource("one"), api=api).create)
    made.delete()
    made.wait("delete", timeout=10)
    assert not made.exists()


def watch(api):
    seen = []
    ready = threading.Event()

    def follow():
        for event, one in api.watch("configmaps", namespace=NAMESPACE):
            ready.set()
            if one.name.startswith("watched"):
                seen.append((event, one.name))
            if len(seen) == 3:
                return

    # The initial state has an object, which shows that the watch is open.
    ConfigMap(resource("before"), api=api).create()
    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    assert ready.wait(10), "the watch sends the initial state"
    watched = ConfigMap(resource("watched"), api=api)
    watched.create()
    watched.patch({"data": {"a": "1"}})
    watched.delete()
    thread.join(10)
    assert seen == [("ADDED", "watched"), ("MODIFIED", "watched"), ("DELETED", "watched")], seen


def scale(api):
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    web = Deployment(resource("web", spec=spec), api=api)
    web.create()
    # kr8s waits until all replicas are ready, for which a cluster has nodes; the request is enough here.
    web.patch({"spec": {"replicas": 3}}, subresource="scale")
    web.refresh()
    assert web.spec.replicas == 3, web.spec


def custom_kind(api):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"parts.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "parts", "singular": "part", "kind": "Part"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
            ],
        },
    }
    made = kr8s.objects.CustomResourceDefinition(definition, api=api)
    made.create()
    deadline = time.monotonic() + 10
    while not made.status.get("conditions") or made.status.conditions[-1].status != "True":
        assert time.monotonic() < deadline, made.status
        made.refresh()
    Part = new_class("Part", version=f"{GROUP}/v1", namespaced=True, plural="parts")
    Part(resource("a", spec={"size": 1}), api=api).create()
    assert Part.get("a", namespace=NAMESPACE, api=api).spec.size == 1
    assert [one.name for one in api.get(f"parts.{GROUP}/v1", namespace=NAMESPACE)] == ["a"]


def main():
    api = kr8s.api()
    Namespace({"metadata": {"name": NAMESPACE}}, api=api).create()
    failed = False
    for check in (create_list_patch, watch, scale, custom_kind):
        begun = time.monotonic()
        try:
            check(api)
            print(f"ok {check.__name__} ({(time.monotonic() - begun) * 1000:.0f} ms)")
        except Exception:
            failed = True
            print(f"FAILED {check.__name__}")
            traceback.print_exc(file=sys.stdout)
    sys.exit(1 if failed else 0)


main()
