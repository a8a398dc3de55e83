import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { TestServer } from "../../support/api.ts";
import { ExtensionServer } from "../../support/extension-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { grant, ok, startWithUsers, until } from "../support.ts";

const folder = temporaryFolder();
let extension: ExtensionServer;
let server: TestServer;
let widgets: string;

beforeAll(async () => {
  extension = await ExtensionServer.start();
  const { certificate, key } = extension.clientCertificate("front-proxy");
  const file = (name: string, text: string) => {
    const at = path.join(folder.path, name);
    writeFileSync(at, text, { mode: 0o600 });
    return at;
  };
  const aggregation = {
    clientCertFile: file("proxy.crt", certificate),
    clientKeyFile: file("proxy.key", key),
  };
  server = await startWithUsers(
    [{ name: "ann", groups: ["makers", "staff"] }, { name: "nobody" }, { name: "jürgen" }],
    { aggregation, connections: { allowLoopback: true } },
  );
  widgets = `${extension.path}/namespaces/default/widgets`;
  const rule = { verbs: ["*"], apiGroups: [extension.group], resources: ["*"] };
  await grant(server.admin, "ann", [rule]);
  await extension.register(server.admin);
});
afterAll(async () => {
  await server.close();
  await extension.close();
  folder.remove();
});
const usual = (one: ExtensionServer) => one.answer;
let answer: ReturnType<typeof usual>;
beforeAll(() => void (answer = extension.answer));
afterEach(() => {
  extension.answer = answer;
  extension.received.length = 0;
});

describe("a request for a group version that an extension server serves", () => {
  test("is forwarded unchanged on behalf of its user, with the certificate of the front proxy", async () => {
    const got = await ok(
      server.as("ann").get(`${widgets}/one?pretty=%20a`, { headers: { "x-other": "kept" } }),
    );
    expect(got.body).toEqual({ kind: "Widget", path: `${widgets}/one?pretty=%20a` });
    const [request] = extension.received;
    expect(request).toMatchObject({
      method: "GET",
      url: `${widgets}/one?pretty=%20a`,
      client: "front-proxy",
    });
    expect(request!.headers).toMatchObject({
      host: `extension.default.svc:${extension.port}`,
      "x-other": "kept",
      "x-remote-user": "ann",
      "x-remote-group": "makers, staff, system:authenticated",
    });
    expect(request!.headers.authorization).toBeUndefined();
  });

  test("can't set another identity with its headers", async () => {
    const headers = {
      "X-Remote-User": "root",
      "X-Remote-Group": "system:masters",
      "X-Remote-Extra-Scopes": "all",
      X_Remote_User: "root",
      "X-Remote-Uid": "0",
    };
    await ok(server.as("ann").get(`${widgets}/one`, { headers }));
    const [request] = extension.received;
    const told = request!.rawHeaders.filter((one) => /^x[-_]remote/i.test(one));
    expect(told.map((name) => name.toLowerCase()).toSorted()).toEqual([
      "x-remote-group",
      "x-remote-group",
      "x-remote-group",
      "x-remote-user",
    ]);
    expect(JSON.stringify(request!.rawHeaders)).not.toMatch(/root|masters|scopes/i);
  });

  test("is authorized here, and not forwarded without permission", async () => {
    const refused = await server.as("nobody").get(`${widgets}/one`);
    expect([refused.status, refused.body.reason]).toEqual([403, "Forbidden"]);
    expect(refused.body.message).toContain(
      'cannot get resource "widgets" in API group "widgets.example.com"',
    );
    expect((await server.as("unknown").get(`${widgets}/one`)).status).toBe(401);
    expect(extension.received).toEqual([]);
  });

  test("with impersonation is forwarded on behalf of the impersonated user, with the extra values", async () => {
    const headers = {
      "Impersonate-User": "jürgen",
      "Impersonate-Group": "system:masters",
      "Impersonate-Extra-Example.com%2FScopes": "a",
    };
    await ok(
      server.admin.get(`${widgets}/one`, { headers: { ...headers, "Impersonate-User": "j%C3%BCrgen" } }),
    );
    const { headers: got } = extension.received[0]!;
    expect(got["x-remote-user"]).toBe("j%C3%BCrgen");
    expect(got["x-remote-extra-example.com%2fscopes"]).toBe("a");
    expect(Object.keys(got).filter((name) => name.startsWith("impersonate"))).toEqual([]);
  });

  test("an identity that can't be represented in a header is never changed to another one", async () => {
    // A token of an external issuer may have it: the receiver trims the space.
    const { identityHeaders } = await import("../../../src/aggregation/identity.ts");
    const user = (name: string) => ({ name, uid: "", groups: [], extra: {} });
    for (const name of ["root ", "\troot", "ro\r\not", "a\u0000b"]) {
      expect(() => identityHeaders(user(name))).toThrow(/can't be told to an extension server/);
    }
    expect(identityHeaders(user("jürgen"))["x-remote-user"]).toBe(Buffer.from("jürgen").toString("latin1"));
    const extra = { "a/b:%": ["1", "2"] };
    expect(identityHeaders({ ...user("u"), extra })["x-remote-extra-a%2Fb%3A%25"]).toEqual(["1", "2"]);
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])(
    "%s: the body is forwarded, and the response returned with its status code",
    async (method) => {
      extension.answer = (request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          response.writeHead(418, { "content-type": "application/json", "x-made": "there" });
          response.end(JSON.stringify({ got: Buffer.concat(chunks).toString() }));
        });
      };
      const at = method === "POST" ? widgets : `${widgets}/one`;
      const got = await server.as("ann").ask(method, at, { raw: '{"a":1}', contentType: "application/json" });
      expect([got.status, got.body, got.headers["x-made"]]).toEqual([418, { got: '{"a":1}' }, "there"]);
    },
  );

  test("C-4.7-07 binary encoding is not available for types served through the aggregation layer", async () => {
    const binary = "application/vnd.platform.protobuf";
    extension.answer = (request, response) => {
      const takesJson = /application\/json/.test(request.headers.accept ?? "");
      if (takesJson) return extension.json(response, { kind: "Widget" });
      extension.json(response, { kind: "Status", code: 406 }, 406);
    };
    expect((await server.as("ann").get(`${widgets}/one`, { accept: binary })).status).toBe(406);
    const both = await server.as("ann").get(`${widgets}/one`, { accept: `${binary}, application/json` });
    expect([both.status, both.headers["content-type"], both.body]).toEqual([
      200,
      "application/json",
      { kind: "Widget" },
    ]);
  });

  test("a watch is forwarded event by event, and ends at the extension server when the client disconnects", async () => {
    let push: (text: string) => void = () => undefined;
    let closed = false;
    extension.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      push = (text) => void response.write(text);
      response.on("close", () => (closed = true));
      response.flushHeaders();
    };
    const watching = await server.as("ann").watch(`${widgets}?watch=true`);
    push('{"type":"ADDED","object":{"n":1}}\n');
    expect(await watching.next()).toEqual({ type: "ADDED", object: { n: 1 } });
    push('{"type":"MODIFIED","object":{"n":2}}\n');
    expect(await watching.next()).toEqual({ type: "MODIFIED", object: { n: 2 } });
    watching.close();
    await until(() => closed, Boolean);
  });

  test("reads share persistent connections; one that the extension server closes is replaced transparently", async () => {
    const read = (at: number) => ok(server.as("ann").get(`${widgets}/w${at}`));
    await read(0);
    const connections = () => [...extension.sockets].filter((one) => !one.destroyed);
    const before = new Set(connections());
    for (let at = 1; at < 10; at++) await read(at);
    expect(connections().filter((one) => !before.has(one))).toEqual([]);
    expect(extension.received.map(({ headers }) => headers["x-remote-user"])).toEqual(
      Array<string>(10).fill("ann"),
    );
    let closed = 0;
    extension.answer = (request, response) => {
      // Simulates that the server closed the connection before the request arrived.
      if (closed++ === 0) return void request.socket.destroy();
      answer(request, response);
    };
    await read(10);
    expect(extension.received).toHaveLength(12);
  });

  test("a write is never sent twice, whatever happens to its connection", async () => {
    extension.answer = (request) => void request.socket.destroy();
    const failed = await server.as("ann").post(widgets, { a: 1 });
    expect([failed.status, extension.received.length]).toEqual([503, 1]);
  });

  test("a truncated response is aborted for the client", async () => {
    extension.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
      response.write("{");
      setTimeout(() => response.destroy(), 20);
    };
    await expect(server.as("ann").get(`${widgets}/one`)).rejects.toThrow();
  });

  test("a redirect is 502 and not followed", async () => {
    extension.answer = (_request, response) => {
      response.writeHead(302, { location: "https://elsewhere.example.com/" });
      response.end();
    };
    const got = await server.as("ann").get(`${widgets}/one`);
    expect([got.status, got.headers.location]).toEqual([502, undefined]);
    expect(got.body.message).toContain("attempted to redirect this request, which is not permitted");
    expect(extension.received).toHaveLength(1);
  });

  test("is counted by the resources of the extension server, not by names that clients invent", async () => {
    await ok(server.as("ann").get(`${widgets}/one`));
    await ok(server.as("ann").get(`${extension.path}/namespaces/default/fantasies/one`));
    const { text } = await server.admin.get("/metrics");
    expect(text).toMatch(
      /apiserver_request_total\{verb="GET",[^}]*group="widgets.example.com",version="v1",resource="widgets"[^}]*code="200"/,
    );
    expect(text).not.toContain("fantasies");
    expect(text).toContain(`aggregator_unavailable_apiservice{name="${extension.name}"} 0`);
  });
});
