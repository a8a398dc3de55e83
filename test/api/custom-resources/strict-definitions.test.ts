import { describe, expect, test } from "vitest";
import { useServer } from "../../support/use-server.ts";
import { definition, definitions, group, version } from "./support.ts";

const server = useServer();

/** A schema with unknown fields inside and outside of `items` and `additionalProperties`. */
const schema = (more: object) => ({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        list: {
          type: "array",
          items: { type: "object", "x-foreign": 1, properties: { a: { type: "string", other: true } } },
        },
        map: { type: "object", additionalProperties: { type: "string", "x-foreign": "b" } },
        ...more,
      },
    },
  },
});
const outside = { plain: { type: "string", "x-foreign": 1 } };
const outsidePath = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.plain.x-foreign";

let count = 0;
const made = (more: object = {}) => {
  const plural = `strict${++count}s`;
  const versions = [version("v1", { schema: { openAPIV3Schema: schema(more) } })];
  return definition({ versions }, plural, `Strict${count}`);
};

describe("unknown fields in the schema of a definition", () => {
  test("Strict accepts those inside items and additionalProperties, as the reference does, and drops them", async () => {
    const { status, body } = await server.admin.post(`${definitions}?fieldValidation=Strict`, made());
    expect(status).toBe(201);
    expect(JSON.stringify(body.spec)).not.toContain("foreign");
  });

  test("Strict lists only those outside of them", async () => {
    const { status, body } = await server.admin.post(`${definitions}?fieldValidation=Strict`, made(outside));
    expect([status, body.message.match(/unknown field "[^"]*"/g)]).toEqual([
      400,
      [`unknown field "${outsidePath}"`],
    ]);
  });

  test("Warn has no warnings for those inside", async () => {
    const answer = await server.admin.post(`${definitions}?fieldValidation=Warn`, made(outside));
    expect([answer.status, answer.warnings]).toEqual([201, [`unknown field "${outsidePath}"`]]);
  });

  test("Strict accepts them in apply and in a merge patch", async () => {
    const one = made();
    const path = `${definitions}/${one.metadata.name}`;
    const body = { apiVersion: "apiextensions.platform.io/v1", kind: "CustomResourceDefinition", ...one };
    const applied = await server.admin.ask("PATCH", `${path}?fieldManager=m&fieldValidation=Strict`, {
      body,
      contentType: "application/apply-patch+yaml",
    });
    expect(applied.status).toBe(201);
    const patched = await server.admin.patch(`${path}?fieldValidation=Strict`, {
      spec: { ...one.spec, group, names: { ...one.spec.names, shortNames: ["st"] } },
    });
    expect([patched.status, patched.body.spec.names.shortNames]).toEqual([200, ["st"]]);
  });
});
