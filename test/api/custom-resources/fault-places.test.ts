import { expect, test } from "vitest";
import { type Answer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, definitions, order, served, version } from "./support.ts";

const server = useServer({ enabledControllers: [] });

const fieldsOf = ({ body }: Answer): unknown[] => [
  body.code,
  body.details.causes.map(
    ({ field, reason }: Record<string, string>) => `${field} ${reason!.replace("FieldValue", "")}`,
  ),
];

const schema = (spec: object) => ({
  schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
});
const column = { name: "A", type: "strange", jsonPath: ".spec.a" };
const scale = { specReplicasPath: "spec.a", statusReplicasPath: ".status.a" };
const faulty = {
  ...schema({ type: "strange" }),
  additionalPrinterColumns: [column],
  subresources: { scale },
};
const shared = [
  "spec.validation.openAPIV3Schema.properties[spec].type NotSupported",
  "spec.subresources.scale.specReplicasPath Invalid",
  "spec.additionalPrinterColumns[0].type Invalid",
];

test.each([
  ["has one version", [version("v1", faulty)], shared],
  [
    "has versions that are alike",
    [version("v1", faulty), version("v2", { ...faulty, storage: false })],
    shared,
  ],
  [
    "has versions that differ in their schemas",
    [version("v1", faulty), version("v2", { ...faulty, ...schema({ type: "other" }), storage: false })],
    [
      "spec.versions[0].schema.openAPIV3Schema.properties[spec].type NotSupported",
      "spec.versions[1].schema.openAPIV3Schema.properties[spec].type NotSupported",
      ...shared.slice(1),
    ],
  ],
  [
    "has a version without a schema",
    [version("v1", { schema: undefined })],
    ["spec.versions[0].schema.openAPIV3Schema Required"],
  ],
])("errors of a definition have the fields of the reference when it %s", async (_, versions, expected) => {
  const [code, fields] = fieldsOf(await server.admin.post(definitions, definition({ versions })));
  expect([code, (fields as string[]).toSorted()]).toEqual([422, expected.toSorted()]);
});

test("unknown members of a closed object are rejected, also when the schema has another type", async () => {
  const closed = { type: "object", additionalProperties: false };
  const scalar = { type: "string", additionalProperties: false };
  const spec = { type: "object", properties: { closed, scalar } };
  const path = await served(server.admin, definition({ versions: [version("v1", schema(spec))] }));
  const create = (value: object) => server.admin.post(`${path}?dryRun=All`, order("closed", value));
  expect((await create({ closed: {}, scalar: "a" })).status).toBe(201);
  expect(fieldsOf(await create({ closed: { a: 1, b: { c: 1 } } }))).toEqual([
    422,
    ["spec.closed Invalid", "spec.closed Invalid"],
  ]);
  expect(fieldsOf(await create({ scalar: { a: 1, b: 2 } }))).toEqual([
    422,
    ["spec.scalar TypeInvalid", "spec.scalar Invalid", "spec.scalar Invalid"],
  ]);
});
