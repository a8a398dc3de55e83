import { once } from "node:events";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import path from "node:path";
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root, ServerProcess } from "../support/process.ts";
import { effort } from "../support/effort.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../api/support.ts";
import { answerOf, RawConnection } from "./support.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const folder = temporaryFolder();
const connections: RawConnection[] = [];
let server: ServerProcess;

beforeAll(async () => {
  const tokens = path.join(root, "examples/organisation/tokens.csv");
  server = await ServerProcess.start(folder.path, `--token-auth-file=${tokens}`);
});
afterAll(async () => {
  for (const session of sessions) session.destroy();
  for (const connection of connections) connection.destroy();
  await server.stop();
  folder.remove();
});

/** Resident memory of the server in MiB. */
const memory = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))![1]) / 1024;

const sessions: ClientHttp2Session[] = [];

/** A client with a large window, like those in Go, that has read the large object. */
async function readOverHttp2(): Promise<void> {
  const windowBytes = 4 * 1024 * 1024;
  const session = connectHttp2(server.url, {
    rejectUnauthorized: false,
    settings: { initialWindowSize: windowBytes },
  });
  sessions.push(session);
  await once(session, "remoteSettings");
  session.setLocalWindowSize(2 * windowBytes);
  const stream = session.request({
    ":path": `${configMaps}/large`,
    authorization: "Bearer admin-token",
  });
  expect((await answerOf(stream)).status).toBe(200);
}

const watches = 200;
/** TLS state of a connection, one slice of the response, and garbage of the watch's creation. */
const mostPerConnection = 0.5;

// Memory of another process is read from /proc.
test.skipIf(!existsSync("/proc/self/status"))(
  "watches of clients that don't read a large object use little memory each",
  async () => {
    const admin = server.as("admin-token");
    const large = { metadata: { name: "large" }, data: { text: "x".repeat(900_000) } };
    expect((await admin.post(configMaps, large)).status).toBe(201);
    for (let count = 0; count < 20; count++) await admin.get(`${configMaps}/large`);
    const before = memory();
    for (let count = 0; count < watches; count++) {
      const connection = await RawConnection.open(Number(new URL(server.url).port));
      connection.socket.pause();
      connections.push(connection);
      connection.write(
        `GET ${configMaps}?watch=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer admin-token\r\n\r\n`,
      );
    }
    await until(
      async () => (await admin.get("/metrics")).text,
      (text) =>
        new RegExp(`longrunning_requests\\{[^}]*resource="configmaps"[^}]*\\} ${watches}$`, "m").test(text),
    );
    expect((memory() - before) / watches).toBeLessThan(mostPerConnection);
  },
);

test.skipIf(!existsSync("/proc/self/status"))(
  "HTTP/2 connections with large windows keep little memory after a large response",
  async () => {
    // As many that the garbage of the whole server, up to 30 MB, weighs little for each.
    const connectionCount = effort(150, 300);
    await readOverHttp2();
    const before = memory();
    for (let count = 0; count < connectionCount; count++) await readOverHttp2();
    expect((memory() - before) / connectionCount).toBeLessThan(mostPerConnection);
  },
);
