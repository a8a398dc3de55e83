import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { grant, startWithUsers, until } from "../api/support.ts";
import { lacksDescriptor, openFileLimit, openFiles } from "../../src/server/start/open-files.ts";
import { makePod, SilentServer } from "../support/backends.ts";
import type { TestServer } from "../support/api.ts";
import { answerOf } from "./support.ts";

const path = "/api/v1/namespaces/default/pods/silent/proxy/";
const maxConnections = 80;

describe("requests to unresponsive backends", () => {
  let server: TestServer;
  let silent: SilentServer;
  const sessions: ClientHttp2Session[] = [];
  beforeAll(async () => {
    silent = await SilentServer.start();
    const connections = { allowLoopback: true };
    server = await startWithUsers([{ name: "hog" }, { name: "quiet" }], { maxConnections, connections });
    for (const name of ["hog", "quiet"])
      await grant(server.admin, name, [{ verbs: ["*"], apiGroups: [""], resources: ["pods", "pods/proxy"] }]);
    await makePod(server.admin, "silent", { ip: "127.0.0.1", port: silent.port });
  });
  afterAll(async () => {
    for (const session of sessions) session.destroy();
    await server.close();
    await silent.close();
  });

  const session = () => {
    const opened = connectHttp2(server.server.url!, { ca: server.server.caCertificate! });
    opened.on("error", () => undefined);
    sessions.push(opened);
    return opened;
  };
  const ask = (on: ClientHttp2Session, user: string): ClientHttp2Stream => {
    const stream = on.request({ ":path": path, authorization: `Bearer ${user}` });
    stream.on("error", () => undefined);
    return stream;
  };
  const metric = async (name: string) => {
    const { text } = await server.admin.get("/metrics");
    const line = text.split("\n").find((one) => one.startsWith(`platform_${name} `));
    return Number(line?.split(" ")[1] ?? Number.NaN);
  };

  test("are 429 beyond the user's share, and other users are connected and served", async () => {
    const [hogs, quiets] = [session(), session()];
    const answers = Array.from({ length: 60 }, () => answerOf(ask(hogs, "hog")));
    // Half of all connections, less an eighth for exempt levels, of which one user gets half.
    const share = Math.floor((maxConnections / 2) * (7 / 8) * (1 / 2));
    await until(
      () => silent.sockets.size,
      (open) => open >= share,
    );
    const refused = await Promise.any(
      answers.map(async (answer) => {
        const { status, text } = await answer;
        return status === 429 ? text : Promise.reject(new Error(String(status)));
      }),
    );
    expect(JSON.parse(refused)).toMatchObject({
      reason: "TooManyRequests",
      message: "too many connections to pods, services and nodes are open for this user; please try again",
      details: { retryAfterSeconds: 1 },
    });
    expect(silent.sockets.size).toBe(share);
    expect(await metric("backend_connections")).toBe(share);
    expect(await metric('backend_connections_refused_total{reason="caller"}')).toBe(60 - share);
    ask(quiets, "quiet");
    await until(
      () => silent.sockets.size,
      (open) => open === share + 1,
    );
    expect((await server.as("quiet").get("/livez")).status).toBe(200);
    hogs.destroy();
    quiets.destroy();
    await until(
      () => metric("backend_connections"),
      (open) => open === 0,
    );
  });

  test("reduce the limit of client connections by their own number", async () => {
    const hogs = session();
    for (let n = 0; n < 15; n++) ask(hogs, "hog");
    await until(
      () => metric("backend_connections"),
      (open) => open === 15,
    );
    const before = await metric("client_connections_refused_total");
    const more = Array.from({ length: maxConnections - 10 }, () => session());
    await until(
      () => metric("client_connections_refused_total"),
      (refused) => refused >= before + 5,
    );
    expect((await metric("client_connections")) + 15).toBeLessThanOrEqual(maxConnections);
    for (const one of [hogs, ...more]) one.destroy();
  });
});

test("open file descriptors are counted, and one can be opened", async () => {
  expect(await lacksDescriptor()).toBe(false);
  const open = await openFiles();
  expect(open === undefined).toBe(openFileLimit() === undefined);
  if (open !== undefined) expect(open).toBeGreaterThan(3);
});
