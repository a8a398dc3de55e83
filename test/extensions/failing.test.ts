import { afterEach, describe, expect, it, test } from "vitest";
import {
  createServer,
  declareGroup,
  OptionsError,
  StatusError,
  type AdmissionPlugin,
  type CreateServerOptions,
  type Extensions,
  type NamedAuthenticator,
  type NamedAuthorizer,
} from "../../src/index.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";

/** What an extension can do wrong; all are let pass as their contract, which JavaScript doesn't keep. */
const failures: readonly (readonly [string, () => unknown])[] = [
  [
    "throws",
    () => {
      throw new TypeError("broken");
    },
  ],
  ["rejects", () => Promise.reject(new TypeError("broken"))],
  ["rejects with nothing", () => Promise.reject(undefined as unknown as Error)],
  ["never answers", () => new Promise(() => undefined)],
];
const wrongShapes: readonly (readonly [string, () => unknown])[] = [
  ["answers with a text", () => "yes"],
  ["answers with a list", () => [1]],
  ["answers later with a number", () => Promise.resolve(7)],
];

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const clock = new ManualClock();
const logged: { readonly extension?: string; readonly error?: string }[] = [];
const log = {
  info: () => undefined,
  warn: () => undefined,
  error: (facts: object) => void logged.push(facts),
};

async function started(options: CreateServerOptions): Promise<TestServer> {
  logged.length = 0;
  return (server = await TestServer.start({ clock, log, ...options }));
}

/** The answer, with time moved on while it is waited for. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let done = false;
  const settled = answer.finally(() => (done = true));
  settled.catch(() => undefined);
  for (let waited = 0; !done && waited < 400; waited++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (waited > 10) await clock.advance(1000);
  }
  return settled;
}

const maps = "/api/v1/namespaces/default/configmaps";
const aMap = { metadata: { name: "m" } };

describe("a failing admission plugin fails its request and is logged by name", () => {
  describe.each(["mutate", "validate"] as const)("in %s", (phase) => {
    test.each(failures)("%s", async (_what, fail) => {
      const concerns: AdmissionPlugin["concerns"] = (_, { resource }) => resource.name === "configmaps";
      const plugin = { name: "Broken", concerns, [phase]: fail } as AdmissionPlugin;
      const { admin } = await started({ admissionPlugins: [plugin] });
      const { status, body } = await inTime(admin.post(maps, aMap));
      expect(status).toBe(500);
      expect(body.message).toBe('admission plugin "Broken" failed; see the log');
      expect(logged).toMatchObject([{ extension: 'admission plugin "Broken"' }]);
      expect((await admin.get(`${maps}/m`)).status).toBe(404);
      expect((await admin.post("/api/v1/namespaces", { metadata: { name: "n" } })).status).toBe(201);
    });
  });

  test("a concerns that throws", async () => {
    const broken: AdmissionPlugin = {
      name: "Broken",
      concerns(_, { resource }) {
        if (resource.name === "configmaps") throw new Error("no");
        return false;
      },
      validate: () => undefined,
    };
    const { admin } = await started({ admissionPlugins: [broken] });
    expect((await admin.post(maps, aMap)).status).toBe(500);
  });

  test("a skips that throws; one that returns true leaves the plugin out", async () => {
    let called = 0;
    const broken: AdmissionPlugin = {
      name: "Broken",
      concerns: (_, { resource }) => resource.name === "configmaps",
      skips({ target }) {
        if (target.name === aMap.metadata.name) throw new Error("no");
        return target.name === "skipped";
      },
      validate: () => void called++,
    };
    const { admin } = await started({ admissionPlugins: [broken] });
    expect((await admin.post(maps, aMap)).status).toBe(500);
    expect((await admin.post(maps, { ...aMap, metadata: { name: "skipped" } })).status).toBe(201);
    expect(called).toBe(0);
    expect((await admin.post(maps, { ...aMap, metadata: { name: "other" } })).status).toBe(201);
    expect(called).toBe(1);
  });

  test.each<[string, (object: Record<string, unknown>) => void, string]>([
    ["a field of a wrong type", (map) => (map["data"] = { a: 1n }), "data"],
    ["a field that there isn't", (map) => (map["date"] = "x"), "fields that ConfigMap doesn't have: date"],
    ["no metadata", (map) => delete map["metadata"], "mutate changed apiVersion, kind, name"],
    ["another name", (map) => (map["metadata"] = { name: "x" }), "mutate changed apiVersion, kind, name"],
    ["another kind", (map) => (map["kind"] = "Secret"), "mutate changed apiVersion, kind, name"],
  ])("a plugin that makes %s of the object", async (_what, change, why) => {
    const plugin: AdmissionPlugin = {
      name: "Broken",
      concerns: (_, { resource }) => resource.name === "configmaps",
      mutate: ({ object }) => change(object!),
    };
    const { admin } = await started({ admissionPlugins: [plugin] });
    expect((await admin.post(maps, aMap)).status).toBe(500);
    expect(logged[0]?.error).toContain(why);
  });

  test("what it says with a StatusError is the answer; what validate changes is not stored", async () => {
    const plugin: AdmissionPlugin = {
      name: "Strict",
      concerns: (_, { resource }) => resource.name === "configmaps",
      validate({ object }) {
        if (object?.metadata.name === "bad") throw new StatusError("Forbidden", "no bad maps");
        object!["data"] = { changed: "yes" };
      },
    };
    const { admin } = await started({ admissionPlugins: [plugin] });
    const refused = await admin.post(maps, { metadata: { name: "bad" } });
    expect([refused.status, refused.body.message]).toEqual([403, "no bad maps"]);
    expect((await admin.post(maps, aMap)).body.data).toBeUndefined();
    expect(logged).toEqual([]);
  });
});

describe("a failing authenticator rejects the credentials and is logged by name", () => {
  const shapes = [
    ...wrongShapes,
    ["answers without a name", () => ({ user: { groups: [] } })],
    ["answers with wrong groups", () => ({ user: { name: "x", groups: "a" } })],
    ["answers with wrong extra", () => ({ user: { name: "x", extra: { a: "b" } } })],
  ] as const;
  test.each([...failures, ...shapes])("%s", async (_what, fail) => {
    const broken = { name: "broken", authenticate: fail } as NamedAuthenticator;
    const { as, admin } = await bound({ authenticators: [broken] });
    const { status, body } = await inTime(as("who").get("/version"));
    expect([status, body.reason]).toEqual([401, "Unauthorized"]);
    expect(logged[0]).toMatchObject({ extension: 'authenticator "broken"' });
    expect((await inTime(as(undefined).get("/version"))).status).toBe(401);
    expect((await admin.get("/version")).status).toBe(200);
  });

  test("the next authenticator is still called", async () => {
    const broken = { name: "broken", authenticate: () => Promise.reject(new Error("down")) };
    const next: NamedAuthenticator = {
      name: "next",
      authenticate: ({ authorization }) =>
        authorization === "Bearer magic"
          ? { user: { name: "merlin", uid: "", groups: [], extra: {} }, method: "", cacheable: false }
          : undefined,
    };
    const { as } = await bound({ authenticators: [broken, next] });
    expect((await as("magic").get("/version")).status).toBe(200);
    expect((await as("other").get("/version")).status).toBe(401);
  });
});

describe("a failing authorizer has no opinion, gives that reason and is logged by name", () => {
  const shapes = [...wrongShapes, ["answers with another verdict", () => ({ verdict: "yes" })]] as const;
  test.each([...failures, ...shapes])("%s", async (_what, fail) => {
    const broken = { name: "broken", authorize: fail, rulesFor: fail } as unknown as NamedAuthorizer;
    const { as, admin } = await bound({ authorizers: [broken], authorizationModes: ["broken", "RBAC"] });
    const { status, body } = await inTime(as(undefined).get(maps));
    expect(status).toBe(403);
    expect(body.message).toContain('authorizer "broken" failed; see the log');
    expect(logged[0]).toMatchObject({ extension: 'authorizer "broken"' });
    expect((await inTime(as(undefined).get("/version"))).status).toBe(200);
    const review = { spec: { namespace: "default" } };
    const rules = await inTime(
      admin.post("/apis/authorization.platform.io/v1/selfsubjectrulesreviews", review),
    );
    expect(rules.body.status).toMatchObject({
      incomplete: true,
      evaluationError: 'authorizer "broken" failed; see the log',
    });
  });
});

/** A server with shortcuts for its clients. */
async function bound(options: CreateServerOptions) {
  const one = await started(options);
  return { as: (token: string | undefined) => one.as(token), admin: one.admin };
}

describe("a controller that fails", () => {
  it.each<[string, () => unknown, string]>([
    [
      "throws at its start",
      () => {
        throw new Error("no start");
      },
      "controllers: broken: start failed: Error: no start",
    ],
    [
      "gives nothing",
      () => undefined,
      "controllers: broken: start must return an object with the method close",
    ],
    ["gives a promise", () => Promise.resolve({}), "controllers: broken: start must return an object"],
  ])("and %s keeps the server from starting", async (_what, start, message) => {
    const starting = createServer({ port: false, controllers: [{ name: "broken", start }] as never });
    await expect(starting).rejects.toThrow(OptionsError);
    await expect(starting).rejects.toThrow(message);
  });

  it.each(failures)("and %s when it is closed does not block the server's close", async (_what, close) => {
    const one = await started({
      controllers: [{ name: "broken", start: () => ({ close: close as () => Promise<void> }) }],
    });
    server = undefined;
    await inTime(one.close());
    expect(logged).toMatchObject([{ extension: 'controller "broken"' }]);
  });

  it("and throws in a listener still receives each change", async () => {
    const seen: string[] = [];
    const { admin } = await started({
      controllers: [
        {
          name: "broken",
          start({ informer, registry }) {
            informer(registry.find("", "v1", "configmaps")!).listen((_, object) => {
              seen.push(object?.metadata.name ?? "gone");
              throw new Error("no");
            });
            return { close: () => Promise.resolve() };
          },
        },
      ],
    });
    await admin.post(maps, aMap);
    await admin.delete(`${maps}/m`);
    expect(seen.slice(-2)).toEqual(["m", "gone"]);
    expect(logged).toHaveLength(seen.length);
    expect((await admin.get(maps)).status).toBe(200);
  });
});

describe("a kind whose functions throw", () => {
  const { kind, field, string, ObjectMeta, nameColumn } = declareGroup("shop.example.com", "v1");
  const fail = () => {
    throw new Error("no");
  };
  const path = "/apis/shop.example.com/v1/things";
  const thing = { apiVersion: "shop.example.com/v1", kind: "Thing", metadata: { name: "one" } };
  const base = {
    name: "Thing",
    resource: "things",
    singular: "thing",
    scope: "Cluster",
    doc: "A thing.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata."),
      text: field(2, string, "Text."),
    },
  } as const;

  test.each([
    ["validate", kind({ ...base, validate: fail })],
    ["fillDefaults", kind({ ...base, fillDefaults: fail })],
    ["prepareCreate", kind({ ...base, prepareCreate: fail })],
    ["warnings", kind({ ...base, warnings: fail })],
    ["text", kind({ ...base, selectable: { text: fail } })],
  ] as const)("in %s fails the request, and the log names it", async (name, broken) => {
    const { admin } = await started({ kinds: [broken] });
    expect((await admin.post(path, thing)).status).toBe(500);
    expect(logged[0]?.error).toContain(`kind Thing: ${name === "text" ? "selectable: text" : name} failed`);
    expect((await admin.get(path)).status).toBe(200);
  });

  test("in a column fails the table, not the list", async () => {
    const cell = { name: "Broken", type: "string", doc: "Broken.", cell: fail } as const;
    const { admin } = await started({ kinds: [kind({ ...base, columns: [nameColumn, cell] })] });
    expect((await admin.post(path, thing)).status).toBe(201);
    const accept = "application/json;as=Table;g=meta.platform.io;v=v1";
    expect((await admin.get(`${path}/one`, { accept })).status).toBe(500);
    expect(logged[0]?.error).toContain("kind Thing: column Broken: cell failed");
    expect((await admin.get(path)).status).toBe(200);
  });
});

describe("createServer rejects invalid extensions and names them", () => {
  const close = { close: () => Promise.resolve() };
  test.each<[unknown, string]>([
    [{ admissionPlugins: {} }, "admissionPlugins: {} is not a list"],
    [
      { admissionPlugins: [{ name: "X" }] },
      "admissionPlugins[0].concerns: is needed, and must be a function",
    ],
    [
      { admissionPlugins: [{ name: "X", concerns: () => true }] },
      "admissionPlugins[0]: it must have the method mutate or validate",
    ],
    [
      { admissionPlugins: [{ name: "NodeRestriction", concerns: () => true, mutate: () => undefined }] },
      'admissionPlugins[0].name: "NodeRestriction" is the name of a built-in extension',
    ],
    [
      {
        authenticators: [
          { name: "a", authenticate: close.close },
          { name: "a", authenticate: close.close },
        ],
      },
      'authenticators[1].name: "a" is used twice',
    ],
    [{ authenticators: [{ authenticate: close.close }] }, "authenticators[0].name: is needed"],
    [{ authorizers: [{ name: "RBAC", authorize: close.close }] }, 'authorizers[0].name: "RBAC" is the name'],
    [{ authorizers: [{ name: "a b", authorize: close.close }] }, '"a b" is not a name of letters'],
    [{ authorizers: [{ name: "a", authorize: "x" }] }, 'authorizers[0].authorize: "x" is not a function'],
    [{ authorizationModes: ["a", "RBAC"] }, 'authorizationModes: "a" is not one of Node, RBAC'],
    [{ controllers: [{ name: "namespace", start: () => close }] }, 'controllers[0].name: "namespace" is the'],
    [{ controllers: ["*"] }, 'controllers[0]: "*" is not an object with name, start'],
    [{ storage: { commit: () => undefined } }, "storage.latestRevision: is needed, and must be a function"],
  ] satisfies [{ [K in keyof Extensions]?: unknown } & Record<string, unknown>, string][])(
    "%j",
    async (options, message) => {
      const starting = createServer({ port: false, ...(options as object) });
      await expect(starting).rejects.toThrow(OptionsError);
      await expect(starting).rejects.toThrow(message);
    },
  );
});
