import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { configMap, namespace, ok, until } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { RawConnection, head, portOf, stillAnswers } from "./support.ts";
import { handshake } from "./watch-socket.ts";
import { effort } from "../support/effort.ts";

const path = "/api/v1/namespaces/busy/configmaps";
let server: TestServer;
const cutOff: string[] = [];
const defects: unknown[] = [];
beforeAll(async () => {
  server = await TestServer.start({
    log: {
      info: () => undefined,
      warn: (_facts, message) => void cutOff.push(message),
      error: (facts) => void defects.push(facts),
    },
  });
  await ok(server.admin.post("/api/v1/namespaces", namespace("busy")));
});
afterAll(async () => {
  await stillAnswers(server);
  expect(defects).toEqual([]);
  await server.close();
});

test.each([
  ["a watcher", 200, []],
  ["a WebSocket watcher", 101, handshake],
])(
  "%s that never reads is disconnected when its backlog is full; the others get every event",
  async (_, status, headers) => {
    cutOff.length = 0;
    const stalled = await RawConnection.open(portOf(server));
    stalled.write(head(server, `GET ${path}?watch=true&resourceVersion=0`, ...headers));
    await stalled.receives(new RegExp(`HTTP/1\\.1 ${status} `));
    stalled.socket.pause();
    const reading = await server.admin.watch(`${path}?resourceVersion=0`);
    const big = "x".repeat(700 * 1024);
    let seen = 0;
    const rssBefore = process.memoryUsage().rss;
    for (let i = 0; i < 120 && cutOff.length === 0; i++) {
      await ok(
        server.admin
          .put(`${path}/big`, configMap("big"))
          .then((answer) => (answer.status === 404 ? server.admin.post(path, configMap("big")) : answer)),
      );
      await ok(server.admin.put(`${path}/big`, configMap("big", { big: `${i}${big}` })));
      while (seen <= i) if ((await reading.next()).object.data?.big !== undefined) seen++;
    }
    expect(cutOff).toEqual(["watcher too slow: its backlog is full"]);
    stalled.socket.resume();
    await stalled.closes();
    expect((process.memoryUsage().rss - rssBefore) / 2 ** 20).toBeLessThan(500);
    await ok(server.admin.delete(`${path}/big`));
    await reading.through(({ type }) => type === "DELETED");
    reading.close();
  },
);

test("an unread list response delays no other client", async () => {
  const big = "x".repeat(500 * 1024);
  for (let i = 0; i < 20; i++) await ok(server.admin.post(path, configMap(`big-${i}`, { big })));
  const stalled = await Promise.all(Array.from({ length: 10 }, () => RawConnection.open(portOf(server))));
  for (const connection of stalled) {
    connection.socket.pause();
    connection.write(head(server, `GET ${path}`));
  }
  for (let i = 0; i < 5; i++) await stillAnswers(server);
  for (const connection of stalled) connection.destroy();
  await ok(server.admin.delete(path));
});

/** Number of idle connections that two processors can open in a few seconds; PLINTH_IDLE_CONNECTIONS sets more. */
const idleConnections = Number(process.env["PLINTH_IDLE_CONNECTIONS"] ?? effort(150, 2000));

// Both ends of every handshake run in this process.
const idleTimeout = 30_000 + idleConnections * 20;

test(
  `${idleConnections} idle connections use little memory and delay no other client`,
  { timeout: idleTimeout },
  async () => {
    const sockets: TLSSocket[] = [];
    const rssBefore = process.memoryUsage().rss;
    const open = () =>
      new Promise<void>((resolve, reject) => {
        const socket = connectTls(
          { port: portOf(server), host: "127.0.0.1", rejectUnauthorized: false },
          resolve,
        );
        socket.on("error", reject);
        sockets.push(socket);
      });
    for (let made = 0; made < idleConnections; made += 50)
      await Promise.all(Array.from({ length: 50 }, open));
    await stillAnswers(server);
    const perConnection = (process.memoryUsage().rss - rssBefore) / idleConnections / 1024;
    // Both ends run in this process.
    expect(perConnection).toBeLessThan(400);
    for (const socket of sockets) socket.destroy();
    await until(() => sockets.every((socket) => socket.destroyed), Boolean);
  },
);

const watcherCount = effort(60, 200);

test(`${watcherCount} watchers all get every change in order`, async () => {
  const watchers = await Promise.all(
    Array.from({ length: watcherCount }, () => server.admin.watch(`${path}?resourceVersion=0`)),
  );
  for (let i = 0; i < 20; i++) await ok(server.admin.post(path, configMap(`w-${i}`)));
  const expected = Array.from({ length: 20 }, (_, i) => `w-${i}`);
  for (const watcher of watchers) {
    const names: string[] = [];
    while (names.length < 20) names.push((await watcher.next()).object.metadata.name);
    expect(names).toEqual(expected);
    watcher.close();
  }
});
