import type { RequestListener } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { closedPort, FakeBackend, makeNode, makePod } from "../support/backends.ts";
import { grant, startWithUsers, until } from "./support.ts";
import { TestServer } from "../support/api.ts";

const pods = "/api/v1/namespaces/default/pods";
const { serving } = createServingCertificates(["localhost"], systemClock);
const tls = { cert: serving.certificate, key: serving.key };

describe("the log subresource of a pod", () => {
  let server: TestServer;
  let agent: FakeBackend;
  let answer: RequestListener;
  beforeAll(async () => {
    agent = await FakeBackend.start((request, response) => answer(request, response), { tls });
    server = await startWithUsers([{ name: "reader" }], { connections: { allowLoopback: true } });
    const { admin } = server;
    await makeNode(admin, "node", { InternalIP: "127.0.0.1" }, agent.port);
    await makeNode(admin, "down", { InternalIP: "127.0.0.1" }, await closedPort());
    await makePod(admin, "one", { node: "node" });
    await makePod(admin, "two", { node: "node", containers: ["a", "b"], initContainers: ["i"] });
    const annotations = { "kubectl.platform.io/default-container": "b" };
    await makePod(admin, "annotated", { node: "node", containers: ["a", "b"], annotations });
    await makePod(admin, "misled", {
      node: "node",
      containers: ["a", "b"],
      annotations: { "kubectl.platform.io/default-container": "c" },
    });
    await makePod(admin, "waiting");
    await makePod(admin, "lost", { node: "missing" });
    await makePod(admin, "unreachable", { node: "down" });
    await grant(admin, "reader", [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }]);
  });
  afterAll(async () => {
    await server.close();
    await agent.close();
  });

  const log = (name: string, query = "") => server.admin.get(`${pods}/${name}/log${query}`);
  /** The URL requested of the agent. */
  const asked = async (name: string, query = ""): Promise<string> => {
    answer = (_request, response) => response.end("line\n");
    const { status, text, headers } = await log(name, query);
    expect([status, text, headers["content-type"]]).toEqual([200, "line\n", "text/plain"]);
    return agent.requests.at(-1)!.url!;
  };

  test.each([
    ["", ""],
    ["?follow=true&previous=1&timestamps=True", "?follow=true&previous=true&timestamps=true"],
    ["?follow=false&previous=0", ""],
    ["?follow", "?follow=true"],
    ["?tailLines=0&limitBytes=5&sinceSeconds=7", "?limitBytes=5&sinceSeconds=7&tailLines=0"],
    ["?sinceTime=2023-01-02T03:04:05%2B01:00", "?sinceTime=2023-01-02T02%3A04%3A05Z"],
    ["?container=main&pretty=true&x=y", ""],
    ["?insecureSkipTLSVerifyBackend=true", ""],
  ])("with the query %s requests %s of the node agent", async (query, expected) => {
    expect(await asked("one", query)).toBe(`/containerLogs/default/one/main${expected}`);
  });

  test("the request to the agent has none of the caller's headers", async () => {
    await asked("one");
    const { headers } = agent.requests.at(-1)!;
    expect(headers).toEqual({ host: `127.0.0.1:${agent.port}`, connection: "close" });
  });

  test.each([
    ["two", "?container=b", "two/b"],
    ["two", "?container=i", "two/i"],
    ["annotated", "", "annotated/b"],
    ["annotated", "?container=a", "annotated/a"],
  ])("the log of pod %s with the query %s is read from container %s", async (name, query, place) => {
    expect(await asked(name, query)).toBe(`/containerLogs/default/${place}`);
  });

  test.each([
    ["two", "", "a container name must be specified for pod two, choose one of: [i a b]"],
    ["misled", "", "a container name must be specified for pod misled, choose one of: [a b]"],
    ["one", "?container=x", "container x is not valid for pod one"],
    ["one", "?tailLines=x", 'parameter tailLines: "x" is not an integer'],
    ["one", "?sinceTime=now", 'parameter sinceTime: "now" is not a time such as 2006-01-02T15:04:05Z'],
  ])("the log of pod %s with the query %s is 400: %s", async (name, query, message) => {
    const { status, body } = await log(name, query);
    expect([status, body.reason, body.message]).toEqual([400, "BadRequest", message]);
  });

  test.each([
    ["?tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"],
    ["?limitBytes=0", "limitBytes: Invalid value: 0: must be greater than 0"],
    ["?sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"],
    [
      "?sinceSeconds=1&sinceTime=2023-01-02T03:04:05Z",
      "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
    ],
  ])("the query %s is 422", async (query, message) => {
    const { status, body } = await log("one", query);
    expect([status, body.reason]).toEqual([422, "Invalid"]);
    expect(body.message).toBe(`PodLogOptions "one" is invalid: ${message}`);
  });

  test("a pod without a node is 204", async () => {
    const { status, text } = await log("waiting");
    expect([status, text]).toEqual([204, ""]);
  });

  test("a missing Pod or Node returns a message that names it", async () => {
    expect((await log("missing")).body.message).toBe('pods "missing" not found');
    expect((await log("lost")).body.message).toBe('nodes "missing" not found');
  });

  test("an unreachable node agent is 503, and the message has its address", async () => {
    const { status, body } = await log("unreachable");
    expect([status, body.reason]).toEqual([503, "ServiceUnavailable"]);
    expect(body.message).toMatch(/^error trying to reach https:\/\/127\.0\.0\.1:\d+: connection refused$/);
  });

  test.each([
    [400, 400, "BadRequest", /^previous container not found$/],
    [404, 404, "NotFound", /pods\/log one.*previous container not found/],
    [401, 500, "InternalError", /status 401/],
    [500, 500, "InternalError", /previous container not found/],
    [302, 500, "InternalError", /status 302/],
  ])("status %i of the agent is answered as %i", async (from, status, reason, message) => {
    answer = (_request, response) =>
      response.writeHead(from, { Location: "/x" }).end("previous container not found\n");
    const got = await log("one");
    expect([got.status, got.body.reason]).toEqual([status, reason]);
    expect(got.body.message).toMatch(message);
  });

  test("an endless error message of the agent is truncated", async () => {
    answer = (_request, response) => {
      response.writeHead(500);
      const more = () => void (response.destroyed || response.write("x".repeat(10_000), more));
      more();
    };
    const { status, body } = await log("one");
    expect(status).toBe(500);
    expect(body.message.length).toBeLessThan(51_000);
  });

  test("a followed log is sent line by line, and its request to the agent ends with the client", async () => {
    let gone = false;
    let write: (text: string) => void = () => undefined;
    answer = (request, response) => {
      response.writeHead(200).flushHeaders();
      write = (text) => void response.write(text);
      request.once("close", () => (gone = true));
    };
    const response = await server.admin.open("GET", `${pods}/one/log?follow=true`, {});
    for (const line of ["one\n", "two\n"]) {
      write(line);
      expect(String(await new Promise((resolve) => response.once("data", resolve)))).toBe(line);
    }
    response.on("error", () => undefined);
    response.destroy();
    await until(
      () => gone,
      (is) => is,
    );
  });

  test("HEAD sends no request to the agent", async () => {
    const before = agent.requests.length;
    expect((await server.admin.ask("HEAD", `${pods}/one/log?follow=true`)).status).toBe(200);
    expect(agent.requests.length).toBe(before);
  });

  test("a user without permission gets 403", async () => {
    const { status, body } = await server.as("reader").get(`${pods}/one/log`);
    expect(status).toBe(403);
    expect(body.message).toContain('cannot get resource "pods/log"');
  });

  test("a shutdown of the server ends followed logs properly and immediately", async () => {
    const other = await TestServer.start({ connections: { allowLoopback: true } });
    await makeNode(other.admin, "node", { InternalIP: "127.0.0.1" }, agent.port);
    await makePod(other.admin, "one", { node: "node" });
    answer = (_request, response) => void response.write("one\n");
    const response = await other.admin.open("GET", `${pods}/one/log?follow=true`, {});
    const ended = new Promise((resolve) => response.once("end", resolve));
    response.resume();
    const start = performance.now();
    await Promise.all([other.server.close(), ended]);
    expect(performance.now() - start).toBeLessThan(4000);
    await other.close();
  });
});
