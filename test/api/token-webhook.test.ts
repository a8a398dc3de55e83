import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import { clientConfiguration } from "../support/client-configuration.ts";
import { HttpsService, type Reply } from "../support/https-service.ts";
import { RejectionLog } from "../support/rejection-log.ts";
import { AUTHN, ManualClock, ok } from "./support.ts";

const SELF = `${AUTHN}/selfsubjectreviews`;
const REVIEWS = "/apis/authentication.platform.io/v1/tokenreviews";
const group = "authentication.platform.io";
let folder: string;
let service: HttpsService;
let server: TestServer | undefined;
let reply: (token: string) => Reply;
const log = new RejectionLog();

const reviewed = (status: object, version = "v1beta1"): Reply => ({
  body: { apiVersion: `${group}/${version}`, kind: "TokenReview", spec: { token: "ignored" }, status },
});
const known = (user: object, more: object = {}, version?: string) =>
  reviewed({ authenticated: true, user, ...more }, version);

beforeAll(async () => {
  service = await HttpsService.start(({ text }) => reply((JSON.parse(text) as Review).spec.token));
});
afterAll(() => service.close());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "plinth-webhook-"));
  service.received.length = 0;
  log.reasons.length = 0;
  reply = (token) => known({ username: `user of ${token}` });
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: { readonly token: string; readonly audiences: readonly string[] };
}

const start = async (version: "v1" | "v1beta1" = "v1beta1", cacheMs = 120_000, clock?: ManualClock) =>
  (server = await TestServer.start({
    log,
    runtimeConfig: `${group}/v1alpha1`,
    ...(clock === undefined ? {} : { clock }),
    authentication: {
      apiAudiences: ["api", "api-2"],
      tokenWebhook: { configFile: clientConfiguration(folder, service), version, cacheMs },
    },
  }));
const whoIs = (token: string) => server!.as(token).post(SELF, {});

describe("5.7 the token webhook", () => {
  it("C-5.7-01 C-5.7-02 C-5.7-03 C-5.7-06 C-5.7-07 C-5.7-08 gets a TokenReview as configured", async () => {
    await start();
    await ok(whoIs("opaque"));
    expect(service.received).toHaveLength(1);
    const [{ method, path: at, text, headers, client }] = service.received as [(typeof service.received)[0]];
    expect([method, at, client]).toEqual(["POST", "/asked?x=1", "plinth"]);
    expect(headers["content-type"]).toBe("application/json");
    expect(headers["authorization"]).toBeUndefined();
    expect(JSON.parse(text)).toEqual({
      apiVersion: `${group}/v1beta1`,
      kind: "TokenReview",
      spec: { token: "opaque", audiences: ["api", "api-2"] },
    });
  });

  it("C-5.7-06 gets a TokenReview of the configured version", async () => {
    await start("v1");
    reply = () => known({ username: "ann" }, {}, "v1");
    await ok(whoIs("opaque"));
    expect((JSON.parse(service.received[0]!.text) as Review).apiVersion).toBe(`${group}/v1`);
  });

  it("C-2.8-01 C-5.7-10 C-5.7-11 C-5.7-12 C-5.7-13 C-5.7-14 C-5.7-15 the user is that of the response's status", async () => {
    await start();
    const extra = { "example.com/team": ["a", "b"], __proto__: ["c"] };
    reply = () => known({ username: "ann", uid: "42", groups: ["devs", "ops"], extra: { ...extra } });
    const { body } = await ok(whoIs("opaque"));
    expect(body.status.userInfo).toEqual({
      username: "ann",
      uid: "42",
      groups: ["devs", "ops", "system:authenticated"],
      extra: { "example.com/team": ["a", "b"] },
    });
    for (const [token, fields] of Object.entries({ plain: {}, other: { groups: null } })) {
      reply = () => known({ username: "bob", ...fields });
      const plain = await ok(whoIs(token));
      expect(plain.body.status.userInfo).toEqual({ username: "bob", groups: ["system:authenticated"] });
    }
  });

  it("C-5.7-04 a cached token is not sent again within two minutes", async () => {
    const clock = new ManualClock();
    await start("v1beta1", 120_000, clock);
    for (let n = 0; n < 3; n++) await ok(whoIs("opaque"));
    reply = () => reviewed({ authenticated: false });
    expect((await whoIs("bad")).status).toBe(401);
    expect((await whoIs("bad")).status).toBe(401);
    expect(service.received).toHaveLength(2);
    await clock.advance(119_000);
    await ok(whoIs("opaque"));
    expect(service.received).toHaveLength(2);
    await clock.advance(1000);
    expect((await whoIs("opaque")).status).toBe(401);
    expect(service.received).toHaveLength(3);
  });

  it("C-5.7-04 equal concurrent tokens are sent once", async () => {
    await start();
    const answers = await Promise.all(Array.from({ length: 8 }, () => whoIs("opaque")));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(service.received).toHaveLength(1);
  });

  it.each<[string, Reply]>([
    ["C-5.7-09 in another version", known({ username: "ann" }, {}, "v1")],
    ["C-5.7-09 of another kind", { body: { apiVersion: `${group}/v1beta1`, kind: "Other", status: {} } }],
    ["C-5.7-11 that only almost says yes", reviewed({ authenticated: "true", user: { username: "ann" } })],
    ["C-5.7-12 without a user", reviewed({ authenticated: true })],
    ["C-5.7-12 without a name", known({ uid: "1" })],
    ["C-5.7-12 with an empty name", known({ username: "" })],
    ["C-5.7-13 with a uid that is no text", known({ username: "ann", uid: 7 })],
    ["C-5.7-14 with groups that are no list", known({ username: "ann", groups: "system:masters" })],
    ["C-5.7-14 with a group that is no text", known({ username: "ann", groups: [["system:masters"]] })],
    ["C-5.7-15 with extra that is no map of lists", known({ username: "ann", extra: { a: "b" } })],
    ["C-5.7-16 with audiences that are no list", known({ username: "ann" }, { audiences: "api" })],
    ["that isn't JSON", { body: "<html>" }],
    ["that is a list", { body: "[]" }],
    ["with status 404", { ...known({ username: "ann" }), status: 404 }],
    ["that sends elsewhere", { status: 307, headers: { location: "https://127.0.0.1:1/" }, body: "" }],
    ["that is endless", { body: `"${"x".repeat(1024 * 1024 + 10)}"` }],
  ])("a response %s is 401", async (_what, answer) => {
    await start();
    reply = () => answer;
    expect((await whoIs("opaque")).status).toBe(401);
    expect(service.received).toHaveLength(1);
  });

  it("C-5.7-16 C-5.7-17 the token must be valid for one of the requested audiences", async () => {
    await start();
    reply = (token) => known({ username: "ann" }, { audiences: token.split(",") });
    expect((await whoIs("x,api-2")).status).toBe(201);
    expect((await whoIs("x,y")).status).toBe(401);
    const review = async (token: string, audiences?: string[]) =>
      (await ok(server!.admin.post(REVIEWS, { spec: { token, audiences } }))).body.status;
    expect(await review("vault,x", ["vault", "api"])).toMatchObject({
      authenticated: true,
      audiences: ["vault"],
      user: { username: "ann" },
    });
    expect(await review("vault,x")).toMatchObject({ user: {}, error: expect.any(String) as string });
    reply = () => known({ username: "ann" });
    expect(await review("silent", ["vault"])).toMatchObject({
      user: {},
      error: expect.any(String) as string,
    });
    expect(await review("silent")).toMatchObject({ authenticated: true, audiences: ["api", "api-2"] });
  });

  it("C-5.7-18 C-5.7-19 C-7-02 an error message of the service is logged and in TokenReviews; the message of the response is always Unauthorized", async () => {
    await start();
    reply = (token) =>
      token === "said"
        ? reviewed({ authenticated: false, error: "the token was revoked" })
        : token === "silent"
          ? reviewed({ authenticated: false })
          : known({ username: "ann" }, { error: "ignored" });
    const messageOf = async (token: string) => (await whoIs(token)).body.message as string;
    expect(await messageOf("said")).toBe("Unauthorized");
    expect(await messageOf("silent")).toBe("Unauthorized");
    expect(log.reasons).toEqual(["the token was revoked"]);
    expect((await whoIs("good")).status).toBe(201);
    const { body } = await ok(server!.admin.post(REVIEWS, { spec: { token: "said" } }));
    expect(body.status).toEqual({ user: {}, error: "the token was revoked" });
  });

  it("a busy service is retried, and a failing one a limited number of times", async () => {
    await start();
    let failures = 1;
    reply = () =>
      failures-- > 0
        ? { status: 503, headers: { "retry-after": "0" }, body: "" }
        : known({ username: "ann" });
    expect((await whoIs("opaque")).status).toBe(201);
    reply = () => ({ status: 500, headers: { "retry-after": "0" }, body: "" });
    service.received.length = 0;
    expect((await whoIs("another")).status).toBe(401);
    expect(service.received).toHaveLength(5);
    reply = () => known({ username: "ann" });
    expect((await whoIs("another")).status).toBe(201);
  });

  it("a service without a response is abandoned after ten seconds for each attempt", async () => {
    const clock = new ManualClock();
    await start("v1beta1", 1000, clock);
    reply = () => ({});
    const asked = whoIs("opaque");
    let answered = false;
    void asked.finally(() => (answered = true));
    while (!answered) {
      await new Promise((resolve) => setImmediate(resolve));
      if (clock.due(20_000) > 0) await clock.advance(500);
    }
    const { status, body } = await asked;
    expect([status, body.message]).toEqual([401, "Unauthorized"]);
    expect(log.reasons).toEqual([expect.stringContaining("the request to the webhook failed")]);
  });

  it("a service with a certificate of another CA is not trusted", async () => {
    const stranger = await HttpsService.start(() => known({ username: "ann" }));
    try {
      const cluster = {
        server: stranger.url,
        "certificate-authority-data": Buffer.from(service.ca).toString("base64"),
      };
      const configFile = clientConfiguration(folder, service, { cluster });
      const tokenWebhook = { configFile, version: "v1beta1", cacheMs: 0 } as const;
      server = await TestServer.start({ authentication: { tokenWebhook } });
      expect((await server.as("opaque").get("/api")).status).toBe(401);
      expect(stranger.received).toEqual([]);
    } finally {
      await stranger.close();
    }
  });

  it("the server authenticates with a configured token", async () => {
    const tokenFile = path.join(folder, "token");
    writeFileSync(tokenFile, "from-file\n");
    const cluster = { server: service.url, "certificate-authority": "ca.pem" };
    for (const [user, expected] of [
      [{ token: "given" }, "Bearer given"],
      [{ tokenFile: "token" }, "Bearer from-file"],
      [{ username: "u", password: "p" }, `Basic ${Buffer.from("u:p").toString("base64")}`],
    ] as const) {
      const configFile = clientConfiguration(folder, service, { cluster, user });
      const tokenWebhook = { configFile, version: "v1beta1", cacheMs: 0 } as const;
      const one = await TestServer.start({ authentication: { tokenWebhook } });
      try {
        service.received.length = 0;
        await one.as("opaque").get("/api");
        expect(service.received[0]!.headers["authorization"]).toBe(expected);
      } finally {
        await one.close();
      }
    }
  });

  it.each<[string, { cluster?: object; user?: object }, string]>([
    ["no URL", { cluster: { server: "nowhere" } }, "cluster.server"],
    ["another scheme", { cluster: { server: "ftp://x" } }, "neither https nor http"],
    [
      "an authority that isn't there",
      { cluster: { server: "https://x", "certificate-authority": "no.pem" } },
      "certificate-authority",
    ],
    [
      "an authority that is none",
      { cluster: { server: "https://x", "certificate-authority-data": "eA==" } },
      "no certificate in PEM",
    ],
    ["a certificate without its key", { user: { "client-certificate": "client.pem" } }, "given together"],
    [
      "another key",
      { user: { "client-certificate": "ca.pem", "client-key": "client.key" } },
      "is not the key",
    ],
    ["a program", { user: { exec: { command: "x" } } }, "user.exec"],
  ])("C-5.7-01 the start fails with a configuration with %s", async (_what, changes, message) => {
    const configFile = clientConfiguration(folder, service, changes);
    const tokenWebhook = { configFile, version: "v1", cacheMs: 0 } as const;
    const starting = TestServer.start({ authentication: { tokenWebhook } });
    await expect(starting).rejects.toThrow(`authentication.tokenWebhook.configFile ${configFile}: `);
    await expect(TestServer.start({ authentication: { tokenWebhook } })).rejects.toThrow(message);
  });
});
