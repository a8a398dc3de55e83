import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closedPort, echo, FakeBackend, makePod, type Echo } from "../support/backends.ts";
import { answerOf, http2Session } from "../robustness/support.ts";
import { grant, startWithUsers } from "./support.ts";
import type { TestServer } from "../support/api.ts";

const pods = "/api/v1/namespaces/default/pods";

describe("C-4.2-10 proxy of a pod", () => {
  let server: TestServer;
  let backend: FakeBackend;
  const at = (rest = "/", name = "echo") => `${pods}/${name}/proxy${rest}`;
  beforeAll(async () => {
    backend = await FakeBackend.start((request, response) => {
      const path = request.url!.split("?", 1)[0];
      if (path === "/gzip") {
        response.writeHead(203, { "Content-Type": "text/x-own", "Content-Encoding": "gzip", ETag: '"1"' });
        response.end(gzipSync("packed"));
      } else if (path === "/none") response.writeHead(204, { "X-None": "1" }).end();
      else if (path === "/move") {
        response
          .writeHead(302, { Location: new URL(request.url!, "http://x").searchParams.get("to")! })
          .end();
      } else if (path === "/hop") {
        response.writeHead(200, {
          Connection: "close, X-Mine",
          "X-Mine": "1",
          "Keep-Alive": "timeout=9",
          "Set-Cookie": ["a=1", "b=2"],
          "Proxy-Authenticate": "Basic",
        });
        response.end("hop");
      } else echo(request, response);
    });
    server = await startWithUsers([{ name: "reader" }, { name: "nobody" }], {
      connections: { allowLoopback: true },
    });
    await makePod(server.admin, "echo", { ip: "127.0.0.1", port: backend.port });
    await makePod(server.admin, "gone", { ip: "127.0.0.1", port: await closedPort() });
    await makePod(server.admin, "bare", { ip: "127.0.0.1" });
    const rule = (resources: string[]) => ({ verbs: ["get"], apiGroups: [""], resources });
    await grant(server.admin, "reader", [rule(["pods", "pods/proxy"])]);
    await grant(server.admin, "nobody", [rule(["pods"])]);
  });
  afterAll(async () => {
    await server.close();
    await backend.close();
  });

  const ask = async (method: string, path: string, options = {}): Promise<Echo> => {
    const answer = await server.admin.ask(method, path, options);
    expect(answer.status).toBe(200);
    return answer.body as Echo;
  };

  test.each([
    ["/", "/"],
    ["/a/b", "/a/b"],
    ["/a/b/", "/a/b/"],
    ["//a//b", "//a//b"],
    ["/a%2Fb%20c/%C3%A4?x=%2F&y=1+2&x", "/a%2Fb%20c/%C3%A4?x=%2F&y=1+2&x"],
    ["/?watch=true&dryRun=All", "/?watch=true&dryRun=All"],
    ["/a;b=c,d:e@f", "/a;b=c,d:e@f"],
  ])("forwards the path and query %s unchanged", async (rest, url) => {
    expect((await ask("GET", at(rest))).url).toBe(url);
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])("forwards %s with its body", async (method) => {
    const { method: got, body, headers } = await ask(method, at("/x"), { raw: "söme", contentType: "a/b" });
    expect([got, body, headers["content-type"], headers["content-length"]]).toEqual([
      method,
      "söme",
      "a/b",
      "5",
    ]);
  });

  test("HEAD returns the backend's headers without a body", async () => {
    const answer = await server.admin.ask("HEAD", at("/x"));
    expect([answer.status, answer.headers["x-backend"], answer.text]).toEqual([200, "echo", ""]);
  });

  test("GET without a path is redirected to the path with a slash, and POST is sent to the root", async () => {
    const answer = await server.admin.get(`${at("")}?a=b`);
    expect([answer.status, answer.headers.location]).toEqual([301, `${at("/")}?a=b`]);
    expect((await ask("POST", at(""), { raw: "" })).url).toBe("/");
  });

  test("the response has the backend's status, headers and encoding", async () => {
    const { status, headers, bytes } = await server.admin.get(at("/gzip"), { accept: "text/html" });
    expect(status).toBe(203);
    expect(headers).toMatchObject({ "content-type": "text/x-own", "content-encoding": "gzip", etag: '"1"' });
    expect(bytes).toEqual(gzipSync("packed"));
    const none = await server.admin.get(at("/none"));
    expect([none.status, none.headers["x-none"]]).toEqual([204, "1"]);
  });

  test("hop-by-hop headers are not forwarded", async () => {
    const { headers, text } = await server.admin.get(at("/hop"));
    expect(text).toBe("hop");
    expect(headers["set-cookie"]).toEqual([`a=1; Path=${at("")}`, `b=2; Path=${at("")}`]);
    for (const name of ["x-mine", "proxy-authenticate"]) expect(headers[name]).toBeUndefined();
    expect(headers["keep-alive"]).not.toBe("timeout=9");
  });

  test("credentials and hop-by-hop headers are not forwarded; X-Forwarded headers are", async () => {
    const { headers } = await ask("POST", at("/x"), {
      raw: "x",
      headers: {
        "Impersonate-User": "ana",
        "Impersonate-Group": "system:masters",
        "Impersonate-Extra-A": "b",
        "Proxy-Authorization": "Basic x",
        "X-Forwarded-For": "10.9.8.7",
        "X-Forwarded-Host": "evil",
        "X-Forwarded-Proto": "gopher",
        Forwarded: "for=evil",
        TE: "gzip",
        Connection: "keep-alive, X-Mine",
        "X-Mine": "1",
        "X-Other": "2",
        Cookie: "a=b",
      },
    });
    expect(
      Object.keys(headers).filter((name) => /^(impersonate|.*authorization|te$|x-mine|forwarded)/.test(name)),
    ).toEqual([]);
    const host = new URL(server.server.url!).host;
    expect(headers).toMatchObject({
      host,
      "x-forwarded-for": "10.9.8.7, 127.0.0.1",
      "x-forwarded-host": host,
      "x-forwarded-proto": "https",
      "x-forwarded-uri": at("/x"),
      "x-other": "2",
      cookie: "a=b",
      connection: "close",
    });
  });

  test.each([
    ["/login?a=b", (prefix: string) => `${prefix}/login?a=b`],
    ["next", () => "next"],
    ["//elsewhere/x", () => "//elsewhere/x"],
    ["https://elsewhere/x", () => "https://elsewhere/x"],
    ["http://OWN/x", (prefix: string) => `${prefix}/x`],
    ["http://OWN", (prefix: string) => `${prefix}/`],
  ])(
    "a redirect to %s is rewritten to the proxy path when it points to the backend",
    async (to, expected) => {
      const place = to.replace("OWN", `127.0.0.1:${backend.port}`);
      const answer = await server.admin.get(at(`/move?to=${encodeURIComponent(place)}`));
      expect([answer.status, answer.headers.location]).toEqual([302, expected(at(""))]);
    },
  );

  test("a port may be given, with a scheme", async () => {
    const { port } = backend;
    expect((await ask("GET", at("/x", `bare:${port}`))).url).toBe("/x");
    expect((await ask("GET", at("/x", `http:bare:${port}`))).url).toBe("/x");
    expect((await ask("GET", at("/x", `:bare:${port}`))).url).toBe("/x");
  });

  test.each(["bare:x", "bare:0", "bare:65536", "ftp:bare:80", "a:b:c:d", "http::80", "bare:-1"])(
    "the name %s is 400",
    async (name) => {
      const { status, body } = await server.admin.get(at("/", name));
      expect([status, body.reason]).toEqual([400, "BadRequest"]);
      expect(body.message).toContain(`invalid pod request ${JSON.stringify(name)}`);
    },
  );

  test("a missing pod is 404, and so is a path below another subresource", async () => {
    expect((await server.admin.get(at("/", "missing"))).body.message).toBe('pods "missing" not found');
    expect((await server.admin.get(`${pods}/echo/log/x`)).status).toBe(404);
  });

  test("an unreachable backend is 503, and the message has its address", async () => {
    const { status, body } = await server.admin.get(at("/", "gone"));
    expect([status, body.reason]).toEqual([503, "ServiceUnavailable"]);
    expect(body.message).toMatch(/^error trying to reach http:\/\/127\.0\.0\.1:\d+: connection refused$/);
  });

  test("an HTTP/2 request is forwarded in the same way", async () => {
    const session = http2Session(server);
    const authorization = `Bearer ${server.server.adminToken}`;
    const head = { ":path": at("/a%2F/?x"), authorization };
    const got = await answerOf(session.request(head));
    expect(JSON.parse(got.text)).toMatchObject({ method: "GET", url: "/a%2F/?x" });
    const stream = session.request({ ...head, ":method": "POST", cookie: "a=1" });
    stream.write("one ");
    stream.end("two");
    const { body, headers } = JSON.parse((await answerOf(stream)).text) as Echo;
    expect(body).toBe("one two");
    expect(headers).toMatchObject({ "transfer-encoding": "chunked", cookie: "a=1" });
    expect(headers["content-length"]).toBeUndefined();
    expect(headers["authorization"]).toBeUndefined();
    expect((await answerOf(session.request({ ...head, ":method": "HEAD" }))).status).toBe(200);
    session.close();
  });

  test("a user without permission for the verb is 403 and not forwarded", async () => {
    expect((await server.as("reader").get(at("/x"))).status).toBe(200);
    const before = backend.requests.length;
    const post = await server.as("reader").ask("POST", at("/x"), { raw: "x" });
    expect(post.status).toBe(403);
    const refused = await server.as("nobody").get(at("/x"));
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('cannot get resource "pods/proxy" in API group ""');
    expect(backend.requests.length).toBe(before);
  });

  test("a proxied request is counted with the verb CONNECT", async () => {
    const { text } = await server.admin.get("/metrics");
    const lines = text.split("\n").filter((line) => line.includes(`subresource="proxy"`));
    expect(
      lines.filter((line) => line.startsWith("apiserver_request_total") && line.includes(`verb="CONNECT"`)),
    ).not.toEqual([]);
  });
});
