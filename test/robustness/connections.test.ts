import { useServer } from "../support/use-server.ts";
import { constants } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configMap, namespace, ok, until } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { RawConnection, answerOf, head, http2Session, portOf, stillAnswers } from "./support.ts";

const path = "/api/v1/namespaces/default/configmaps";
const defects: unknown[] = [];
const note = (facts: object) => void defects.push(facts);
const server = useServer({ log: { info: () => undefined, warn: () => undefined, error: note } });

beforeAll(async () => {
  await ok(server.admin.post(path, configMap("target")));
});

afterAll(async () => {
  await stillAnswers(server);
  expect(defects).toEqual([]);
});

describe("malformed requests", () => {
  test.each([
    ["no HTTP", "hello\r\n\r\n", 400],
    ["an unknown version", "GET / HTTP/9.9\r\n\r\n", 400],
    ["an unknown method", "FETCH / HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["a header without a name", "GET / HTTP/1.1\r\n: x\r\n\r\n", 400],
    ["a NUL in a header", "GET / HTTP/1.1\r\nHost: x\r\nA: \u0000\r\n\r\n", 400],
    ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["two Hosts", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n", 400],
    ["one Host twice", "GET /livez HTTP/1.1\r\nHost: a\r\nhOST: a\r\nConnection: close\r\n\r\n", 400],
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400],
    ["a length that is none", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", 400],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    ["a huge path", `GET /${"a".repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ["a huge header", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(40_000)}\r\n\r\n`, 431],
    ["too many headers", `GET / HTTP/1.1\r\nHost: x\r\n${"A: b\r\n".repeat(20_000)}\r\n`, 431],
  ])("%s is rejected and the connection closed", async (_what, bytes, status) => {
    const connection = await RawConnection.open(portOf(server));
    connection.write(bytes);
    // A client that still sends when the response arrives may lose it with the connection.
    const lost = status === 431 ? "|$" : "";
    expect(await connection.closes()).toMatch(new RegExp(`^(HTTP/1\\.1 ${status} ${lost})`));
  });

  test("an invalid chunk is rejected", async () => {
    const connection = await RawConnection.open(portOf(server));
    connection
      .write(head(server, `POST ${path}`, "Transfer-Encoding: chunked"))
      .write("zz\r\nnot a chunk\r\n");
    expect(await connection.closes()).toMatch(/^(HTTP\/1\.1 400 |$)/);
  });

  test("a body shorter than its Content-Length stores nothing when the client disconnects", async () => {
    const connection = await RawConnection.open(portOf(server));
    connection
      .write(head(server, `POST ${path}`, "Content-Length: 500"))
      .write('{"metadata":{"name":"short"}}');
    connection.socket.end();
    await connection.closes();
    expect((await server.admin.get(`${path}/short`)).status).toBe(404);
  });

  test("bytes after a body longer than its Content-Length are no valid request", async () => {
    const body = '{"metadata":{"name":"long"}}';
    const connection = await RawConnection.open(portOf(server));
    connection
      .write(head(server, `POST ${path}`, `Content-Length: ${body.length}`))
      .write(`${body}GARBAGE\r\n\r\n`);
    expect((await connection.closes()).match(/HTTP\/1\.1 \d+/g)!.at(-1)).toBe("HTTP/1.1 400");
  });

  test("pipelined requests are answered in order", async () => {
    const connection = await RawConnection.open(portOf(server));
    connection.write(
      [1, 2, 3].map((n) => head(server, `GET /livez?${n}`)).join("") + head(server, "GET /nothing"),
    );
    expect((await connection.receives(/HTTP\/1\.1 404 /)).match(/HTTP\/1\.1 \d+/g)).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "HTTP/1.1 404",
    ]);
    connection.destroy();
  });

  test.each(["TRACE", "PROPFIND", "LOCK", "SEARCH", "OPTIONS"])("%s is 405 on a resource", async (method) => {
    expect((await server.admin.ask(method, path)).status).toBe(405);
  });

  test("CONNECT and upgrades are rejected", async () => {
    const connect = await RawConnection.open(portOf(server));
    connect.write(head(server, "CONNECT localhost:80"));
    expect(await connect.closes()).not.toMatch(/ 200 /);
    const upgrade = await RawConnection.open(portOf(server));
    upgrade.write(head(server, "GET /livez", "Connection: Upgrade", "Upgrade: websocket"));
    expect(await upgrade.receives(/\r\n\r\n/)).not.toMatch(/ 101 /);
    upgrade.destroy();
  });

  test.each(["%", "%zz", "%c3%28", "a%", "%e0%80%80"])("the path segment %s is 400", async (segment) => {
    expect((await server.admin.get(`/api/v1/namespaces/${segment}`)).status).toBe(400);
  });

  test.each(["%00", "..%2f..%2fetc", "%F0%9F%92%A9", "a%20b", "%0d%0aX:%20y"])(
    "the name %s is 404",
    async (segment) => {
      expect((await server.admin.get(`/api/v1/namespaces/${segment}`)).status).toBe(404);
      expect((await server.admin.get(`${path}/${segment}`)).status).toBe(404);
      const list = await server.admin.get(`/api/v1/namespaces/${segment}/configmaps`);
      // An encoded slash separates path segments.
      if (segment.includes("%2f")) expect(list.status).toBe(404);
      else expect(list.body.items).toEqual([]);
    },
  );

  test.each([
    "?%",
    "?%zz=%zz",
    "?&&&===",
    `?a=${"b".repeat(20_000)}`,
    "?watch=%00",
    "?limit=%00",
    `?labelSelector=${"a,".repeat(8000)}a`,
  ])("the query %s is 400 or 422", async (query) => {
    const { status } = await server.admin.get(`${path}${query}&timeoutSeconds=-1`);
    expect([400, 422]).toContain(status);
  });
});

describe("concurrent and disconnecting clients", () => {
  test("clients that disconnect in every phase leak nothing", async () => {
    const phases = [
      "",
      "GET ",
      `POST ${path} HTTP/1.1\r\nHost: x\r\n`,
      head(server, `POST ${path}`, "Content-Length: 100"),
      `${head(server, `POST ${path}`, "Content-Length: 100")}{"meta`,
      head(server, `GET ${path}`),
      head(server, `GET ${path}?watch=true`),
      `${head(server, "POST /api/v1/namespaces", "Content-Length: 31")}{"metadata":{"name":"left-us"}} `,
    ];
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        phases.map(async (bytes) => {
          const connection = await RawConnection.open(portOf(server));
          connection.write(bytes);
          connection.destroy();
          await connection.closes();
        }),
      );
    }
    await stillAnswers(server);
  });

  test("concurrent writes: exactly one succeeds in each round", async () => {
    for (let round = 0; round < 10; round++) {
      const creates = await Promise.all(
        Array.from({ length: 12 }, () => server.admin.post(path, configMap(`race-${round}`))),
      );
      expect(creates.map(({ status }) => status).toSorted()).toEqual([
        201,
        ...Array.from({ length: 11 }, () => 409),
      ]);
      const standing = creates.find(({ status }) => status === 201)!.body;
      const updates = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          server.admin.put(`${path}/race-${round}`, { ...standing, data: { i: String(i) } }),
        ),
      );
      expect(updates.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(updates.filter(({ status }) => status === 409)).toHaveLength(11);
      const won = updates.find(({ status }) => status === 200)!.body;
      expect((await server.admin.get(`${path}/race-${round}`)).body).toEqual(won);
      const deletes = await Promise.all(
        Array.from({ length: 12 }, () => server.admin.delete(`${path}/race-${round}`)),
      );
      expect(deletes.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(deletes.filter(({ status }) => status === 404)).toHaveLength(11);
    }
  });

  test("concurrent PUTs of a missing role: one creates it, the others update it", async () => {
    const at = "/apis/rbac.authorization.platform.io/v1/clusterroles/raced";
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        server.admin.put(at, { metadata: { name: "raced", labels: { i: String(i) } }, rules: [] }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
  });

  test("close() ends idle connections and watches, and leaks no handle", async () => {
    const resources = () =>
      process.getActiveResourcesInfo().filter((one) => one === "TCPServerWrap" || one === "TCPSocketWrap")
        .length;
    const before = resources();
    const short = await TestServer.start();
    await short.admin.get("/livez");
    const watching = await short.admin.watch("/api/v1/namespaces");
    const session = http2Session(short);
    await answerOf(session.request({ ":path": "/livez" }));
    const start = performance.now();
    await short.close();
    await watching.toEnd();
    session.destroy();
    expect(performance.now() - start).toBeLessThan(4000);
    await until(resources, (count) => count <= before);
  });

  test("close() finishes while a client sends requests", async () => {
    const short = await TestServer.start();
    const asks = Array.from({ length: 20 }, (_, i) =>
      short.admin.post("/api/v1/namespaces", namespace(`n${i}`)).catch(() => undefined),
    );
    await short.server.close();
    await Promise.all(asks);
    await short.close();
  });
});

describe("HTTP/2 connections", () => {
  const get = (at: string) => ({ ":path": at, authorization: `Bearer ${server.server.adminToken}` });

  test("support GET, HEAD, a write and a watch", async () => {
    const session = http2Session(server);
    expect((await answerOf(session.request(get(`${path}/target`)))).text).toContain('"ConfigMap"');
    expect(await answerOf(session.request({ ...get(`${path}/target`), ":method": "HEAD" }))).toMatchObject({
      status: 200,
      text: "",
    });
    expect(await answerOf(session.request({ ...get(path), ":method": "HEAD" }))).toMatchObject({
      status: 200,
      text: "",
    });
    const write = session.request({ ...get(path), ":method": "POST", "content-type": "application/json" });
    write.end(JSON.stringify(configMap("by-h2")));
    expect((await answerOf(write)).status).toBe(201);
    const watch = session.request(get(`${path}?watch=true`));
    await new Promise((resolve) => watch.once("data", resolve));
    watch.close();
    session.close();
  });

  test("a Host different from :authority is 400", async () => {
    const session = http2Session(server);
    const ask = async (headers: Record<string, string | string[]>) =>
      (await answerOf(session.request({ ":path": "/livez", ...headers }))).status;
    expect(await ask({ ":authority": "a:1", host: "b:1" })).toBe(400);
    expect(await ask({ ":authority": "a:1", host: "A:1" })).toBe(200);
    expect(await ask({ ":authority": "a:1" })).toBe(200);
    session.close();
  });

  test("a thousand streams reset immediately don't affect other clients", async () => {
    const session = http2Session(server);
    for (let burst = 0; burst < 10 && !session.destroyed; burst++) {
      for (let i = 0; i < 100; i++) {
        const stream = session.request(get(`${path}?watch=true`));
        stream.on("error", () => undefined);
        stream.close(constants.NGHTTP2_CANCEL);
      }
      await stillAnswers(server);
    }
    session.destroy();
  });

  test("a connection that breaks within a body stores nothing", async () => {
    const session = http2Session(server);
    const stream = session.request({ ...get(path), ":method": "POST", "content-type": "application/json" });
    stream.write('{"metadata":{"name":"half"}}');
    await stillAnswers(server);
    const broken = answerOf(stream);
    session.destroy(undefined, constants.NGHTTP2_CANCEL);
    await broken;
    await stillAnswers(server);
    expect((await server.admin.get(`${path}/half`)).status).toBe(404);
  });

  test("huge headers and invalid HTTP/2 bytes are rejected", async () => {
    const session = http2Session(server);
    const stream = session.request({ ...get("/livez"), a: "x".repeat(60_000), b: "x".repeat(60_000) });
    const { status } = await answerOf(stream);
    expect(status).not.toBe(200);
    session.destroy();
    const raw = await RawConnection.open(portOf(server), ["h2"]);
    raw.write("GET / HTTP/1.1\r\n\r\n".repeat(10));
    await raw.closes();
  });
});
