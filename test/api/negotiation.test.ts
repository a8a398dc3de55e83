import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer, type Frame } from "../support/api.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const roles = "/apis/rbac.authorization.platform.io/v1/namespaces/default/roles";
const table = "application/json;as=Table;g=meta.platform.io;v=v1";

interface ApiResource {
  readonly name: string;
  readonly verbs: readonly string[];
}

/** The paths of a group's versions. */
function pathsOf({
  versions,
}: {
  readonly versions: readonly { readonly groupVersion: string }[];
}): string[] {
  return versions.map(({ groupVersion }) => `/apis/${groupVersion}`);
}

describe("content negotiation", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    const labels = { app: "shop" };
    await server.admin.post(configMaps, { metadata: { name: "one", labels }, data: { a: "1", b: "2" } });
    await server.admin.post(roles, { metadata: { name: "reader" }, rules: [] });
  });
  afterAll(() => server.close());

  it.each([
    undefined,
    "*/*",
    "application/*",
    "application/json",
    "application/json;q=0.5, text/html;q=0.9",
    "",
  ])("C-4.7-01 C-4.7-08 Accept %j is answered with application/json", async (accept) => {
    const answer = await server.admin.get(`${configMaps}/one`, accept === undefined ? {} : { accept });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.body.kind).toBe("ConfigMap");
  });

  it.each([configMaps, `${configMaps}/one`])(
    "C-2.4-01 C-2.4-02 C-4.7-02 GET %s as a table has kind, apiVersion and columns with name and type",
    async (path) => {
      const { status, headers, body } = await server.admin.get(path, { accept: table });
      expect(status).toBe(200);
      expect(headers["content-type"]).toBe("application/json");
      expect(body).toMatchObject({ kind: "Table", apiVersion: "meta.platform.io/v1" });
      expect(
        body.columnDefinitions.map(({ name, type }: { name: string; type: string }) => [name, type]),
      ).toEqual([
        ["Name", "string"],
        ["Data", "string"],
        ["Age", "string"],
      ]);
      const row = body.rows.find(({ cells }: { cells: string[] }) => cells[0] === "one");
      expect(row.cells[1]).toBe(2);
      expect(row.cells[2]).toMatch(/^\d+s$/);
      expect(row.object).toMatchObject({
        kind: "PartialObjectMetadata",
        metadata: { name: "one", labels: { app: "shop" } },
      });
    },
  );

  it("C-2.4-03 the table of a kind without own columns has Name and Created At", async () => {
    const { body } = await server.admin.get(roles, { accept: table });
    expect(body.columnDefinitions).toMatchObject([
      { name: "Name", type: "string" },
      { name: "Created At", type: "date" },
    ]);
    const created = (await server.admin.get(`${roles}/reader`)).body.metadata.creationTimestamp;
    expect(body.rows.map(({ cells }: { cells: string[] }) => cells)).toEqual([["reader", created]]);
  });

  it("includeObject selects the object in each table row", async () => {
    const get = async (include: string) =>
      (await server.admin.get(`${configMaps}/one?includeObject=${include}`, { accept: table })).body
        .rows?.[0];
    expect(await get("None")).toEqual({ cells: ["one", 2, expect.any(String)] });
    expect((await get("Object")).object).toMatchObject({ kind: "ConfigMap", data: { a: "1", b: "2" } });
    expect((await server.admin.get(`${configMaps}/one?includeObject=All`, { accept: table })).status).toBe(
      400,
    );
  });

  it.each(["/version", "/apis", "/api/v1"])(
    "C-4.7-03 %s has no table: an Accept list of the table and application/json gets plain JSON",
    async (path) => {
      const { status, headers, body } = await server.admin.get(path, {
        accept: `${table}, application/json`,
      });
      expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
      expect(body.kind).not.toBe("Table");
    },
  );

  it("C-4.7-03 a review has no table: 406 alone, plain JSON with application/json after it", async () => {
    const path = "/apis/authorization.platform.io/v1/selfsubjectaccessreviews";
    const ask = (accept: string) =>
      server.admin.ask("POST", path, {
        accept,
        body: { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } },
      });
    expect((await ask(table)).status).toBe(406);
    const { status, headers, body } = await ask(`${table}, application/json`);
    expect([status, headers["content-type"], body.kind]).toEqual([
      201,
      "application/json",
      "SelfSubjectAccessReview",
    ]);
  });

  it("C-4.7-01 every readable built-in resource is JSON without an Accept header", async () => {
    const { body: groups } = await server.admin.get("/apis");
    const places = ["/api/v1", ...groups.groups.flatMap(pathsOf)];
    let seen = 0;
    for (const place of places) {
      for (const { name, verbs } of (await server.admin.get(place)).body.resources as ApiResource[]) {
        if (!verbs.includes("list")) continue;
        const { status, headers, body } = await server.admin.get(`${place}/${name}`);
        expect([status, headers["content-type"], body.kind]).toEqual([
          200,
          "application/json",
          expect.stringMatching(/List$/),
        ]);
        seen++;
      }
    }
    expect(seen).toBeGreaterThan(50);
  });

  it("the first supported entry of the Accept list is used", async () => {
    const other = "application/json;as=Table;g=other.example;v=v1, application/json";
    expect((await server.admin.get(configMaps, { accept: other })).body.kind).toBe("ConfigMapList");
    expect((await server.admin.get(configMaps, { accept: `${table}, application/json` })).body.kind).toBe(
      "Table",
    );
    const preferred = `${table};q=0.1, application/json`;
    expect((await server.admin.get(configMaps, { accept: preferred })).body.kind).toBe("ConfigMapList");
  });

  it("a watch as a table sends each object as a row", async () => {
    const watch = await server.admin.watch(configMaps, { accept: table });
    const frame = await watch.next();
    expect(frame).toMatchObject({
      type: "ADDED",
      object: { kind: "Table", rows: [{ cells: ["one", 2, expect.any(String)] }] },
    });
    watch.close();
  });

  it("a watch as a table has the columns only in its first event, of the initial state or of a change", async () => {
    const columns = (frame: Frame) => frame.object.columnDefinitions;
    const change = (value: string) => server.admin.patch(`${configMaps}/one`, { data: { a: value } });
    const read = { accept: table };
    const ofState = await server.admin.watch(configMaps, read);
    const named = [{ name: "Name" }, { name: "Data" }, { name: "Age" }];
    expect(columns(await ofState.next())).toMatchObject(named);
    const { resourceVersion } = (await change("2")).body.metadata;
    expect(columns(await ofState.next())).toBeNull();
    const ofChanges = await server.admin.watch(`${configMaps}?resourceVersion=${resourceVersion}`, read);
    await change("3");
    expect(columns(await ofChanges.next())).toMatchObject(named);
    await change("4");
    for (const watch of [ofChanges, ofState]) expect(columns(await watch.next())).toBeNull();
    for (const watch of [ofChanges, ofState]) watch.close();
  });
});
