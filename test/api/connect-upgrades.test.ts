import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { head, http2Session, answerOf, portOf, RawConnection } from "../robustness/support.ts";
import {
  FakeBackend,
  makeNode,
  makePod,
  SilentServer,
  upgradeEcho,
  type UpgradeListener,
} from "../support/backends.ts";
import { TestServer } from "../support/api.ts";
import { grant, ManualClock, settle, startWithUsers, until } from "./support.ts";

const pods = "/api/v1/namespaces/default/pods";
const upgrade = ["Connection: Upgrade", "Upgrade: SPDY/3.1"];
const { serving } = createServingCertificates(["localhost"], systemClock);
const tls = { cert: serving.certificate, key: serving.key };

let server: TestServer;
let backend: FakeBackend;
let agent: FakeBackend;
let onUpgrade: UpgradeListener = upgradeEcho;
const plain: RequestListener = (request, response) => response.end(`plain ${request.url}`);

beforeAll(async () => {
  const listen: UpgradeListener = (request, socket, first) => onUpgrade(request, socket, first);
  backend = await FakeBackend.start(plain, { upgrade: listen });
  agent = await FakeBackend.start(plain, { tls, upgrade: listen });
  server = await startWithUsers([{ name: "watcher" }, { name: "runner" }], {
    connections: { allowLoopback: true },
  });
  await makeNode(server.admin, "node", { InternalIP: "127.0.0.1" }, agent.port);
  await makePod(server.admin, "pod", { ip: "127.0.0.1", port: backend.port, node: "node" });
  await makePod(server.admin, "two", { node: "node", containers: ["a", "b"] });
  await makePod(server.admin, "waiting");
  const rule = (verbs: string[], resources: string[]) => ({ verbs, apiGroups: [""], resources });
  await grant(server.admin, "watcher", [rule(["get"], ["pods", "pods/exec"])]);
  await grant(server.admin, "runner", [rule(["create"], ["pods/exec"])]);
});
afterEach(async () => {
  onUpgrade = upgradeEcho;
  await until(
    () => backend.sockets.size + agent.sockets.size,
    (open) => open === 0,
  );
});
afterAll(async () => {
  await server.close();
  await backend.close();
  await agent.close();
});

/** Sends the head of a request, and what is to follow it in the same piece. */
async function send(line: string, headers: readonly string[] = upgrade, first = ""): Promise<RawConnection> {
  const connection = await RawConnection.open(portOf(server));
  return connection.write(head(server, line, ...headers) + first);
}

describe("an upgrade through a proxy", () => {
  const path = `${pods}/pod/proxy/socket%20?a=b`;

  test("is taken, and bytes go both ways from the first", async () => {
    const connection = await send(`GET ${path}`, upgrade, "early ");
    const text = await connection.receives(/early $/);
    expect(text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(text).toMatch(/\r\nConnection: Upgrade\r\nUpgrade: SPDY\/3\.1\r\n/);
    expect(text).toContain("\r\n\r\nhello /socket%20?a=b\n");
    connection.write("late");
    await connection.receives(/early late$/);
    connection.destroy();
  });

  test("keeps the client's headers, but for its credentials", async () => {
    const token = "base64url.bearer.authorization.platform.io.c2VjcmV0";
    const connection = await send(`GET ${path}`, [
      ...upgrade,
      "Sec-WebSocket-Key: abc",
      `Sec-WebSocket-Protocol: ${token}, v4.channel, v3.channel`,
      "Impersonate-User: ana",
      "Impersonate-Group: system:masters",
    ]);
    await connection.receives(/hello/);
    const { headers, rawHeaders } = backend.requests.at(-1)!;
    expect(headers).toMatchObject({
      connection: "Upgrade",
      upgrade: "SPDY/3.1",
      "sec-websocket-key": "abc",
      "sec-websocket-protocol": "v4.channel, v3.channel",
      "x-forwarded-for": "127.0.0.1",
    });
    expect(rawHeaders.join(" ")).not.toMatch(/authorization|impersonate|content-length|transfer-encoding/i);
    connection.destroy();
  });

  test("that the backend refuses is answered as the backend does, and the connection closed", async () => {
    onUpgrade = (_request, socket) =>
      socket.end("HTTP/1.1 403 Forbidden\r\nX-Why: no\r\nContent-Length: 4\r\n\r\nnope");
    const text = await (await send(`GET ${path}`)).closes();
    expect(text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(text).toMatch(/\r\nx-why: no\r\n/i);
    expect(text).toMatch(/\r\n\r\nnope$/);
  });

  test.each([301, 302, 303, 307, 308, 399])("that the backend answers with %d is 502", async (status) => {
    onUpgrade = (_request, socket) => {
      socket.end(`HTTP/1.1 ${status} Elsewhere\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n`);
    };
    for (const line of [
      `GET ${path}`,
      `POST ${pods}/two/exec?container=a`,
      `GET ${pods}/two/attach?container=a`,
      `POST ${pods}/two/portforward`,
    ]) {
      const connection = await send(line);
      const text = await connection.closes();
      expect(text).toMatch(/^HTTP\/1\.1 502 /);
      expect(text).toContain('"reason":"BadGateway"');
      expect(text).not.toMatch(/location|10\.0\.0\.1/i);
    }
  });

  test("that the backend ignores is a plain answer", async () => {
    onUpgrade = (_request, socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nplain\r\n0\r\n\r\n`);
    expect(await (await send(`GET ${path}`)).closes()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*plain/);
  });

  test("that comes with a body is no upgrade", async () => {
    const connection = await send(`POST ${path}`, [...upgrade, "Content-Length: 2"], "hi");
    expect(await connection.receives(/plain/)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(backend.requests.at(-1)!.headers.upgrade).toBeUndefined();
    connection.destroy();
  });

  test("that nobody asks for stays a plain request, also by HTTP/2", async () => {
    const connection = await send(`GET ${path}`, ["Upgrade: SPDY/3.1"]);
    expect(await connection.receives(/plain/)).toMatch(/^HTTP\/1\.1 200 OK/);
    connection.destroy();
    const session = http2Session(server);
    const authorization = `Bearer ${server.server.adminToken}`;
    const exec = session.request({ ":path": `${pods}/pod/exec?command=ls`, authorization });
    expect(JSON.parse((await answerOf(exec)).text).message).toBe("Upgrade request required");
    session.close();
  });

  test("is ignored by everything that isn't a connection", async () => {
    for (const line of [`GET ${pods}/pod`, "GET /livez", `GET ${pods}/pod/status`, "GET /api/v1/nodes/%zz"]) {
      const connection = await send(line);
      expect(await connection.receives(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 (200|400) /);
      connection.write(head(server, "GET /version"));
      await connection.receives(/gitVersion|400 Bad Request/);
      connection.destroy();
    }
  });

  test("behind a request that isn't answered yet ends the connection", async () => {
    onUpgrade = () => expect.fail("it must not get here");
    const connection = await RawConnection.open(portOf(server));
    connection.write(head(server, `GET ${pods}?watch=true`) + head(server, `GET ${path}`, ...upgrade));
    await connection.closes();
  });

  test("of a backend that never answers is 504", async () => {
    const clock = new ManualClock();
    const silent = await SilentServer.start();
    const other = await TestServer.start({ clock, connections: { allowLoopback: true } });
    await makePod(other.admin, "pod", { ip: "127.0.0.1", port: silent.port });
    const connection = await RawConnection.open(portOf(other));
    connection.write(head(other, `GET ${path}`, ...upgrade));
    await until(
      () => silent.sockets.size,
      (count) => count > 0,
    );
    await settle();
    await clock.advance(30_001);
    expect(await connection.closes()).toMatch(/^HTTP\/1\.1 504 /);
    await silent.close();
    await other.close();
  });

  test("much data passes both ways, no faster than it is taken", async () => {
    const size = 64 * 1024 * 1024;
    let written = 0;
    let open: Socket | undefined;
    onUpgrade = (_request, socket) => {
      open = socket;
      socket.write("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
      const chunk = Buffer.alloc(1024 * 1024, "x");
      const more = () => {
        while (written < size) {
          written += chunk.length;
          if (!socket.write(chunk)) return void socket.once("drain", more);
        }
      };
      more();
    };
    const connection = await send(`GET ${path}`);
    await connection.receives(/101 Switching/);
    let got = 0;
    connection.socket.removeAllListeners("data");
    connection.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(written).toBeLessThan(size / 2);
    connection.socket.on("data", (chunk: Buffer) => (got += chunk.length));
    connection.socket.resume();
    await until(
      () => got,
      (bytes) => bytes > size - 1024 * 1024,
    );
    expect(open!.destroyed).toBe(false);
    connection.destroy();
  });
});

describe("an upgraded connection", () => {
  const path = `${pods}/pod/proxy/`;
  const peer = () =>
    new Promise<Socket>((resolve) => {
      onUpgrade = (request, socket, first) => {
        upgradeEcho(request, socket, first);
        resolve(socket);
      };
    });

  test("ends for the backend when the client leaves", async () => {
    const opened = peer();
    const connection = await send(`GET ${path}`);
    await connection.receives(/hello/);
    const socket = await opened;
    connection.destroy();
    await until(
      () => socket.destroyed,
      (gone) => gone,
    );
  });

  test("ends for the client when the backend leaves", async () => {
    const opened = peer();
    const connection = await send(`GET ${path}`);
    await connection.receives(/hello/);
    (await opened).destroy();
    await connection.closes();
  });

  const large = 8 * 1024 * 1024;

  test("what the backend said before it left still reaches the client", async () => {
    onUpgrade = (_request, socket) => {
      socket.write("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
      socket.end(Buffer.alloc(large, "x"));
    };
    const connection = await send(`GET ${path}`);
    await connection.receives(/101 Switching/);
    connection.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 100));
    connection.socket.resume();
    const text = await connection.closes();
    expect(text.length - text.indexOf("\r\n\r\n") - 4).toBe(large);
  });

  test("what the client said before it left still reaches the backend", async () => {
    let got = 0;
    let ended = false;
    onUpgrade = (_request, socket) => {
      socket.write("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
      setTimeout(() => socket.on("data", (chunk: Buffer) => (got += chunk.length)), 100);
      socket.on("end", () => {
        ended = true;
        socket.end();
      });
    };
    const connection = await send(`GET ${path}`);
    await connection.receives(/101 Switching/);
    connection.socket.end(Buffer.alloc(large));
    await until(
      () => ended,
      (is) => is,
    );
    expect(got).toBe(large);
  });

  test("that the client has ended takes nothing more from the backend", async () => {
    let closed = false;
    onUpgrade = (_request, socket) => {
      socket.write("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
      // It doesn't end its own side; but who writes to nobody is told so.
      socket.once("end", () => {
        const writing = setInterval(() => socket.write("x"), 20);
        socket.once("close", () => {
          closed = true;
          clearInterval(writing);
        });
      });
      socket.resume();
    };
    const connection = await send(`GET ${path}`);
    await connection.receives(/101 Switching/);
    connection.socket.end();
    await until(
      () => closed,
      (is) => is,
    );
  });

  test("ends when the server stops, at once", async () => {
    const other = await TestServer.start({ connections: { allowLoopback: true } });
    await makePod(other.admin, "pod", { ip: "127.0.0.1", port: backend.port });
    const connection = await RawConnection.open(portOf(other));
    connection.write(head(other, `GET ${path}`, ...upgrade));
    await connection.receives(/hello/);
    const start = performance.now();
    await Promise.all([other.close(), connection.closes()]);
    expect(performance.now() - start).toBeLessThan(3000);
  });

  test("may be silent, and is counted while it lasts", async () => {
    const connection = await send(`GET ${path}`);
    await connection.receives(/hello/);
    const open = async () => {
      const { text } = await server.admin.get("/metrics");
      const lines = text.split("\n").filter((line) => line.startsWith("apiserver_longrunning_requests{"));
      const line = lines.find((one) => one.includes('verb="CONNECT"') && one.includes('subresource="proxy"'));
      return Number(line?.split(" ").at(-1));
    };
    expect(await open()).toBe(1);
    connection.destroy();
    await until(open, (count) => count === 0);
  });
});

describe("streams of a pod", () => {
  const asked = async (line: string, headers?: readonly string[]) => {
    const connection = await send(line, headers);
    await connection.receives(/hello [^\n]*\n/);
    connection.destroy();
    return agent.requests.at(-1)!;
  };

  test.each([
    [
      "exec?command=ls&command=-l+/&stdin=true&stdout=1&stderr=true&tty=true",
      "/exec/default/pod/main?command=ls&command=-l+%2F&error=1&input=1&output=1&tty=1",
    ],
    ["exec?command=a%26b&stdout=false&stdin=0", "/exec/default/pod/main?command=a%26b"],
    ["exec?container=main&x=y", "/exec/default/pod/main"],
    ["attach?stdin=true&tty=true&command=ls", "/attach/default/pod/main?input=1&tty=1"],
    ["attach/", "/attach/default/pod/main"],
    ["portforward", "/portForward/default/pod"],
    ["portforward?ports=80,81&ports=65535", "/portForward/default/pod?port=80%2C81%2C65535"],
  ])("%s asks the agent with %s", async (rest, url) => {
    for (const method of ["POST", "GET"]) {
      const request = await asked(`${method} ${pods}/pod/${rest}`, [
        ...upgrade,
        "X-Stream-Protocol-Version: v4",
      ]);
      expect([request.method, request.url]).toEqual([method, url]);
      expect(request.headers).toMatchObject({ "x-stream-protocol-version": "v4", upgrade: "SPDY/3.1" });
      expect(request.headers.authorization).toBeUndefined();
    }
  });

  test("the agent's answer to an upgrade is handed on with its headers", async () => {
    const connection = await send(`POST ${pods}/pod/exec?command=ls`, [
      ...upgrade,
      "Content-Length: 0",
      "X-Stream-Protocol-Version: v4",
    ]);
    expect(await connection.receives(/hello/)).toMatch(/\r\nx-protocol: v4\r\n/i);
    connection.destroy();
  });

  test.each([
    ["two/exec?command=ls", "a container name must be specified for pod two, choose one of: [a b]"],
    ["two/attach?container=c", "container c is not valid for pod two"],
    ["waiting/exec?command=ls", "pod waiting does not have a host assigned"],
    ["waiting/attach", "pod waiting does not have a host assigned"],
    ["waiting/portforward", "pod waiting does not have a host assigned"],
    ["pod/portforward?ports=x", 'parameter ports: "x" is not a port number'],
    ["pod/portforward?ports=80,", 'parameter ports: "" is not a port number'],
    ["pod/portforward?ports=65536", 'parameter ports: "65536" is not a port number'],
  ])("%s is 400: %s", async (rest, message) => {
    const text = await (await send(`POST ${pods}/${rest}`)).closes();
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(text.split("\r\n\r\n")[1]!)).toMatchObject({ reason: "BadRequest", message });
  });

  test.each(["exec?command=ls", "attach", "portforward"])("%s without an upgrade is 400", async (rest) => {
    const { status, body } = await server.admin.post(`${pods}/pod/${rest}`, undefined);
    expect([status, body.message]).toEqual([400, "Upgrade request required"]);
  });

  test("an upgrade to a log is answered plainly", async () => {
    const text = await (await send(`GET ${pods}/pod/log`)).closes();
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*plain \/containerLogs\/default\/pod\/main/);
  });

  test("whoever may not is refused before anybody is asked, by verb", async () => {
    const before = agent.requests.length;
    const as = async (user: string, line: string, ...more: string[]) => {
      const connection = await RawConnection.open(portOf(server));
      const lines = [`${line} HTTP/1.1`, "Host: x", ...upgrade, ...more];
      if (user !== "") lines.push(`Authorization: Bearer ${user}`);
      connection.write(`${lines.join("\r\n")}\r\n\r\n`);
      const text = await connection.receives(/\r\n\r\n/);
      connection.destroy();
      return Number(text.split(" ")[1]);
    };
    const exec = `${pods}/pod/exec?command=ls`;
    expect(await as("watcher", `POST ${exec}`)).toBe(403);
    expect(await as("runner", `GET ${exec}`)).toBe(403);
    expect(await as("runner", `POST ${pods}/pod/attach`)).toBe(403);
    expect(await as("nobody", `POST ${exec}`)).toBe(401);
    expect(await as("runner", `POST ${exec}`, "Impersonate-User: ana")).toBe(403);
    expect(agent.requests.length).toBe(before);
    expect(await as("runner", `POST ${exec}`)).toBe(101);
    expect(await as("watcher", `GET ${exec}`)).toBe(101);
  });
});
