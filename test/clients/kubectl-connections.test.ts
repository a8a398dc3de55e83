import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { TestServer } from "../support/api.ts";
import { FakeBackend, makeNode, makePod } from "../support/backends.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";
import { spdyUpgrade, type SpdyHandler } from "../support/spdy.ts";

/** A node agent whose commands each print one line to stdout and one to stderr. */
const command: SpdyHandler = {
  opened(session, stream) {
    // The streams are opened in this order: error, stdout, stderr.
    if (stream !== 5) return;
    session.send(3, "out\n", true);
    session.send(5, "err\n", true);
    session.send(1, JSON.stringify({ metadata: {}, status: "Success" }), true);
  },
};

/** A node agent that echoes the data of every forwarded port. */
const parrot: SpdyHandler = {
  // The first of each pair of streams is the error stream.
  data: (session, stream, bytes) => session.send(stream, `got ${bytes.toString()}`),
};

/** The unchanged command line client reaches pods through this server. */
describeKubectl("kubectl and connections", (program) => {
  let server: TestServer;
  let agent: FakeBackend;
  let kubectl: Kubectl;
  let write: (text: string) => void = () => undefined;

  beforeAll(async () => {
    const { serving } = createServingCertificates(["localhost"], systemClock);
    const exec = spdyUpgrade(() => "v4.channel.k8s.io", command);
    const forward = spdyUpgrade(() => "portforward.k8s.io", parrot);
    agent = await FakeBackend.start(
      (request, response) => {
        write = (text) => void response.write(text);
        write(`${request.url}\n`);
        if (!request.url!.includes("follow=true")) response.end();
      },
      {
        tls: { cert: serving.certificate, key: serving.key },
        upgrade: (request, socket, head) =>
          (request.url!.startsWith("/portForward/") ? forward : exec)(request, socket, head),
      },
    );
    server = await TestServer.start({ vocabulary: "kubernetes", connections: { allowLoopback: true } });
    await makeNode(server.admin, "node", { InternalIP: "127.0.0.1" }, agent.port);
    await makePod(server.admin, "pod", { ip: "127.0.0.1", port: agent.port, node: "node" });
    await makePod(server.admin, "two", { node: "node", containers: ["a", "b"] });
    const running = { status: { phase: "Running" } };
    for (const name of ["pod", "two"])
      await server.admin.patch(`/api/v1/namespaces/default/pods/${name}/status`, running);
    kubectl = new Kubectl(program, server.server.kubeconfig());
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
    await agent?.close();
  });

  it("logs: of the only container, of a named one, and with options", async () => {
    expect(await kubectl.ok(["logs", "pod"])).toBe("/containerLogs/default/pod/main\n");
    expect(await kubectl.ok(["logs", "two", "-c", "b", "--tail=5", "--previous"])).toBe(
      "/containerLogs/default/two/b?previous=true&tailLines=5\n",
    );
    expect(await kubectl.fails(["logs", "two", "-c", "x"])).toContain("container x is not valid for pod two");
    expect(await kubectl.fails(["logs", "pod", "--since=1s", "--since-time=2023-01-01T00:00:00Z"])).toMatch(
      /at most one of/,
    );
  });

  it("logs -f: prints line by line", async () => {
    const running = kubectl.start(["logs", "-f", "pod"]);
    await running.line(/follow=true/);
    write("later\n");
    await running.line(/^later$/);
    await running.stop();
  });

  it("get --raw: reads through the proxy of a pod and of a node", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    expect(await kubectl.ok(["get", "--raw", `${pods}/https:pod:${agent.port}/proxy/a/b?c=d`])).toBe(
      "/a/b?c=d\n",
    );
    expect(await kubectl.ok(["get", "--raw", "/api/v1/nodes/node/proxy/healthz"])).toBe("/healthz\n");
    expect(await kubectl.fails(["get", "--raw", `${pods}/pod:1/proxy/`])).toContain("connection refused");
  });

  it("exec: returns the output and errors of a command", async () => {
    const { code, stdout, stderr } = await kubectl.run(["exec", "pod", "--", "ls", "-l", "a b"]);
    expect([code, stdout]).toEqual([0, "out\n"]);
    expect(stderr).toContain("err\n");
    expect(agent.requests.at(-1)!.url).toBe(
      "/exec/default/pod/main?command=ls&command=-l&command=a+b&error=1&output=1",
    );
  });

  it("port-forward: passes bytes in both directions", async () => {
    const running = kubectl.start(["port-forward", "pod/pod", ":8080"]);
    const line = await running.line(/Forwarding from 127\.0\.0\.1:\d+ -> 8080/);
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(line)![1]);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => socket.write("hello"));
      socket.once("data", (bytes) => {
        resolve(bytes.toString());
        socket.destroy();
      });
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("closed without an answer")));
    });
    expect(answer).toBe("got hello");
    await running.stop();
  });
});
