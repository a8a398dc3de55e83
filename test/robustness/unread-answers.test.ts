import { connect as connectHttp2, constants, type ClientHttp2Session } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configMap, grant, ok, startWithUsers, until } from "../api/support.ts";
import type { TestServer } from "../support/api.ts";
import { answerOf, http2Session } from "./support.ts";

const path = "/api/v1/namespaces/default/configmaps";
const rule = { verbs: ["*"], apiGroups: [""], resources: ["configmaps"] };

describe("clients that don't read their responses", () => {
  let server: TestServer;
  const warnings: object[] = [];
  beforeAll(async () => {
    const note = (facts: object, message: string) => void warnings.push({ ...facts, message });
    server = await startWithUsers([{ name: "hog" }, { name: "quiet" }], {
      log: { info: () => undefined, warn: note, error: note },
    });
    await grant(server.admin, "hog", [rule]);
    await grant(server.admin, "quiet", [rule]);
    const data = { text: "x".repeat(1_000_000) };
    await ok(server.admin.post(path, { ...configMap("large"), data }));
    await ok(server.admin.post(path, configMap("small")));
  });
  afterAll(() => server.close());

  /** Opens a session that reads no response bodies, and requests the large object. */
  const askUnread = (user: string, count: number): Promise<{ session: ClientHttp2Session; code: number }> => {
    const settings = { initialWindowSize: 0 };
    const ca = server.server.caCertificate!;
    const session = connectHttp2(server.server.url!, { ca, settings });
    const asked = { session, code: -1 };
    session.on("error", () => undefined);
    session.on("goaway", (code: number) => (asked.code = code));
    return new Promise((resolve) => {
      session.once("remoteSettings", () => {
        for (let n = 0; n < count; n++) {
          const stream = session.request({ ":path": `${path}/large`, authorization: `Bearer ${user}` });
          stream.on("error", () => undefined);
          stream.end();
        }
        resolve(asked);
      });
    });
  };
  const metric = async (name: string) => {
    const { text } = await server.admin.get("/metrics");
    return Number(new RegExp(`^${name.replaceAll(/[{}"]/g, String.raw`\$&`)} (\\d+)$`, "m").exec(text)?.[1]);
  };

  test("over HTTP/2: those with most of a user's share are closed, and others are served", async () => {
    const asked = await Promise.all(Array.from({ length: 16 }, () => askUnread("hog", 25)));
    await until(
      () => asked.filter(({ session }) => session.destroyed).length,
      (ended) => ended >= 3,
    );
    const ended = asked.filter(({ session }) => session.destroyed);
    expect(ended.map(({ code }) => code)).toContain(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    const start = performance.now();
    expect((await server.as("quiet").get(`${path}/small`)).status).toBe(200);
    expect((await server.as("quiet").post(path, configMap("written"))).status).toBe(201);
    expect((await server.admin.get(`${path}/large`)).status).toBe(200);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(await metric('platform_unread_connections_ended_total{reason="caller"}')).toBeGreaterThan(2);
    expect(warnings).toContainEqual(
      expect.objectContaining({
        reason: "caller",
        caller: "hog",
        message: "connections closed: their clients don't read the responses",
      }),
    );
    for (const { session } of asked) session.destroy();
  });

  test("keep their seats until other requests of the level wait for one", async () => {
    const inUse = () =>
      metric(
        'apiserver_flowcontrol_current_executing_requests{priority_level="global-default",flow_schema="global-default"}',
      );
    const { session } = await askUnread("hog", 5);
    await until(inUse, (count) => count === 5);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await inUse()).toBe(5);
    session.destroy();
    await until(inUse, (count) => count === 0);
  });

  test("a client that reads gets sixty large responses on one connection", async () => {
    const session = http2Session(server);
    const authorization = `Bearer ${server.server.adminToken}`;
    const answers = await Promise.all(
      Array.from({ length: 60 }, () =>
        answerOf(session.request({ ":path": `${path}/large`, authorization })),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => [status, text.length > 1_000_000].join(" ")))).toEqual(
      new Set(["200 true"]),
    );
    session.close();
  });
});
