import { expect, test } from "vitest";
import type { Release } from "../../../src/base/releases.ts";
import { TestServer } from "../../support/api.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const widgets = "/apis/rules.example.com/v1/widgets";

interface RuleSchema {
  readonly type: string;
  readonly properties?: Readonly<Record<string, RuleSchema>>;
  readonly items?: RuleSchema;
  readonly [name: string]: unknown;
}

function definitionOf(spec: RuleSchema): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.rules.example.com" },
    spec: {
      group: "rules.example.com",
      scope: "Cluster",
      names: { plural: "widgets", kind: "Widget" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  };
}

async function withServer(release: Release, use: (server: TestServer) => Promise<void>): Promise<void> {
  const server = await TestServer.start({ release, vocabulary: "kubernetes", enabledControllers: [] });
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

async function define(server: TestServer, spec: RuleSchema): Promise<void> {
  const { status, text } = await server.admin.post(definitions, definitionOf(spec));
  expect(status, text).toBe(201);
  await expect.poll(async () => (await server.admin.get(widgets)).status).toBe(200);
}

const widget = (spec: object, metadata: object = { name: "one" }): object => ({
  apiVersion: "rules.example.com/v1",
  kind: "Widget",
  metadata,
  spec,
});

const limited: RuleSchema = {
  type: "object",
  properties: {
    size: { type: "integer" },
    limit: { type: "integer" },
    namespace: { type: "string", maxLength: 63 },
    address: { type: "string", maxLength: 50 },
  },
  "x-kubernetes-validations": [
    {
      rule: "!has(self.size) || self.size <= self.limit",
      messageExpression: "'size %d exceeds %d'.format([self.size, self.limit])",
      message: "size exceeds the limit",
      reason: "FieldValueForbidden",
      fieldPath: ".size",
    },
    { rule: "!has(self.address) || isIP(self.address)", reason: "FieldValueRequired", fieldPath: ".address" },
    { rule: "!has(self.namespace) || self.namespace != 'a'", reason: "FieldValueDuplicate" },
  ],
};

test("a rule's message expression, reason and field path decide the fault on release 1.37", async () => {
  await withServer("1.37", async (server) => {
    await define(server, limited);
    const { status, body } = await server.admin.post(
      widgets,
      widget({ size: 5, limit: 3, address: "x", namespace: "a" }),
    );
    expect(status).toBe(422);
    expect(body.details.causes).toEqual([
      { reason: "FieldValueForbidden", field: "spec.size", message: "Forbidden: size 5 exceeds 3" },
      {
        reason: "FieldValueRequired",
        field: "spec.address",
        message: "Required value: failed rule: !has(self.address) || isIP(self.address)",
      },
      { reason: "FieldValueDuplicate", field: "spec", message: 'Duplicate value: ""' },
    ]);
    expect((await server.admin.post(widgets, widget({ size: 1, limit: 3, address: "::1" }))).status).toBe(
      201,
    );
  });
});

test("the message applies if the message expression fails", async () => {
  await withServer("1.37", async (server) => {
    await define(server, limited);
    const { body } = await server.admin.post(widgets, widget({ size: 9, limit: 3, address: "10.0.0.1" }));
    expect(body.message).toContain("size 9 exceeds 3");
    await defineGadgets(server);
    const { body: fallback } = await server.admin.post("/apis/rules.example.com/v1/gadgets", {
      apiVersion: "rules.example.com/v1",
      kind: "Gadget",
      metadata: { name: "one" },
      spec: { list: [] },
    });
    expect(fallback.message).toContain("the list is empty");
  });
});

async function defineGadgets(server: TestServer): Promise<void> {
  const definition = JSON.parse(
    JSON.stringify(
      definitionOf({
        type: "object",
        properties: { list: { type: "array", maxItems: 5, items: { type: "string", maxLength: 5 } } },
        "x-kubernetes-validations": [
          { rule: "self.list.size() > 0", message: "the list is empty", messageExpression: "self.list[0]" },
        ],
      }),
    )
      .replaceAll("widget", "gadget")
      .replaceAll("Widget", "Gadget"),
  ) as object;
  expect((await server.admin.post(definitions, definition)).status).toBe(201);
  await expect
    .poll(async () => (await server.admin.get("/apis/rules.example.com/v1/gadgets")).status)
    .toBe(200);
}

test.each([
  ["messageExpression", { rule: "true", messageExpression: "1" }, "must evaluate to string"],
  ["messageExpression", { rule: "true", messageExpression: " " }, "must be non-empty"],
  ["messageExpression", { rule: "true", messageExpression: "self.missing" }, "undefined field 'missing'"],
  ["reason", { rule: "true", reason: "Other" }, "supported values"],
  ["fieldPath", { rule: "true", fieldPath: ".missing" }, "must be a valid path"],
  ["fieldPath", { rule: "true", fieldPath: "size" }, "must be a valid path"],
  ["fieldPath", { rule: "true", fieldPath: "['size" }, "must be a valid path"],
  [
    "optionalOldSelf",
    { rule: "true", optionalOldSelf: true },
    "may not be set if oldSelf is not used in rule",
  ],
])("a definition with an invalid %s of a rule is rejected: %j", async (member, rule, message) => {
  await withServer("1.37", async (server) => {
    const spec = { ...limited, "x-kubernetes-validations": [rule] };
    const { status, body } = await server.admin.post(definitions, definitionOf(spec));
    expect(status).toBe(422);
    const [cause] = body.details.causes as { field: string; message: string }[];
    expect(cause!.field).toMatch(new RegExp(`x-kubernetes-validations\\[0\\]\\.${member}$`));
    expect(cause!.message).toContain(message);
  });
});

test("a rule with an optional old value applies to new objects too", async () => {
  await withServer("1.37", async (server) => {
    await define(server, {
      type: "object",
      properties: { size: { type: "integer" } },
      "x-kubernetes-validations": [
        {
          rule: "oldSelf.hasValue() ? self.size >= oldSelf.value().size : self.size == 1",
          optionalOldSelf: true,
        },
      ],
    });
    expect((await server.admin.post(widgets, widget({ size: 2 }))).status).toBe(422);
    const { body: created } = await server.admin.post(widgets, widget({ size: 1 }));
    const update = (size: number) => server.admin.put(`${widgets}/one`, widget({ size }, created.metadata));
    expect((await update(0)).status).toBe(422);
    expect((await update(5)).status).toBe(200);
  });
});

test.each([
  ["1.37", 200],
  ["1.29", 422],
] as const)(
  "an unchanged value that a new rule forbids can be kept on release %s: %i",
  async (release, expected) => {
    await withServer(release, async (server) => {
      const spec: RuleSchema = {
        type: "object",
        properties: { a: { type: "string", maxLength: 5 }, b: { type: "string", maxLength: 5 } },
      };
      await define(server, spec);
      const { body: created } = await server.admin.post(widgets, widget({ a: "old", b: "x" }));
      const { body: definition } = await server.admin.get(`${definitions}/widgets.rules.example.com`);
      const { properties } = definition.spec.versions[0].schema.openAPIV3Schema.properties.spec;
      properties.a["x-kubernetes-validations"] = [{ rule: "self != 'old'" }];
      expect((await server.admin.put(`${definitions}/widgets.rules.example.com`, definition)).status).toBe(
        200,
      );
      await expect
        .poll(async () => (await server.admin.post(widgets, widget({ a: "old" }, { name: "two" }))).status)
        .toBe(422);
      const update = (a: string) =>
        server.admin.put(`${widgets}/one`, widget({ a, b: "y" }, created.metadata));
      expect((await update("old")).status).toBe(expected);
    });
  },
);

test("release 1.26 doesn't know the later members of rules", async () => {
  await withServer("1.26", async (server) => {
    const { status, text } = await server.admin.post(
      `${definitions}?fieldValidation=Strict`,
      definitionOf(limited),
    );
    expect(status).toBe(400);
    expect(text).toContain("messageExpression");
  });
});

test("a library is offered to new expressions one release after stored ones may use it", async () => {
  for (const [release, status] of [
    ["1.30", 422],
    ["1.31", 201],
  ] as const) {
    await withServer(release, async (server) => {
      const spec = {
        type: "object",
        properties: { address: { type: "string", maxLength: 50 } },
        "x-kubernetes-validations": [{ rule: "isIP(self.address)" }],
      };
      expect((await server.admin.post(definitions, definitionOf(spec))).status).toBe(status);
    });
  }
});
