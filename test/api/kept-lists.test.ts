import { beforeAll, describe, expect, test } from "vitest";
import { ManualClock } from "../support/manual-clock.ts";
import { useServer } from "../support/use-server.ts";
import { definition, definitions, served, version } from "./custom-resources/support.ts";
import { configMap, ok } from "./support.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const table = "application/json;as=Table;g=meta.platform.io;v=v1";
/** No object has this label, so every object is evaluated and no cached list is used. */
const oneByOne = "labelSelector=none%21%3Dx";

const clock = new ManualClock();

const server = useServer({ clock });
beforeAll(async () => {
  for (let index = 0; index < 30; index++) await create(index);
});

function create(index: number): Promise<unknown> {
  const data = { text: "ä\n".repeat(index * 400), "9": "nine", "10": "ten" };
  return ok(server.admin.post(configMaps, configMap(`map-${String(index).padStart(2, "0")}`, data)));
}

async function list(accept: string, query: string): Promise<string> {
  return (await ok(server.admin.ask("GET", `${configMaps}?${query}`, { accept }))).bytes.toString("latin1");
}

describe("a cached list equals a newly encoded one", () => {
  test.each([
    ["binary", "application/vnd.platform.protobuf", ""],
    [
      "metadata, binary",
      "application/vnd.platform.protobuf;as=PartialObjectMetadataList;g=meta.platform.io;v=v1",
      "",
    ],
    ["table", table, ""],
    ["table of objects", table, "includeObject=Object&"],
    ["table of nothing else", table, "includeObject=None&"],
  ])("as %s", async (_name, accept, query) => {
    const expectSame = async (more: string): Promise<void> => {
      const fresh = await list(accept, `${query}${oneByOne}`);
      for (let again = 0; again < 3; again++) expect(await list(accept, query + more)).toBe(fresh);
    };
    await expectSame("");
    await expectSame("limit=31");
    await clock.advance(3_600_000);
    await expectSame("");
    await ok(server.admin.patch(`${configMaps}/map-07`, { data: { text: `changed ${accept} ${query}` } }));
    await expectSame("");
    await ok(server.admin.delete(`${configMaps}/map-20`));
    await expectSame("");
    await create(20);
    await expectSame("");
    // The limit also counts the objects of a cached page.
    const some = await list(accept, `${query}limit=7`);
    expect(await list(accept, `${query}limit=7`)).toBe(some);
    expect(some.length).toBeLessThan((await list(accept, query)).length);
  });

  test("as a table of a custom resource after its definition got other columns", async () => {
    const withColumns = (name: string): ReturnType<typeof definition> =>
      definition({
        versions: [
          version("v1", { additionalPrinterColumns: [{ name, type: "integer", jsonPath: ".spec.size" }] }),
        ],
      });
    const orders = await served(server.admin, withColumns("Size"));
    const order = {
      apiVersion: "shop.example.com/v1",
      kind: "Order",
      metadata: { name: "a" },
      spec: { size: 3 },
    };
    await ok(server.admin.post(orders, order));
    const shown = async (): Promise<unknown> => {
      const { body } = await ok(server.admin.ask("GET", orders, { accept: table }));
      return [
        body.columnDefinitions.map(({ name }: { name: string }) => name),
        body.rows.map(({ cells }: { cells: unknown }) => cells),
      ];
    };
    for (let again = 0; again < 2; again++) expect(await shown()).toEqual([["Name", "Size"], [["a", 3]]]);
    const columns = [{ name: "Colour", type: "string", jsonPath: ".spec.color" }];
    const patch = [{ op: "replace", path: "/spec/versions/0/additionalPrinterColumns", value: columns }];
    await ok(server.admin.patch(`${definitions}/orders.shop.example.com`, patch, "json"));
    for (let again = 0; again < 2; again++)
      expect(await shown()).toEqual([["Name", "Colour"], [["a", "red"]]]);
  });
});
