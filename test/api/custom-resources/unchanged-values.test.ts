import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, TestServer } from "../../support/api.ts";
import type { Release } from "../../../src/base/releases.ts";
import { ok } from "../support.ts";
import { definitions } from "./support.ts";

const items = "/apis/check.example.com/v1/items";

const causesOf = ({ status, body }: Answer): unknown[] => [
  status,
  ...(body.details?.causes ?? []).map(({ field, reason }: Record<string, string>) => [
    field,
    reason!.replace("FieldValue", ""),
  ]),
];

/** A definition whose schema is stricter, or not. */
function definition(isStrict: boolean) {
  const text = { type: "string", ...(isStrict && { maxLength: 3 }) };
  const part = { type: "object", properties: { key: { type: "string" }, text, other: { type: "string" } } };
  const properties = {
    text,
    other: { type: "string" },
    plain: { type: "array", items: part },
    keyed: {
      type: "array",
      "x-platform-list-type": "map",
      "x-platform-list-map-keys": ["key"],
      items: { ...part, required: ["key"] },
    },
    group: { ...part, ...(isStrict && { required: ["other"] }) },
    choice: { type: "string", ...(isStrict && { anyOf: [{ enum: ["a"] }, { enum: ["b"] }] }) },
  };
  const status = {
    type: "object",
    properties: {
      phase: { type: "string", maxLength: 2, pattern: "^b" },
      choice: { type: "string", anyOf: [{ enum: ["a"] }, { enum: ["b"] }] },
    },
  };
  const schema = { type: "object", properties: { spec: { type: "object", properties }, status } };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: schema },
  };
  const names = { plural: "items", singular: "item", kind: "Item" };
  const spec = { group: "check.example.com", scope: "Cluster", names, versions: [version] };
  return { metadata: { name: "items.check.example.com" }, spec };
}

/** A server with an object that a later version of its schema doesn't allow. */
function useOutdatedObject(release: Release) {
  let server: TestServer;
  const admin = () => server.admin;
  const update = async (spec: object) => causesOf(await admin().patch(`${items}/one`, { spec }));
  const updateStatus = (status: object) => admin().patch(`${items}/one/status`, { status });
  beforeAll(async () => {
    server = await TestServer.start({ release });
    await ok(admin().post(definitions, definition(false)));
    const list = [{ key: "a", text: "long" }];
    const spec = {
      text: "long",
      plain: list,
      keyed: list,
      group: { text: "long" },
      choice: "c",
    };
    const object = { apiVersion: "check.example.com/v1", kind: "Item", metadata: { name: "one" }, spec };
    await ok(admin().post(items, object));
    const url = `${definitions}/items.check.example.com`;
    const { spec: strict } = definition(true);
    await ok(admin().patch(url, { spec: strict }));
  });
  afterAll(() => server.close());
  return { update, updateStatus };
}

describe("an update of an object that its schema no longer allows", () => {
  const { update, updateStatus } = useOutdatedObject("1.37");

  test("is allowed if it doesn't change the invalid values", async () => {
    expect(await update({ other: "1" })).toEqual([200]);
  });

  test("is refused with the faults of the values that it changes, and no others", async () => {
    expect(await update({ text: "longer" })).toEqual([422, ["spec.text", "TooLong"]]);
    expect(await update({ choice: "d" })).toEqual([
      422,
      ["<nil>", "Invalid"],
      ["spec.choice", "NotSupported"],
    ]);
    expect(await update({ group: { key: "new" } })).toEqual([422, ["spec.group.other", "Required"]]);
  });

  test("compares items of list maps by key; other lists count as a whole", async () => {
    const changed = [{ key: "b" }, { key: "a", text: "long", other: "new" }];
    expect(await update({ keyed: changed })).toEqual([200]);
    expect(await update({ plain: changed })).toEqual([422, ["spec.plain[1].text", "TooLong"]]);
  });

  test("of its status validates only the status, with paths in messages from there", async () => {
    expect((await updateStatus({ phase: "b" })).status).toBe(200);
    const { body } = await updateStatus({ phase: "cde", choice: "c" });
    expect(body.details.causes.map(({ field, message }: Record<string, string>) => [field, message])).toEqual(
      [
        ["status.phase", "Too long: may not be more than 2 bytes"],
        ["status", 'Invalid value: "": "choice" must validate at least one schema (anyOf)'],
        ["status.choice", 'Unsupported value: "c": supported values: "a"'],
      ],
    );
    const { body: typed } = await updateStatus({ phase: 5 });
    expect(typed.details.causes[0].message).toBe(
      'Invalid value: "integer": phase in body must be of type string: "integer"',
    );
  });
});

describe("an update in the reference release", () => {
  const { update, updateStatus } = useOutdatedObject("1.26");

  test("is refused with all faults, also of its status", async () => {
    const [status, ...causes] = await update({ other: "1" });
    expect([status, causes]).toEqual([422, expect.arrayContaining([["spec.text", "TooLong"]])]);
    expect((await updateStatus({ phase: "b" })).status).toBe(422);
  });
});
