"""The Python client library, unchanged, against a server of a kubeconfig. Ends with 1 where a check fails."""

import sys
import time
import traceback

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "python-programs"
GROUP = "python.example.com"


def refused_with(status, call):
    try:
        call()
    except ApiException as error:
        assert error.status == status, error.status
        return
    raise AssertionError(f"it was not refused with {status}")


def typed_client(api):
    core = client.CoreV1Api(api)
    made = core.create_namespaced_config_map(
        NAMESPACE,
        {"metadata": {"name": "typed", "labels": {"app": "typed"}}, "data": {"a": "1"}},
    )
    refused_with(409, lambda: core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": "typed"}}))
    core.patch_namespaced_config_map("typed", NAMESPACE, {"data": {"b": "2"}})
    made.data["a"] = "stale"
    refused_with(409, lambda: core.replace_namespaced_config_map("typed", NAMESPACE, made))
    listed = core.list_namespaced_config_map(NAMESPACE, label_selector="app=typed")
    assert [one.data for one in listed.items] == [{"a": "1", "b": "2"}], listed.items
    core.delete_namespaced_config_map("typed", NAMESPACE)
    refused_with(404, lambda: core.read_namespaced_config_map("typed", NAMESPACE))


def watches(api):
    core = client.CoreV1Api(api)
    start = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": "watched"}})
    core.delete_namespaced_config_map("watched", NAMESPACE)
    seen = []
    for event in watch.Watch().stream(
        core.list_namespaced_config_map, NAMESPACE, resource_version=start, timeout_seconds=10
    ):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 2:
            break
    assert seen == [("ADDED", "watched"), ("DELETED", "watched")], seen


def custom_objects(api):
    text = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"color": {"type": "string", "default": "red"}}},
            "status": {"type": "object", "properties": {"seen": text}},
        },
    }
    client.ApiextensionsV1Api(api).create_custom_resource_definition(
        {
            "metadata": {"name": f"gadgets.{GROUP}"},
            "spec": {
                "group": GROUP,
                "scope": "Namespaced",
                "names": {"plural": "gadgets", "kind": "Gadget"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "subresources": {"status": {}},
                        "schema": {"openAPIV3Schema": schema},
                    }
                ],
            },
        }
    )
    objects = client.CustomObjectsApi(api)
    place = (GROUP, "v1", NAMESPACE, "gadgets")
    deadline = time.monotonic() + 20
    while True:
        try:
            objects.list_namespaced_custom_object(*place)
            break
        except ApiException as error:
            assert error.status == 404 and time.monotonic() < deadline, error
            time.sleep(0.02)
    gadget = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": "a"}, "spec": {}}
    made = objects.create_namespaced_custom_object(*place, gadget)
    assert made["spec"] == {"color": "red"}, made
    objects.patch_namespaced_custom_object_status(*place, "a", {"status": {"seen": "red"}})
    assert objects.get_namespaced_custom_object(*place, "a")["status"] == {"seen": "red"}
    objects.delete_namespaced_custom_object(*place, "a")
    refused_with(404, lambda: objects.get_namespaced_custom_object(*place, "a"))


def dynamic_client(api):
    gadgets = dynamic.DynamicClient(api).resources.get(api_version=f"{GROUP}/v1", kind="Gadget")
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": "b"}, "spec": {"color": "blue"}}
    applied = gadgets.server_side_apply(body, namespace=NAMESPACE, field_manager="program")
    assert applied.spec.color == "blue", applied
    assert [one.metadata.name for one in gadgets.get(namespace=NAMESPACE).items] == ["b"]
    gadgets.delete(name="b", namespace=NAMESPACE)


def main():
    api = config.new_client_from_config()
    client.CoreV1Api(api).create_namespace({"metadata": {"name": NAMESPACE}})
    failed = False
    for check in (typed_client, watches, custom_objects, dynamic_client):
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
