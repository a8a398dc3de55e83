import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { SilentServer } from "../../support/backends.ts";
import {
  apiService,
  apiServices,
  ExtensionServer,
  type ExtensionListener,
} from "../../support/extension-server.ts";
import { TestServer } from "../../support/api.ts";
import { answerOf, head, http2Session, portOf, RawConnection } from "../../robustness/support.ts";
import { grant, ok, startWithUsers, until } from "../support.ts";

let server: TestServer;
let extension: ExtensionServer;
let usual: ExtensionListener;
let widgets: string;
beforeAll(async () => {
  server = await startWithUsers(
    [{ name: "ann" }, { name: "admin2", groups: ["system:masters"] }, { name: "nobody" }],
    {
      connections: { allowLoopback: true },
    },
  );
  extension = await ExtensionServer.start();
  await extension.register(server.admin);
  await grant(server.admin, "ann", [{ verbs: ["*"], apiGroups: [extension.group], resources: ["*"] }]);
  widgets = `${extension.path}/namespaces/default/widgets`;
  usual = extension.answer;
});
afterEach(() => {
  extension.answer = usual;
  extension.received.length = 0;
});
afterAll(async () => {
  await server.close();
  await extension.close();
});

describe("an upgrade request to an extension server", () => {
  const lines = ["Connection: Upgrade", "Upgrade: SPDY/3.1"];
  const send = async (line: string, first = "", headers: readonly string[] = lines) => {
    const connection = await RawConnection.open(portOf(server));
    return connection.write(head(server, line, ...headers) + first);
  };

  test("is forwarded, and bytes pass in both directions from the first byte", async () => {
    extension.upgrade = (request, socket, early) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nhello `,
      );
      socket.write(early);
      socket.pipe(socket);
    };
    const connection = await send(`GET ${widgets}/one/stream?a=b`, "early ");
    expect(await connection.receives(/hello early $/)).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    connection.write("\u0000\u00ff late");
    await connection.receives(/late$/);
    const [request] = extension.received;
    expect(request).toMatchObject({ url: `${widgets}/one/stream?a=b` });
    expect(request!.headers).toMatchObject({ upgrade: "SPDY/3.1", "x-remote-user": "admin" });
    expect(request!.headers.authorization).toBeUndefined();
    connection.destroy();
    await until(
      () => [...extension.sockets].filter((one) => one.bytesWritten > 0 && !one.destroyed).length,
      (left) => left <= 2,
    );
  });

  test("gets the extension server's response when it is rejected", async () => {
    extension.upgrade = (_request, socket) =>
      void socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    const connection = await send(`GET ${widgets}/one/stream`);
    expect(await connection.closes()).toMatch(/^HTTP\/1\.1 403 [^]*no$/);
  });

  test("is not forwarded when the user has no permission", async () => {
    const connection = await RawConnection.open(portOf(server));
    connection.write(
      `GET ${widgets}/one/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer nobody\r\n${lines.join("\r\n")}\r\n\r\n`,
    );
    await connection.receives(/^HTTP\/1\.1 403 /);
    expect(extension.received).toEqual([]);
    connection.destroy();
  });
});

describe("a misbehaving extension server", () => {
  test.each<[string, (socket: Socket) => void, number | "broken"]>([
    ["that closes the connection", (socket) => void socket.destroy(), 503],
    ["that answers with no HTTP", (socket) => void socket.end("hello\r\n\r\n"), 503],
    [
      "that answers with a status that there isn't",
      (socket) => void socket.end("HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n"),
      503,
    ],
    [
      "that changes the protocol unasked",
      (socket) =>
        void socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
      503,
    ],
    [
      "with headers that are too long",
      (socket) => void socket.end(`HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(100_000)}\r\n\r\n`),
      503,
    ],
    [
      "that says a length and breaks off",
      (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"),
      "broken",
    ],
  ])("%s affects only its own requests", async (_title, lie, outcome) => {
    extension.answer = (request) => lie(request.socket);
    const answered = server.as("ann").get(`${widgets}/one`);
    if (outcome === "broken") await expect(answered).rejects.toThrow();
    else expect((await answered).status).toBe(outcome);
    extension.answer = usual;
    expect((await server.as("ann").get(`${widgets}/one`)).status).toBe(200);
    expect((await server.admin.get("/api/v1/namespaces/default")).status).toBe(200);
  });

  test("can't set hop-by-hop or invalid headers", async () => {
    extension.answer = (request) => {
      request.socket.end(
        "HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=1\r\nProxy-Authenticate: Basic\r\n" +
          "Audit-Id: mine\r\nX-Kept: yes\r\nContent-Length: 2\r\n\r\n{}",
      );
    };
    const { headers } = await ok(server.as("ann").get(`${widgets}/one`));
    expect(headers).toMatchObject({ "x-kept": "yes" });
    expect(headers["audit-id"]).not.toBe("mine");
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(["x-hop"]));
    expect(headers["proxy-authenticate"]).toBeUndefined();
  });

  test("sending byte by byte uses no seat of other requests, and the client gets every byte", async () => {
    extension.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      let sent = 0;
      const timer = setInterval(() => {
        response.write("x");
        if (++sent === 40) {
          clearInterval(timer);
          response.end();
        }
      }, 5);
    };
    const slow = Promise.all(Array.from({ length: 20 }, () => server.as("ann").get(`${widgets}/one`)));
    expect((await server.as("admin2").get("/api/v1/namespaces/default")).status).toBe(200);
    expect((await slow).map(({ text }) => text.length)).toEqual(Array<number>(20).fill(40));
  });
});

test("HTTP/2 requests are forwarded like HTTP/1.1, and a reset stream ends the forwarded request", async () => {
  const session = http2Session(server);
  const ask = (path: string) =>
    session.request({
      ":path": path,
      authorization: `Bearer ${server.server.adminToken}`,
      "x-remote-user": "root",
    });
  const answered = await answerOf(ask(`${widgets}/one`));
  expect([answered.status, JSON.parse(answered.text)]).toEqual([
    200,
    { kind: "Widget", path: `${widgets}/one` },
  ]);
  expect(extension.received[0]!.headers["x-remote-user"]).toBe("admin");
  let closed = false;
  extension.answer = (request) => void request.socket.once("close", () => (closed = true));
  const stream = ask(`${widgets}/two`);
  stream.on("error", () => undefined);
  await until(
    () => extension.received.length,
    (count) => count === 2,
  );
  stream.close(8);
  await until(() => closed, Boolean);
  session.destroy();
});

test("a client that disconnects ends its request to the extension server", async () => {
  let closed = false;
  extension.answer = (request) => void request.socket.once("close", () => (closed = true));
  const connection = await RawConnection.open(portOf(server));
  connection.write(head(server, `GET ${widgets}/one`));
  await until(
    () => extension.received.length,
    (count) => count === 1,
  );
  connection.destroy();
  await until(() => closed, Boolean);
});

test("a body of 20 MB is forwarded no faster than it is read, and not buffered", async () => {
  let received = 0;
  extension.answer = (request, response) => {
    request.pause();
    setTimeout(() => request.resume(), 200);
    request.on("data", (chunk: Buffer) => (received += chunk.length));
    request.on("end", () => extension.json(response, { received }));
  };
  const raw = Buffer.alloc(20 * 1024 * 1024, "a");
  const { body } = await ok(server.as("ann").ask("POST", widgets, { raw, contentType: "application/json" }));
  expect(body).toEqual({ received: raw.length });
});

test("a hundred APIServices that never answer don't slow down other requests", async () => {
  const silent = await SilentServer.start();
  const spec = {
    service: { namespace: "default", name: "extension", port: silent.port },
    insecureSkipTLSVerify: true,
  };
  const median = async (path: string) => {
    const times: number[] = [];
    for (let at = 0; at < 60; at++) {
      const begun = performance.now();
      expect((await server.admin.get(path)).status).toBe(200);
      times.push(performance.now() - begun);
    }
    return times.toSorted((a, b) => a - b)[30]!;
  };
  const before = await median("/api/v1/namespaces/default");
  const names = Array.from({ length: 100 }, (_, at) => `dead${at}.example.com`);
  await Promise.all(names.map((group) => ok(server.admin.post(apiServices, apiService(group, "v1", spec)))));
  await until(
    () => silent.sockets.size,
    (open) => open >= 40,
  );
  expect(silent.sockets.size).toBeLessThanOrEqual(60);
  expect(await median("/api/v1/namespaces/default")).toBeLessThan(before * 3 + 5);
  expect((await server.as("ann").get(`${widgets}/one`)).status).toBe(200);
  const begun = performance.now();
  const { body } = await ok(server.admin.get("/apis"));
  expect(body.groups.filter(({ name }: { name: string }) => name.startsWith("dead"))).toHaveLength(100);
  const refused = await Promise.all(names.map((group) => server.admin.get(`/apis/${group}/v1`)));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
  expect(performance.now() - begun).toBeLessThan(2000);
  await Promise.all(names.map((group) => ok(server.admin.delete(`${apiServices}/v1.${group}`))));
  await silent.close();
});

test("an unsupported method is not forwarded", async () => {
  const connection = await RawConnection.open(portOf(server));
  connection.write(head(server, `TRACE ${widgets}/one`));
  await connection.receives(/^HTTP\/1\.1 405 /);
  expect(extension.received).toEqual([]);
  connection.destroy();
});
