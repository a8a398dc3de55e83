import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeBackend, makePod, upgradeEcho } from "../support/backends.ts";
import { TestServer } from "../support/api.ts";
import { head, http2Session, portOf, RawConnection } from "../robustness/support.ts";

const made = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("without an audit policy every answer carries an Audit-Id", () => {
  let server: TestServer;
  let backend: FakeBackend;
  beforeAll(async () => {
    backend = await FakeBackend.start(
      (_request, response) => response.writeHead(200, { "Audit-Id": "the-backend's" }).end(),
      { upgrade: upgradeEcho },
    );
    server = await TestServer.start({ connections: { allowLoopback: true } });
    await makePod(server.admin, "pod", { ip: "127.0.0.1", port: backend.port });
  });
  afterAll(async () => {
    await server.close();
    await backend.close();
  });

  const proxied = "/api/v1/namespaces/default/pods/pod/proxy/";

  test.each([
    ["an object", "GET", "/api/v1/namespaces/default", 200],
    ["a list", "GET", "/api/v1/namespaces", 200],
    ["a path", "GET", "/version", 200],
    ["what isn't there", "GET", "/nothing", 404],
    ["a path that can't be read", "GET", "/%", 400],
    ["a refusal", "POST", "/version", 405],
    ["what a pod answers, whose own is not handed on", "GET", proxied, 200],
  ])("%s", async (_what, method, path, status) => {
    const [one, other] = [await server.admin.ask(method, path), await server.admin.ask(method, path)];
    expect([one.status, other.status]).toEqual([status, status]);
    expect(one.headers["audit-id"]).toMatch(made);
    expect(other.headers["audit-id"]).toMatch(made);
    expect(one.headers["audit-id"]).not.toBe(other.headers["audit-id"]);
  });

  test("a caller who isn't recognised, and a watch", async () => {
    const refused = await server.as("wrong").get("/version");
    expect([refused.status, made.test(String(refused.headers["audit-id"]))]).toEqual([401, true]);
    const watch = await server.admin.watch("/api/v1/namespaces");
    expect(watch.headers["audit-id"]).toMatch(made);
    watch.close();
  });

  test.each([
    ["short", "mine-1"],
    ["long", "i".repeat(300)],
  ])("one that the client gives is kept as it is: %s", async (_what, id) => {
    const { headers } = await server.admin.get("/version", { headers: { "Audit-Id": id } });
    expect(headers["audit-id"]).toBe(id);
  });

  test.each([
    ["nothing", ""],
    ["what is no text", "caf\u00e9"],
  ])("%s is no id", async (_what, id) => {
    const { headers } = await server.admin.get("/version", { headers: { "Audit-Id": id } });
    expect(headers["audit-id"]).toMatch(made);
  });

  test("over HTTP/2, each stream has its own", async () => {
    const session = http2Session(server);
    const idOf = () =>
      new Promise<unknown>((resolve) => {
        const stream = session.request({ ":path": "/version" });
        stream.once("response", (headers) => resolve(headers["audit-id"]));
      });
    const ids = await Promise.all([idOf(), idOf()]);
    expect(ids.every((id) => made.test(String(id)))).toBe(true);
    expect(new Set(ids).size).toBe(2);
    session.close();
  });

  test("an upgraded connection", async () => {
    const connection = await RawConnection.open(portOf(server));
    connection.write(
      head(server, `GET ${proxied}`, "Connection: Upgrade", "Upgrade: echo", "Audit-Id: up-1"),
    );
    expect(await connection.receives(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 101 [^]*\r\nAudit-Id: up-1\r\n/);
    connection.destroy();
  });
});
