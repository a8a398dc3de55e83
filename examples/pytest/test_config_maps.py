import pytest
from kubernetes import client, watch
from kubernetes.client.exceptions import ApiException


def test_config_map_is_stored(api, namespace):
    core = client.CoreV1Api(api)
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "one"}, "data": {"color": "red"}})
    assert core.read_namespaced_config_map("one", namespace).data == {"color": "red"}


def test_watch_shows_the_new_config_map(api, namespace):
    core = client.CoreV1Api(api)
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "one"}})
    events = watch.Watch().stream(core.list_namespaced_config_map, namespace, timeout_seconds=10)
    assert next(events)["object"].metadata.name == "one"


def test_invalid_object_is_rejected(api, namespace):
    with pytest.raises(ApiException) as failure:
        client.CoreV1Api(api).create_namespaced_config_map(namespace, {"metadata": {"name": "Not_Valid"}})
    assert failure.value.status == 422
