import { expect, test } from "vitest";
import { parse } from "yaml";
import { createAuthority } from "../../../src/base/certificates/serving-certificates.ts";
import { ok } from "../support.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, definitions, group, order, served, version, whenServed } from "./support.ts";
import { blockOf } from "../../support/pages.ts";

const server = useServer({ enabledControllers: [] });

test("docs/custom-resources.md: its definition is served, its object is valid, and its rules are enforced", async () => {
  const defined = parse(blockOf("docs/custom-resources.md", "yaml definition")) as ReturnType<
    typeof definition
  >;
  const object = parse(blockOf("docs/custom-resources.md", "yaml object")) as object;
  await ok(server.admin.post(definitions, defined));
  const orders = await whenServed(server.admin, defined);
  const { status, body, warnings } = await server.admin.post(orders, object);
  expect([status, body.spec, warnings]).toEqual([201, { color: "red", size: 3 }, []]);
  const without = await server.admin.post(orders, { ...object, spec: {} });
  expect([without.status, without.body.details.causes[0].field]).toEqual([422, "spec.size"]);

  const { spec } = parse(blockOf("docs/custom-resources.md", "yaml rules")) as { spec: object };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  const ruled = definition({ versions: [version("v1", { schema })] });
  await ok(server.admin.delete(`${definitions}/${defined.metadata.name}`));
  const again = await served(server.admin, {
    ...ruled,
    metadata: { name: `ruled.${group}` },
    spec: { ...ruled.spec, names: { plural: "ruled", kind: "Order" } },
  });
  const first = { ...order("first", { min: 2, max: 1, name: "a" }) };
  expect((await server.admin.post(again, first)).body.message).toContain("min must not be greater than max");
  await ok(server.admin.post(again, { ...first, spec: { min: 1, max: 1, name: "a" } }));
  const renamed = await server.admin.patch(`${again}/first`, { spec: { name: "b" } });
  expect([renamed.status, renamed.body.details.causes[0].field]).toEqual([422, "spec.name"]);
});

test("docs/custom-resources.md: a definition with its conversion is accepted", async () => {
  const defined = parse(blockOf("docs/custom-resources.md", "yaml definition")) as { spec: object };
  const bundle = Buffer.from(createAuthority().certificate).toString("base64");
  const conversion = parse(
    blockOf("docs/custom-resources.md", "yaml conversion").replace(/(?<=caBundle: ).*/, bundle),
  ) as { spec: object };
  const converted = { ...defined, spec: { ...defined.spec, ...conversion.spec } };
  const strict = `${definitions}?dryRun=All&fieldValidation=Strict`;
  const { status, body, warnings } = await server.admin.post(strict, converted);
  expect([status, body.spec?.conversion?.strategy, warnings]).toEqual([201, "Webhook", []]);
});
