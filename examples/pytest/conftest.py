"""A fixture that starts a Plinth server with objects in memory; it stops when the tests have ended.

PLINTH is the command that runs Plinth; default: npx plinth.
"""

import os
import shlex
import signal
import subprocess

import pytest
from kubernetes import client, config

FLAGS = [
    "--vocabulary=kubernetes",
    "--storage-backend=memory",
    "--secure-port=0",
    "--controllers=event-expiry",  # those of a kube-apiserver without a controller manager
    "--log-level=warn",
]


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory):
    """The path of the administrator's kubeconfig of a running server."""
    data = tmp_path_factory.mktemp("plinth")
    command = shlex.split(os.environ.get("PLINTH", "npx plinth"))
    server = subprocess.Popen(
        [*command, "serve", *FLAGS, f"--data-dir={data}"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that npx and the server can be stopped together
    )
    try:
        yield administrator_of(server)
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=20)
        server.stdout.close()


def administrator_of(server):
    """Waits until the server prints the path of the kubeconfig, which it does when it is ready."""
    for line in server.stdout:
        if line.startswith("administrator: "):
            return line.removeprefix("administrator: ").strip()
    raise RuntimeError(f"plinth ended with exit code {server.wait()}")


@pytest.fixture
def api(kubeconfig):
    """A client with the administrator's rights."""
    with config.new_client_from_config(kubeconfig) as api_client:
        yield api_client


@pytest.fixture
def namespace(api, request):
    """A new namespace for each test."""
    name = request.node.name.replace("_", "-").lower()
    client.CoreV1Api(api).create_namespace({"metadata": {"name": name}})
    return name
