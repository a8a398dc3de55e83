import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer, type Answer } from "../../support/api.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const annotation = "kubectl.kubernetes.io/last-applied-configuration";

interface Entry {
  manager: string;
  operation: string;
  fieldsV1: { "f:data"?: Record<string, object> };
}

const configMap = (name: string, data?: Record<string, string>, annotations?: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
  ...(data === undefined ? {} : { data }),
});

/** Managers with the names of the data keys that they own. */
const owners = ({ body }: Answer): Record<string, string[]> =>
  Object.fromEntries(
    ((body.metadata.managedFields ?? []) as Entry[]).map(({ manager, operation, fieldsV1 }) => [
      `${manager} ${operation}`,
      Object.keys(fieldsV1["f:data"] ?? {}),
    ]),
  );

const appliers =
  (server: TestServer) =>
  (name: string, body: object, manager: string, query = "") =>
    server.admin.ask("PATCH", `${configMaps}/${name}?fieldManager=${manager}${query}`, {
      raw: JSON.stringify(body),
      contentType: "application/apply-patch+yaml",
    });
const refusedFields = ({ body }: Answer) =>
  (body.details.causes as { field: string }[]).map(({ field }) => field);

/** The result of client-side apply: an object with the applied configuration in an annotation. */
const lastApplied = (name: string, data: Record<string, string>, live = data) =>
  configMap(name, live, { [annotation]: JSON.stringify(configMap(name, data)) });

describe("the first server-side apply after client-side apply", () => {
  let server: TestServer;
  let apply: ReturnType<typeof appliers>;
  beforeAll(async () => {
    server = await TestServer.start({ vocabulary: "kubernetes" });
    apply = appliers(server);
  });
  afterAll(() => server.close());

  const create = (body: object) => server.admin.post(`${configMaps}?fieldManager=client`, body);
  const annotationOf = ({ body }: Answer): string | undefined => body.metadata.annotations?.[annotation];

  it("changes the fields of the same client without a conflict, and updates its annotation", async () => {
    await create(lastApplied("mine", { a: "1", b: "1" }));
    const first = await apply("mine", configMap("mine", { a: "2", b: "1" }), "kubectl");
    expect([first.status, first.body.data]).toEqual([200, { a: "2", b: "1" }]);
    expect(owners(first)).toEqual({ "kubectl Apply": ["f:a", "f:b"], "client Update": [".", "f:b"] });
    expect(annotationOf(first)).toBe(
      '{"apiVersion":"v1","data":{"a":"2","b":"1"},"kind":"ConfigMap","metadata":{"name":"mine"}}\n',
    );
    const again = await apply("mine", configMap("mine", { a: "2", b: "1" }), "kubectl");
    expect(again.text).toBe(first.text);
  });

  it("conflicts with fields that other managers changed since", async () => {
    await create(lastApplied("since", { a: "1", b: "1" }));
    await server.admin.patch(`${configMaps}/since?fieldManager=other`, { data: { b: "3", c: "3" } });
    const wanted = configMap("since", { a: "2", b: "2", c: "2" });
    const refused = await apply("since", wanted, "kubectl");
    expect([refused.status, refusedFields(refused)]).toEqual([409, [".data.b", ".data.c"]]);
    expect(annotationOf(await server.admin.get(`${configMaps}/since`))).toContain('"b":"1"');
    expect((await apply("since", wanted, "kubectl", "&force=true")).status).toBe(200);
  });

  it.each([
    ["another manager", "robot", lastApplied("not", { a: "1" })],
    ["an object without the annotation", "kubectl", configMap("not", { a: "1" })],
    ["an empty annotation", "kubectl", configMap("not", { a: "1" }, { [annotation]: "" })],
    ["text that isn't JSON", "kubectl", configMap("not", { a: "1" }, { [annotation]: "{" })],
    ["no object", "kubectl", configMap("not", { a: "1" }, { [annotation]: "[1]" })],
    [
      "another version",
      "kubectl",
      configMap("not", { a: "1" }, { [annotation]: '{"apiVersion":"v2","data":{"a":"1"}}' }),
    ],
    [
      "another form of the data",
      "kubectl",
      configMap("not", { a: "1" }, { [annotation]: '{"apiVersion":"v1","data":["a"]}' }),
    ],
  ])("conflicts like any other apply: %s", async (_what, manager, made) => {
    const { body } = await create(made);
    const refused = await apply("not", configMap("not", { a: "2" }), manager);
    expect([refused.status, refusedFields(refused)]).toEqual([409, [".data.a"]]);
    const forced = await apply("not", configMap("not", { a: "2" }), manager, "&force=true");
    // Only the annotation of the same client is updated, and none is created.
    const kept = manager === "kubectl" && (annotationOf({ body } as Answer) ?? "") !== "";
    if (kept) expect(annotationOf(forced)).toContain('"data":{"a":"2"}');
    else expect(annotationOf(forced)).toBe(body.metadata.annotations?.[annotation]);
    await server.admin.delete(`${configMaps}/not`);
  });

  it("drops the annotation when it would be too large", async () => {
    await create(lastApplied("large", { a: "1" }));
    const large = configMap("large", { a: "2", b: "x".repeat(300_000) });
    const applied = await apply("large", large, "kubectl");
    expect([applied.status, annotationOf(applied)]).toEqual([200, undefined]);
  });

  it("leaves an applied value of the annotation out of the annotation", async () => {
    await create(lastApplied("nested", { a: "1" }));
    const nested = configMap("nested", { a: "1" }, { [annotation]: "of the client", more: "1" });
    const applied = await apply("nested", nested, "kubectl", "&force=true");
    expect(JSON.parse(annotationOf(applied)!)).toEqual(configMap("nested", { a: "1" }, { more: "1" }));
  });
});

describe("the first apply to an object without managedFields", () => {
  let server: TestServer;
  let apply: ReturnType<typeof appliers>;
  beforeAll(async () => {
    server = await TestServer.start();
    apply = appliers(server);
  });
  afterAll(() => server.close());

  const unowned = async (name: string, data: Record<string, string>): Promise<void> => {
    await server.admin.post(configMaps, configMap(name, data));
    await server.admin.patch(`${configMaps}/${name}`, { metadata: { managedFields: [{}] } });
  };

  it("C-4.10-08 earlier fields belong to before-first-apply: another value conflicts, the same value is shared", async () => {
    await unowned("stood", { a: "1", b: "1" });
    const refused = await apply("stood", configMap("stood", { a: "2" }), "me");
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('conflict with "before-first-apply" using v1: .data.a');
    const shared = await apply("stood", configMap("stood", { a: "1", c: "1" }), "me");
    expect(owners(shared)).toEqual({
      "me Apply": ["f:a", "f:c"],
      "before-first-apply Update": [".", "f:a", "f:b"],
    });
    const [, before] = shared.body.metadata.managedFields;
    expect(before.time).toMatch(/Z$/);
  });

  it("C-4.10-14 a field that the applier gives up remains, because it existed before", async () => {
    await unowned("given", { a: "1" });
    await apply("given", configMap("given", { a: "1", b: "1" }), "me");
    const left = await apply("given", configMap("given"), "me");
    expect(left.body.data).toEqual({ a: "1" });
  });

  it("the platform vocabulary has no client-side apply", async () => {
    await server.admin.post(`${configMaps}?fieldManager=client`, lastApplied("plain", { a: "1" }));
    expect((await apply("plain", configMap("plain", { a: "2" }), "kubectl")).status).toBe(409);
  });
});
