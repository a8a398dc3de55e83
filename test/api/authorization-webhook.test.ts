import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import { clientConfiguration } from "../support/client-configuration.ts";
import { HttpsService, type Reply } from "../support/https-service.ts";
import { ManualClock } from "./support.ts";

const group = "authorization.platform.io";
const configMaps = "/api/v1/namespaces/default/configmaps";
let folder: string;
let service: HttpsService;
let server: TestServer | undefined;
let status: object;
let reply: () => Reply;

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

const decided = (version = "v1beta1"): Reply => ({
  body: { apiVersion: `${group}/${version}`, kind: "SubjectAccessReview", status },
});

beforeAll(async () => {
  service = await HttpsService.start(() => reply());
});
afterAll(() => service.close());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "plinth-webhook-"));
  service.received.length = 0;
  status = { allowed: true };
  reply = () => decided();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

interface Choice {
  readonly modes?: readonly ("RBAC" | "Webhook" | "AlwaysAllow")[];
  readonly version?: "v1" | "v1beta1";
  readonly clock?: ManualClock;
}

async function start({ modes = ["Webhook"], version = "v1beta1", clock }: Choice = {}): Promise<TestServer> {
  const tokens = path.join(folder, "tokens.csv");
  writeFileSync(tokens, `${token},ann,42,devs\n`);
  server = await TestServer.start({
    ...(clock === undefined ? {} : { clock }),
    tokenAuthFile: tokens,
    authorizationModes: modes,
    authorizationWebhook: {
      configFile: clientConfiguration(folder, service),
      version,
      authorizedMs: 300_000,
      unauthorizedMs: 30_000,
    },
  });
  return server;
}

/** The reviews about a user; the server sends others on its own behalf. */
const asked = (user: string) =>
  service.received.map(({ text }) => JSON.parse(text) as Review).filter(({ spec }) => spec["user"] === user);
const token = "the-token-of-ann";

describe("mode Webhook", () => {
  it("sends a SubjectAccessReview of the caller and the request", async () => {
    const { admin } = await start();
    expect((await server!.as(token).get(`${configMaps}/it`)).status).toBe(404);
    expect(asked("ann")).toEqual([
      {
        apiVersion: `${group}/v1beta1`,
        kind: "SubjectAccessReview",
        spec: {
          resourceAttributes: {
            namespace: "default",
            verb: "get",
            version: "v1",
            resource: "configmaps",
            name: "it",
          },
          user: "ann",
          uid: "42",
          group: ["devs", "system:authenticated"],
        },
      },
    ]);
    await server!.as(token).get("/version");
    expect(asked("ann").at(-1)!.spec["nonResourceAttributes"]).toEqual({ path: "/version", verb: "get" });
    expect((await admin.get(configMaps)).status).toBe(200);
  });

  it("version v1 sends the groups in the field groups", async () => {
    await start({ version: "v1" });
    reply = () => decided("v1");
    expect((await server!.as(token).get(configMaps)).status).toBe(200);
    const [review] = asked("ann");
    expect(review!.apiVersion).toBe(`${group}/v1`);
    expect(review!.spec["groups"]).toEqual(["devs", "system:authenticated"]);
    expect(review!.spec).not.toHaveProperty("group");
  });

  it.each([
    ["allows", { allowed: true }, ["Webhook", "RBAC"], 200],
    [
      "has no opinion, and nobody else allows",
      { allowed: false, reason: "not known" },
      ["Webhook", "RBAC"],
      403,
    ],
    ["has no opinion, and the next allows", { allowed: false }, ["Webhook", "AlwaysAllow"], 200],
    ["denies, whatever the next says", { allowed: false, denied: true }, ["Webhook", "AlwaysAllow"], 403],
  ] as const)("the service %s", async (_what, said, modes, code) => {
    await start({ modes });
    status = said;
    const { status: got, body } = await server!.as(token).get(configMaps);
    expect(got).toBe(code);
    if ("reason" in said) expect(body.message).toContain("not known");
  });

  it.each<[string, () => Reply]>([
    ["another status than success", () => ({ status: 403, body: {} })],
    [
      "another kind",
      () => ({ body: { apiVersion: `${group}/v1beta1`, kind: "TokenReview", status: { allowed: true } } }),
    ],
    ["another version", () => decided("v1")],
    ["allowed and denied at once", () => decidedAs({ allowed: true, denied: true })],
    ["a text for a decision", () => decidedAs({ allowed: "true" })],
    ["no JSON", () => ({ body: "<html>" })],
  ])("has no opinion when the service answers with %s", async (_what, wrong) => {
    await start({ modes: ["Webhook", "RBAC"] });
    reply = wrong;
    const { status: code, body } = await server!.as(token).get(configMaps);
    expect(code).toBe(403);
    expect(body.message).toContain("the authorization webhook failed");
    // This result is not cached.
    status = { allowed: true };
    reply = () => decided();
    expect((await server!.as(token).get(configMaps)).status).toBe(200);
  });

  const decidedAs = (said: object): Reply => {
    status = said;
    return decided();
  };

  it("caches allowed decisions longer than denied ones", async () => {
    const clock = new ManualClock();
    await start({ clock });
    const caller = server!.as(token);
    const ask = async () => (await caller.get(configMaps)).status;
    expect([await ask(), await ask(), asked("ann").length]).toEqual([200, 200, 1]);
    status = { allowed: false };
    await clock.advance(299_000);
    expect(await ask()).toBe(200);
    await clock.advance(2000);
    expect([await ask(), await ask(), asked("ann").length]).toEqual([403, 403, 2]);
    status = { allowed: true };
    await clock.advance(29_000);
    expect(await ask()).toBe(403);
    await clock.advance(2000);
    expect(await ask()).toBe(200);
  });

  it("sends one review for equal concurrent requests", async () => {
    await start();
    const caller = server!.as(token);
    await Promise.all(Array.from({ length: 8 }, () => caller.get(configMaps)));
    expect(asked("ann")).toHaveLength(1);
  });

  it("SelfSubjectRulesReviews are incomplete", async () => {
    await start({ modes: ["Webhook", "RBAC"] });
    const { body } = await server!
      .as(token)
      .post(`/apis/${group}/v1/selfsubjectrulesreviews`, { spec: { namespace: "default" } });
    expect(body.status).toMatchObject({ incomplete: true });
  });

  it("requires a configuration file, and the file requires the mode", async () => {
    await expect(TestServer.start({ authorizationModes: ["Webhook"] })).rejects.toThrow(
      "authorizationModes Webhook needs authorizationWebhook.configFile",
    );
    await expect(start({ modes: ["RBAC"] })).rejects.toThrow("needs authorizationModes Webhook");
    const missing = {
      configFile: path.join(folder, "none.yaml"),
      version: "v1",
      authorizedMs: 1,
      unauthorizedMs: 1,
    } as const;
    await expect(
      TestServer.start({ authorizationModes: ["Webhook"], authorizationWebhook: missing }),
    ).rejects.toThrow("authorizationWebhook.configFile");
  });
});
