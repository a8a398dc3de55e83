import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { configMap, ok } from "./support.ts";

/** `details` of a Status, compatible with the reference. */

const path = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const pod = { spec: { containers: [{ name: "main", image: "i" }] } };
const old = { preconditions: { resourceVersion: "1" } };

const server = useServer();
beforeAll(async () => {
  await ok(server.admin.post(path, configMap("one")));
});

describe("an invalid option has the kind and group of the options in its details", () => {
  test.each([
    ["GET", `${path}?resourceVersionMatch=Exact`, {}, "ListOptions"],
    ["GET", `${path}?watch=1&resourceVersionMatch=Exact`, {}, "ListOptions"],
    ["POST", `${path}?fieldManager=a%01b`, { send: configMap("new") }, "CreateOptions"],
    ["PUT", `${path}/one?dryRun=Some`, { send: configMap("one") }, "UpdateOptions"],
    [
      "PATCH",
      `${path}/one?force=true`,
      { send: {}, contentType: "application/merge-patch+json" },
      "PatchOptions",
    ],
    ["DELETE", `${path}/one?propagationPolicy=Sideways`, {}, "DeleteOptions"],
    ["DELETE", `${path}/one?propagationPolicy=Orphan&orphanDependents=true`, {}, "DeleteOptions"],
  ])("%s %s", async (method, at, { send, ...options }: { send?: object; contentType?: string }, kind) => {
    const raw = send === undefined ? {} : { raw: JSON.stringify(send), contentType: "application/json" };
    const { status, body } = await server.admin.ask(method, at, { ...raw, ...options });
    expect(status).toBe(422);
    expect(body.details).toMatchObject({ group: "meta.platform.io", kind });
  });
});

describe("an option in the query", () => {
  test.each([
    ["GET", "limit="],
    ["GET", "limit=few"],
    ["GET", "timeoutSeconds="],
    ["GET", "watch=1&timeoutSeconds="],
    ["GET", "resourceVersion=new"],
    ["DELETE", "gracePeriodSeconds="],
    ["DELETE", "gracePeriodSeconds=1e3"],
  ])("%s ?%s is no number: 400", async (method, query) => {
    const { status, body } = await server.admin.ask(method, `${path}?${query}`);
    expect([status, body.reason]).toEqual([400, "BadRequest"]);
  });

  test("an empty propagationPolicy is 422", async () => {
    const { status, body } = await server.admin.delete(`${path}/one?propagationPolicy=`);
    expect([status, body.details.causes.map(({ field }: { field: string }) => field)]).toEqual([
      422,
      ["propagationPolicy"],
    ]);
  });

  const [alone, unless, odd, zero] = [
    "forbidden for watch",
    "forbidden unless resourceVersion",
    "Unsupported value",
    'for resourceVersion "0"',
  ] as const;
  const continued = "forbidden when continue";
  test.each([
    ["resourceVersionMatch=Exact", [unless]],
    ["resourceVersionMatch=exact&continue=x", [unless, continued, odd]],
    ["resourceVersionMatch=Exact&resourceVersion=0", [zero]],
    ["resourceVersionMatch=Odd&resourceVersion=new", [odd]],
    ["watch=1&resourceVersionMatch=Odd", [alone, unless, odd]],
    ["watch=1&resourceVersionMatch=Exact&resourceVersion=0", [alone, zero]],
    ["watch=1&resourceVersionMatch=Exact&resourceVersion=new", [alone]],
  ])("?%s: every error of resourceVersionMatch is reported", async (query, expected) => {
    const { status, body } = await server.admin.get(`${path}?${query}`);
    expect(status).toBe(422);
    const causes = body.details.causes as { message: string; field: string }[];
    expect(causes.map(({ field }) => field)).toEqual(expected.map(() => "resourceVersionMatch"));
    expect(causes.map(({ message }) => message)).toEqual(
      expected.map((part) => expect.stringContaining(part)),
    );
  });
});

describe("the details of a failed precondition", () => {
  test("have the kind of the object for a delete", async () => {
    const { status, body } = await server.admin.ask("DELETE", `${path}/one`, {
      raw: JSON.stringify(old),
      contentType: "application/json",
    });
    expect([status, body.details]).toEqual([409, { name: "one", kind: "ConfigMap" }]);
  });

  test("have the resource for an update", async () => {
    const sent = configMap("one", {}, { uid: "another" });
    const { status, body } = await server.admin.put(`${path}/one`, sent);
    expect([status, body.details]).toEqual([409, { name: "one", kind: "configmaps" }]);
  });
});

describe("content that can't be negotiated", () => {
  test("a list as PartialObjectMetadata and an object as PartialObjectMetadataList are 406", async () => {
    const status = async (at: string, as: string) => {
      const accept = `application/json;as=${as};g=meta.platform.io;v=v1`;
      const { status, body } = await server.admin.get(at, { accept });
      return status === 200 ? body.kind : [status, body.reason];
    };
    const [one, list] = ["PartialObjectMetadata", "PartialObjectMetadataList"];
    const refused = [406, "NotAcceptable"];
    expect([await status(`${path}/one`, one), await status(path, list)]).toEqual([one, list]);
    expect([await status(`${path}/one`, list), await status(path, one)]).toEqual([refused, refused]);
  });

  const tables = "application/json;as=Table;g=meta.platform.io;v=v9";
  test.each([
    ["a media type that nobody knows is 406 with empty details", "image/png", {}],
    ["a form that doesn't exist is 406 without details", tables, undefined],
  ])("%s", async (_what, accept, details) => {
    const { status, body } = await server.admin.ask("GET", `${path}/one`, { accept });
    expect([status, body.details]).toEqual([406, details]);
  });

  test.each([
    ["PATCH", `${path}/one`, {}],
    ["POST", path, undefined],
    ["DELETE", `${path}/one`, undefined],
  ])("a body of another media type is 415: %s", async (method, at, details) => {
    const { status, body } = await server.admin.ask(method, at, { raw: "a", contentType: "image/png" });
    expect([status, body.details]).toEqual([415, details]);
  });
});

test("an immutable metadata field has two causes, one of every update and one of the kind", async () => {
  const raw = JSON.stringify({ metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } });
  const contentType = "application/merge-patch+json";
  const { status, body } = await server.admin.ask("PATCH", `${path}/one`, { raw, contentType });
  expect(status).toBe(422);
  const fields = body.details.causes.map(({ field }: { field: string }) => field);
  expect(fields).toEqual(["metadata.deletionTimestamp", "metadata.deletionTimestamp"]);
});

test("a pod deleted immediately has deletionTimestamp and a grace period of 0 in the response and the watch event", async () => {
  const { body: created } = await ok(server.admin.post(pods, { metadata: { name: "short" }, ...pod }));
  const { body } = await ok(server.admin.ask("DELETE", `${pods}/short`));
  expect(body.metadata).toMatchObject({
    deletionGracePeriodSeconds: 0,
    deletionTimestamp: expect.any(String) as string,
  });
  const after = created.metadata.resourceVersion as string;
  const { text } = await ok(server.admin.get(`${pods}?watch=1&timeoutSeconds=1&resourceVersion=${after}`));
  const events = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; object: typeof body });
  expect(events.map(({ type }) => type)).toEqual(["MODIFIED", "DELETED"]);
  for (const { object } of events) expect(object.metadata.deletionGracePeriodSeconds).toBe(0);
});

test("removing the last finalizer of a terminating object returns the previous resourceVersion", async () => {
  await ok(server.admin.post(path, configMap("held", {}, { finalizers: ["example.com/hold"] })));
  const { body: held } = await ok(server.admin.ask("DELETE", `${path}/held`));
  const raw = JSON.stringify({ metadata: { finalizers: null } });
  const contentType = "application/merge-patch+json";
  const { body } = await ok(server.admin.ask("PATCH", `${path}/held`, { raw, contentType }));
  expect(body.metadata.resourceVersion).toBe(held.metadata.resourceVersion);
  expect((await server.admin.get(`${path}/held`)).status).toBe(404);
});
