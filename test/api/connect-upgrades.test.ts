import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { head, http2Session, answerOf, portOf, RawConnection } from "../robustness/support.ts";
import { makePod, SilentServer, upgradeEcho } from "../support/backends.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock, settle, until } from "./support.ts";
import { pods, upgrade, useStreamingPods } from "./connect-upgrades-support.ts";

const { server, streams, send } = useStreamingPods();

describe("an upgrade request through a proxy", () => {
  const path = `${pods}/pod/proxy/socket%20?a=b`;

  test("is accepted, and bytes pass in both directions from the first byte", async () => {
    const connection = await send(`GET ${path}`, upgrade, "early ");
    const text = await connection.receives(/early $/);
    expect(text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(text).toMatch(/\r\nConnection: Upgrade\r\nUpgrade: SPDY\/3\.1\r\n/);
    expect(text).toContain("\r\n\r\nhello /socket%20?a=b\n");
    connection.write("late");
    await connection.receives(/early late$/);
    connection.destroy();
  });

  test("forwards the client's headers except its credentials", async () => {
    const token = "base64url.bearer.authorization.platform.io.c2VjcmV0";
    const connection = await send(`GET ${path}`, [
      ...upgrade,
      "Sec-WebSocket-Key: abc",
      `Sec-WebSocket-Protocol: ${token}, v4.channel, v3.channel`,
      "Impersonate-User: ana",
      "Impersonate-Group: system:masters",
    ]);
    await connection.receives(/hello/);
    const { headers, rawHeaders } = streams.backend.requests.at(-1)!;
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

  test("returns the backend's response and closes the connection when the backend rejects the upgrade", async () => {
    streams.onUpgrade = (_request, socket) =>
      socket.end("HTTP/1.1 403 Forbidden\r\nX-Why: no\r\nContent-Length: 4\r\n\r\nnope");
    const text = await (await send(`GET ${path}`)).closes();
    expect(text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(text).toMatch(/\r\nx-why: no\r\n/i);
    expect(text).toMatch(/\r\n\r\nnope$/);
  });

  test.each([301, 302, 303, 307, 308, 399])("is 502 when the backend answers %d", async (status) => {
    streams.onUpgrade = (_request, socket) => {
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

  test("returns a plain response when the backend ignores the upgrade", async () => {
    streams.onUpgrade = (_request, socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nplain\r\n0\r\n\r\n`);
    expect(await (await send(`GET ${path}`)).closes()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*plain/);
  });

  test("with a body is sent as a plain request", async () => {
    const connection = await send(`POST ${path}`, [...upgrade, "Content-Length: 2"], "hi");
    expect(await connection.receives(/plain/)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(streams.backend.requests.at(-1)!.headers.upgrade).toBeUndefined();
    connection.destroy();
  });

  test("a request without a Connection: Upgrade header stays a plain request, also over HTTP/2", async () => {
    const connection = await send(`GET ${path}`, ["Upgrade: SPDY/3.1"]);
    expect(await connection.receives(/plain/)).toMatch(/^HTTP\/1\.1 200 OK/);
    connection.destroy();
    const session = http2Session(server);
    const authorization = `Bearer ${server.server.adminToken}`;
    const exec = session.request({ ":path": `${pods}/pod/exec?command=ls`, authorization });
    expect(JSON.parse((await answerOf(exec)).text).message).toBe("Upgrade request required");
    session.close();
  });

  test("is ignored for paths that don't support connections", async () => {
    for (const line of [`GET ${pods}/pod`, "GET /livez", `GET ${pods}/pod/status`, "GET /api/v1/nodes/%zz"]) {
      const connection = await send(line);
      expect(await connection.receives(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 (200|400) /);
      connection.write(head(server, "GET /version"));
      await connection.receives(/gitVersion|400 Bad Request/);
      connection.destroy();
    }
  });

  test("closes the connection when it follows an unanswered request", async () => {
    streams.onUpgrade = () => expect.fail("it must not get here");
    const connection = await RawConnection.open(portOf(server));
    connection.write(head(server, `GET ${pods}?watch=true`) + head(server, `GET ${path}`, ...upgrade));
    await connection.closes();
  });

  test("is 504 when the backend never answers", async () => {
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

  test("large data passes in both directions, no faster than it is read", async () => {
    const size = 64 * 1024 * 1024;
    let written = 0;
    let open: Socket | undefined;
    streams.onUpgrade = (_request, socket) => {
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
      streams.onUpgrade = (request, socket, first) => {
        upgradeEcho(request, socket, first);
        resolve(socket);
      };
    });

  test("closes the backend connection when the client disconnects", async () => {
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

  test("closes the client connection when the backend disconnects", async () => {
    const opened = peer();
    const connection = await send(`GET ${path}`);
    await connection.receives(/hello/);
    (await opened).destroy();
    await connection.closes();
  });

  const large = 8 * 1024 * 1024;

  test("data sent by the backend before it disconnects reaches the client", async () => {
    streams.onUpgrade = (_request, socket) => {
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

  test("data sent by the client before it disconnects reaches the backend", async () => {
    let got = 0;
    let ended = false;
    streams.onUpgrade = (_request, socket) => {
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

  test("reads nothing more from the backend after the client has ended it", async () => {
    let closed = false;
    streams.onUpgrade = (_request, socket) => {
      socket.write("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
      // It doesn't end its own side, but writing to a closed connection fails.
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

  test("is closed immediately when the server stops", async () => {
    const other = await TestServer.start({ connections: { allowLoopback: true } });
    await makePod(other.admin, "pod", { ip: "127.0.0.1", port: streams.backend.port });
    const connection = await RawConnection.open(portOf(other));
    connection.write(head(other, `GET ${path}`, ...upgrade));
    await connection.receives(/hello/);
    const start = performance.now();
    await Promise.all([other.close(), connection.closes()]);
    expect(performance.now() - start).toBeLessThan(3000);
  });

  test("may be idle, and is counted in apiserver_longrunning_requests while open", async () => {
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
