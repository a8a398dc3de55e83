import { beforeAll, describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, definitions, group, order, served, version } from "./support.ts";

const server = useServer({ release: "1.32", enabledControllers: [] });
const crd = `${definitions}/orders.${group}`;
const selectableFields = [{ jsonPath: ".spec.color" }, { jsonPath: ".spec.size" }];
let path: string;

const select = async (selector: string): Promise<string[]> => {
  const { status, body } = await server.admin.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
  expect(status).toBe(200);
  return body["items"].map(({ metadata }: { metadata: { name: string } }) => metadata.name);
};

beforeAll(async () => {
  path = await served(server.admin, definition({ versions: [version("v1")] }));
  await ok(server.admin.post(path, order("before", { size: 3, color: "green" })));
  const refused = await server.admin.get(`${path}?fieldSelector=spec.color%3Dgreen`);
  expect(refused.status).toBe(400);
  await ok(server.admin.patch(crd, { spec: { versions: [version("v1", { selectableFields })] } }));
  await ok(server.admin.post(path, order("green", { size: 3, color: "green" })));
  await ok(server.admin.post(path, order("red", { size: 4 })));
});

describe("selectable fields of a definition", () => {
  test("select objects in lists, also those that were written before", async () => {
    expect(await select("spec.color=green")).toEqual(["before", "green"]);
    expect(await select("spec.color!=green")).toEqual(["red"]);
    expect(await select("spec.size=3,spec.color=green,metadata.name=green")).toEqual(["green"]);
    expect(await select("spec.color=")).toEqual([]);
    const sorted = await server.admin.get(`${path}?sort=-spec.size`);
    expect(sorted.body["items"][0].metadata.name).toBe("red");
  });

  test("select objects in watches, as they change", async () => {
    const watch = await server.admin.watch(`${path}?watch=1&fieldSelector=spec.color%3Dgreen`);
    expect([(await watch.next()).object.metadata.name, (await watch.next()).object.metadata.name]).toEqual([
      "before",
      "green",
    ]);
    await ok(server.admin.patch(`${path}/red`, { spec: { color: "green" } }));
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "red" } } });
    await ok(server.admin.patch(`${path}/before`, { spec: { color: "red" } }));
    expect(await watch.next()).toMatchObject({ type: "DELETED", object: { metadata: { name: "before" } } });
    watch.close();
  });

  test("delete the selected objects of a collection", async () => {
    await ok(server.admin.post(path, order("large", { size: 9 })));
    await ok(server.admin.delete(`${path}?fieldSelector=spec.size%3D9`));
    expect(await select("spec.size=9")).toEqual([]);
    expect(await select("spec.size!=9")).not.toEqual([]);
  });

  test.each([
    ["spec.color", "is an invalid path"],
    [".spec.unknown", "does not refer to a valid field"],
    [".spec.tags", "must point to a field of type string, boolean or integer"],
    [".metadata.name", "does not refer to a valid field"],
  ])("are refused for the path %s", async (jsonPath, message) => {
    const fields = { selectableFields: [{ jsonPath }] };
    const { status, body } = await server.admin.patch(crd, { spec: { versions: [version("v1", fields)] } });
    expect(status).toBe(422);
    expect(body["message"]).toContain(message);
    expect(body["details"].causes[0].field).toBe("spec.versions[0].selectableFields[0].jsonPath");
  });

  test("are refused when a path is repeated, or there are more than 8", async () => {
    const repeated = { selectableFields: [...selectableFields, ...selectableFields] };
    const again = await server.admin.patch(crd, { spec: { versions: [version("v1", repeated)] } });
    expect(again.status).toBe(422);
    expect(again.body["details"].causes[0].reason).toBe("FieldValueDuplicate");
  });

  test("are in the OpenAPI schema of the kind", async () => {
    const { body } = await server.admin.get(`/openapi/v3/apis/${group}/v1`);
    const schema = body["components"].schemas[`com.example.shop.v1.Order`];
    expect(schema["x-platform-selectable-fields"]).toEqual([
      { fieldPath: "spec.color" },
      { fieldPath: "spec.size" },
    ]);
  });
});

describe("in the reference release", () => {
  const older = useServer({ enabledControllers: [] });
  test("a definition has no selectable fields", async () => {
    const body = definition({ versions: [version("v1", { selectableFields })] });
    const { status, body: answer } = await older.admin.post(`${definitions}?fieldValidation=Strict`, body);
    expect(status).toBe(400);
    expect(answer["message"]).toContain('unknown field "spec.versions[0].selectableFields"');
  });
});
