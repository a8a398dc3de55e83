import { beforeAll, describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, definitions, group, order, served, version } from "./support.ts";

let path: string;
const crd = `${definitions}/orders.${group}`;
const schemaOf = (properties: object) => ({
  openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } },
});
const size = { type: "integer" };
const first = schemaOf({ size, gone: { type: "string" } });
const second = schemaOf({
  size,
  color: { type: "string", default: "red" },
  nested: { type: "object", default: {}, properties: { deep: { type: "string", default: "d" } } },
});

/** Changes the schema of the kind, and waits until the server uses it. */
async function change(schema: object): Promise<void> {
  await ok(server.admin.patch(crd, { spec: { versions: [version("v1", { schema })] } }));
}

const names = ["read", "written", "patched", "applied", "deleted", "table"];
/** Enough objects that a page is read in several event loop turns. */
const others = Array.from({ length: 20 }, (_, index) => `other-${index}`);
const refreshed = { size: 1, color: "red", nested: { deep: "d" } };

const server = useServer({ enabledControllers: [] });
beforeAll(async () => {
  path = await served(server.admin, definition({ versions: [version("v1", { schema: first })] }));
  for (const name of [...names, ...others]) {
    await ok(server.admin.post(path, order(name, { size: 1, gone: "soon" })));
  }
  await change(second);
});

describe("objects that were written before their schema was changed", () => {
  test("have added defaults and lose removed fields when they are read", async () => {
    const { body } = await server.admin.get(`${path}/read`);
    expect(body.spec).toEqual(refreshed);
    const list = await server.admin.get(path);
    expect(list.body.items.map(({ spec }: { spec: object }) => spec)).toEqual(
      [...names, ...others].map(() => refreshed),
    );
    const again = await server.admin.get(path);
    expect(again.text).toBe(list.text);
    const selected = await server.admin.get(`${path}?fieldSelector=metadata.name%3Dread`);
    expect(selected.body.items[0].spec).toEqual(refreshed);
    expect(body.metadata.resourceVersion).toBe(selected.body.items[0].metadata.resourceVersion);
  });

  test("have them in watch events of the initial state and of changes before the schema change", async () => {
    const { resourceVersion } = (await server.admin.get(`${path}/read`)).body.metadata;
    const before = String(Number(resourceVersion) - 1);
    for (const from of ["0", before]) {
      const watch = await server.admin.watch(
        `${path}?watch=1&resourceVersion=${from}&fieldSelector=metadata.name%3Dread`,
      );
      const { type, object } = await watch.next();
      expect([type, object.spec]).toEqual(["ADDED", refreshed]);
      watch.close();
    }
    const all = await server.admin.watch(`${path}?watch=1&resourceVersion=${before}`);
    await all.next();
    await ok(server.admin.delete(`${path}/deleted`));
    for (let event = await all.next(); ; event = await all.next()) {
      expect(event.object.spec).toEqual(refreshed);
      if (event.type === "DELETED") break;
    }
    all.close();
  });

  test("are stored with them when they are written, also by an otherwise unchanged update", async () => {
    const { body } = await server.admin.get(`${path}/written`);
    const put = await ok(server.admin.put(`${path}/written`, body));
    expect(put.body.spec).toEqual(refreshed);
    expect(put.body.metadata.resourceVersion).not.toBe(body.metadata.resourceVersion);
    expect(put.body.metadata.generation).toBe(body.metadata.generation);
    const again = await ok(server.admin.put(`${path}/written`, put.body));
    expect(again.body.metadata.resourceVersion).toBe(put.body.metadata.resourceVersion);
    const patch = [
      { op: "test", path: "/spec/color", value: "red" },
      { op: "replace", path: "/spec/size", value: 2 },
    ];
    const patched = await ok(server.admin.patch(`${path}/patched`, patch, "json"));
    expect(patched.body.spec).toEqual({ ...refreshed, size: 2 });
    const applied = await server.admin.ask("PATCH", `${path}/applied?fieldManager=m&force=true`, {
      contentType: "application/apply-patch+yaml",
      body: order("applied", { size: 3 }),
    });
    expect(applied.body.spec).toEqual({ ...refreshed, size: 3 });
  });

  test("have them in tables, and after the definition is loaded again", async () => {
    await ok(server.admin.patch(crd, { metadata: { labels: { touched: "yes" } } }));
    expect((await server.admin.get(`${path}/table`)).body.spec).toEqual(refreshed);
    const columns = [{ name: "Color", type: "string", jsonPath: ".spec.color" }];
    const versions = [version("v1", { schema: second, additionalPrinterColumns: columns })];
    await ok(server.admin.patch(crd, { spec: { versions } }));
    const accept = "application/json;as=Table;v=v1;g=meta.platform.io";
    for (const at of [path, `${path}/table`]) {
      const { body } = await server.admin.get(at, { accept });
      const row = body.rows.find(({ cells }: { cells: string[] }) => cells[0] === "table");
      expect(row.cells).toEqual(["table", "red"]);
    }
  });
});
