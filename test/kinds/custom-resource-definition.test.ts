import { describe, expect, it } from "vitest";
import { CustomResourceDefinition } from "../../src/kinds/apiextensions/custom-resource-definition.ts";
import { decode } from "../../src/schema/decode.ts";
import type { Part } from "./pod-support.ts";
import { judgeNew, judgeUpdate, readAs } from "./support.ts";

const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));

const names = { plural: "widgets", kind: "Widget" };
const version = {
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: "object" } },
};
const withSpec = (part: Part, metadata: Part = {}): Part => ({
  metadata: { name: "widgets.example.com", ...metadata },
  spec: { group: "example.com", names, scope: "Namespaced", versions: [version], ...part },
});
const withVersion = (part: Part): Part => withSpec({ versions: [{ ...version, ...part }] });
const withSchema = (schema: Part): Part => withVersion({ schema: { openAPIV3Schema: schema } });
const withProperty = (schema: Part): Part => withSchema({ type: "object", properties: { a: schema } });
const judge = (given: Part) => short(judgeNew(CustomResourceDefinition, given).faults);

describe("CustomResourceDefinition", () => {
  it.each([
    ["C-9.3-40", "version", { version: "v1" }],
    ["C-9.3-41", "validation", { validation: { openAPIV3Schema: { type: "object" } } }],
  ])("%s spec.%s of the older version is no field; versions have it", (_id, name, older) => {
    const { value, unknownFields } = decode(CustomResourceDefinition.type, withSpec(older));
    expect(unknownFields).toEqual([`spec.${name}`]);
    expect((value as Part)["spec"]).not.toHaveProperty(name);
    expect(judge(withSpec({ versions: [] }))).toContain("spec.versions: Invalid");
    expect(judge(withVersion({ schema: undefined }))).toContain(
      "spec.versions[0].schema.openAPIV3Schema: Required",
    );
  });

  it("fills in names, conversion and the stored version", () => {
    const { object, faults } = judgeNew(CustomResourceDefinition, withSpec({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      group: "example.com",
      names: { ...names, singular: "widget", listKind: "WidgetList" },
      scope: "Namespaced",
      versions: [version],
      conversion: { strategy: "None" },
    });
    expect(object["status"]).toEqual({
      conditions: null,
      acceptedNames: { plural: "", kind: "" },
      storedVersions: ["v1"],
    });
  });

  it.each([
    ["another name than its own", withSpec({}, { name: "other" }), ["metadata.name: Invalid"]],
    [
      "a group without a dot",
      withSpec({ group: "example" }, { name: "widgets.example" }),
      ["spec.group: Invalid"],
    ],
    ["C-9.3-39 no scope", withSpec({ scope: "" }), ["spec.scope: Required"]],
    ["another scope", withSpec({ scope: "World" }), ["spec.scope: NotSupported"]],
    [
      "no storage",
      withVersion({ storage: false }),
      ["spec.versions: Invalid", "status.storedVersions: Invalid"],
    ],
    [
      "two stored versions",
      withSpec({ versions: [version, { ...version, name: "v2" }] }),
      ["spec.versions: Invalid"],
    ],
    [
      "a version twice",
      withSpec({ versions: [version, { ...version, storage: false }] }),
      ["spec.versions: Invalid"],
    ],
    ["a malformed version", withVersion({ name: "1" }), ["spec.versions[0].name: Invalid"]],
    ["no schema", withVersion({ schema: undefined }), ["spec.versions[0].schema.openAPIV3Schema: Required"]],
    [
      "no kind",
      withSpec({ names: { plural: "widgets" } }),
      ["spec.names.kind: Required", "spec.names.listKind: Required", "spec.names.singular: Required"],
    ],
    [
      "a malformed kind",
      withSpec({ names: { ...names, kind: "W!" } }),
      ["spec.names.kind: Invalid", "spec.names.listKind: Invalid", "spec.names.singular: Invalid"],
    ],
    [
      "lists of the same name",
      withSpec({ names: { ...names, listKind: "Widget" } }),
      ["spec.names.listKind: Invalid"],
    ],
    [
      "malformed short names and categories",
      withSpec({ names: { ...names, shortNames: ["w", "W"], categories: ["A"] } }),
      ["spec.names.categories[0]: Invalid", "spec.names.shortNames[1]: Invalid"],
    ],
    [
      "unknown fields for all",
      withSpec({ preserveUnknownFields: true }),
      ["spec.preserveUnknownFields: Invalid"],
    ],
    [
      "a warning of what isn't deprecated",
      withVersion({ deprecationWarning: "x" }),
      ["spec.versions[0].deprecationWarning: Invalid"],
    ],
    [
      "a long warning",
      withVersion({ deprecated: true, deprecationWarning: "x".repeat(257) }),
      ["spec.versions[0].deprecationWarning: Invalid"],
    ],
    [
      "a warning of two lines",
      withVersion({ deprecated: true, deprecationWarning: "a\nb" }),
      ["spec.versions[0].deprecationWarning: Invalid"],
    ],
  ])("%s: refused", (_title, given, faults) => {
    expect(judge(given).toSorted()).toEqual(faults);
  });

  it.each([
    ["none", { strategy: "None" }, []],
    ["another strategy", { strategy: "Magic" }, [".strategy: NotSupported"]],
    [
      "no webhook",
      { strategy: "Webhook" },
      [".webhookClientConfig: Required", ".conversionReviewVersions: Required"],
    ],
    [
      "a webhook",
      {
        strategy: "Webhook",
        webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: ["v1"] },
      },
      [],
    ],
    [
      "a webhook that isn't asked",
      { strategy: "None", webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: ["v1"] } },
      [".webhookClientConfig: Forbidden", ".conversionReviewVersions: Forbidden"],
    ],
    [
      "a webhook without address",
      { strategy: "Webhook", webhook: { clientConfig: {}, conversionReviewVersions: ["v1"] } },
      [".webhookClientConfig: Required"],
    ],
    [
      "a review that nobody knows",
      {
        strategy: "Webhook",
        webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: ["v9"] },
      },
      [".conversionReviewVersions: Invalid"],
    ],
  ])("conversion with %s", (_title, conversion, faults) => {
    expect(judge(withSpec({ conversion }))).toEqual(faults.map((fault) => `spec.conversion${fault}`));
  });

  it.each([
    ["status", { status: {} }, []],
    [
      "scale",
      {
        scale: {
          specReplicasPath: ".spec.n",
          statusReplicasPath: ".status.n",
          labelSelectorPath: ".status.s",
        },
      },
      [],
    ],
    ["scale without paths", { scale: {} }, [".specReplicasPath: Required", ".statusReplicasPath: Required"]],
    [
      "scale with paths to elsewhere",
      { scale: { specReplicasPath: ".status.n", statusReplicasPath: "status.n", labelSelectorPath: ".x" } },
      [".specReplicasPath: Invalid", ".statusReplicasPath: Invalid", ".labelSelectorPath: Invalid"],
    ],
  ])("subresource %s", (_title, subresources, faults) => {
    expect(judge(withVersion({ subresources }))).toEqual(
      faults.map((fault) => `spec.versions[0].subresources.scale${fault}`),
    );
  });

  it.each([
    [{ name: "A", type: "string", jsonPath: ".spec.a" }, []],
    [{ name: "A", type: "date", jsonPath: '.status.conditions[?(@.type=="Ready")].at', priority: 1 }, []],
    [{}, [".name: Required", ".type: Required", ".jsonPath: Required"]],
    [
      { name: "A", type: "text", jsonPath: "spec.a", format: "x" },
      [".type: Invalid", ".format: Invalid", ".jsonPath: Invalid"],
    ],
  ])("column %j: %j", (column, faults) => {
    expect(judge(withVersion({ additionalPrinterColumns: [column] }))).toEqual(
      faults.map((fault) => `spec.versions[0].additionalPrinterColumns[0]${fault}`),
    );
  });
});

describe("changes of definitions", () => {
  const established = {
    conditions: [{ type: "Established", status: "True" }],
    acceptedNames: names,
    storedVersions: ["v1"],
  };
  it("can't change what names stored objects", () => {
    const other = { ...names, plural: "gadgets" };
    expect(
      short(judgeUpdate(CustomResourceDefinition, withSpec({}), withSpec({ names: other })).faults),
    ).toEqual(["metadata.name: Invalid", "spec.names.plural: Invalid"]);
    expect(
      short(judgeUpdate(CustomResourceDefinition, withSpec({}), withSpec({ scope: "Cluster" })).faults),
    ).toEqual([]);
  });

  it("can't change scope and kind once the kind is served", () => {
    const live = { ...readAs(CustomResourceDefinition, withSpec({})), status: established };
    const now = readAs(
      CustomResourceDefinition,
      withSpec({ scope: "Cluster", names: { ...names, kind: "Gadget" } }),
    );
    const { faults } = judgeChange(now, live);
    expect(faults).toEqual(["spec.scope", "spec.names.kind"]);
  });

  function judgeChange(now: object, live: object) {
    const faults: string[] = [];
    const place = (path: string): object => ({
      full: false,
      at: (...steps: string[]) => place([path, ...steps].filter((step) => step !== "").join(".")),
      invalid: () => faults.push(path),
    });
    CustomResourceDefinition.validateUpdate?.(now as never, live as never, place("") as never, {
      vocabulary: { groupSuffix: "platform.io", domain: "platform.io" } as never,
      enabled: () => false,
      subresource: "",
    });
    return { faults };
  }

  it("notes every version that was stored, and wants it gone from the status before it goes", () => {
    const second = { ...version, name: "v2" };
    const both = withSpec({ versions: [{ ...version, storage: false }, second] });
    const { object, faults } = judgeUpdate(CustomResourceDefinition, withSpec({}), both);
    expect(faults).toEqual([]);
    expect(object["status"]).toHaveProperty("storedVersions", ["v1", "v2"]);
    const only = judgeUpdate(CustomResourceDefinition, withSpec({}), withSpec({ versions: [second] }));
    expect(short(only.faults)).toEqual(["status.storedVersions[0]: Invalid"]);
  });

  it("have a status of its own", () => {
    const written = { ...withSpec({ scope: "Cluster" }), status: established };
    const { object, faults } = judgeUpdate(CustomResourceDefinition, withSpec({}), written, {
      subresource: "status",
    });
    expect(faults).toEqual([]);
    expect(object).toMatchObject({ spec: { scope: "Namespaced" }, status: established });
  });
});

describe("groups of the product itself", () => {
  const annotation = "api-approved.platform.io";
  const inGroup = (word?: string): Part =>
    withSpec(
      { group: "x.platform.io" },
      { name: "widgets.x.platform.io", annotations: word === undefined ? undefined : { [annotation]: word } },
    );
  it.each([
    [undefined, [`metadata.annotations[${annotation}]: Required`]],
    ["whatever", [`metadata.annotations[${annotation}]: Invalid`]],
    ["unapproved, for a try", []],
    ["https://example.com/review/1", []],
  ])("approval %j: %j", (word, faults) => {
    expect(judge(inGroup(word))).toEqual(faults);
  });
  it("are not asked about again", () => {
    expect(judgeUpdate(CustomResourceDefinition, inGroup(), inGroup()).faults).toEqual([]);
    expect(
      judgeUpdate(CustomResourceDefinition, inGroup("https://example.com/1"), inGroup()).faults,
    ).toHaveLength(1);
  });
});

describe("schemas", () => {
  const root = "spec.versions[0].schema.openAPIV3Schema";
  const text = { type: "string" };

  it.each([
    ["a bare object", { type: "object" }],
    ["members", { type: "object", properties: { spec: { type: "object", properties: { a: text } } } }],
    ["free members", { type: "object", properties: { a: { type: "object", additionalProperties: text } } }],
    ["anything", { type: "object", "x-platform-preserve-unknown-fields": true }],
    [
      "an integer or a text",
      {
        type: "object",
        properties: {
          a: { "x-platform-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        },
      },
    ],
    [
      "the same in another way",
      {
        type: "object",
        properties: {
          a: {
            "x-platform-int-or-string": true,
            allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "a" }],
          },
        },
      },
    ],
    [
      "names",
      {
        type: "object",
        properties: { metadata: { type: "object", properties: { name: { type: "string", maxLength: 5 } } } },
      },
    ],
    [
      "narrowing",
      {
        type: "object",
        properties: { a: text },
        oneOf: [{ required: ["a"] }, { properties: { a: { minLength: 2 } } }],
      },
    ],
    [
      "a list by keys",
      {
        type: "object",
        properties: {
          a: {
            type: "array",
            "x-platform-list-type": "map",
            "x-platform-list-map-keys": ["k", "d"],
            items: {
              type: "object",
              required: ["k"],
              properties: { k: text, d: { type: "integer", default: 1 } },
            },
          },
        },
      },
    ],
    [
      "a set of texts",
      { type: "object", properties: { a: { type: "array", "x-platform-list-type": "set", items: text } } },
    ],
    [
      "an embedded object",
      {
        type: "object",
        properties: {
          a: {
            type: "object",
            "x-platform-embedded-resource": true,
            "x-platform-preserve-unknown-fields": true,
          },
        },
      },
    ],
    ["an expression", { type: "object", "x-platform-validations": [{ rule: "self.a > 1", message: "no" }] }],
  ])("%s: right", (_title, schema) => {
    expect(judge(withSchema(schema))).toEqual([]);
  });

  it.each([
    ["no type at the root", {}, [".type: Required"]],
    ["another type at the root", { type: "string" }, [".type: Invalid"]],
    [
      "free members at the root",
      { type: "object", additionalProperties: text },
      [".additionalProperties: Forbidden"],
    ],
    [
      "metadata that may be null",
      { type: "object", properties: { metadata: { type: "object", nullable: true } } },
      [".properties[metadata]: Forbidden"],
    ],
    ["null at the root", { type: "object", nullable: true }, [".nullable: Forbidden"]],
    [
      "a default of the kind",
      { type: "object", properties: { kind: { type: "string", default: "X" } } },
      [".properties[kind].default: Forbidden"],
    ],
    [
      "another type of the kind",
      { type: "object", properties: { kind: { type: "object" } } },
      [".properties[kind].type: Invalid"],
    ],
    [
      "metadata of one's own",
      {
        type: "object",
        properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
      },
      [".properties[metadata]: Forbidden"],
    ],
    [
      "what isn't defined outside",
      { type: "object", anyOf: [{ properties: { a: { minLength: 1 } } }] },
      [".properties[a]: Required"],
    ],
    [
      "metadata inside",
      { type: "object", properties: { metadata: { type: "object" } }, not: { properties: { metadata: {} } } },
      [".not.properties[metadata]: Forbidden"],
    ],
  ])("%s: refused", (_title, schema, faults) => {
    expect(judge(withSchema(schema))).toEqual(faults.map((fault) => root + fault));
  });

  it.each([
    ["no type", { description: "x" }, [".type: Required"]],
    ["another type", { type: "text" }, [".type: NotSupported"]],
    ["null", { type: "null" }, [".type: Forbidden"]],
    ["an identifier", { ...text, id: "x" }, [".id: Forbidden"]],
    ["a reference", { ...text, $ref: "#/x" }, [".$ref: Forbidden"]],
    ["definitions", { ...text, definitions: { x: text } }, [".definitions: Forbidden"]],
    ["dependencies", { type: "object", dependencies: { x: ["y"] } }, [".dependencies: Forbidden"]],
    [
      "patterns of names",
      { type: "object", patternProperties: { x: text } },
      [".patternProperties: Forbidden"],
    ],
    ["unique items", { type: "array", items: text, uniqueItems: true }, [".uniqueItems: Forbidden"]],
    ["a list of items", { type: "array", items: [text] }, [".items: Forbidden"]],
    ["items without type", { type: "array", items: {} }, [".items.type: Required"]],
    [
      "free and named members",
      { type: "object", properties: { b: text }, additionalProperties: text },
      [".additionalProperties: Forbidden"],
    ],
    [
      "no free members beside named ones",
      { type: "object", properties: { b: text }, additionalProperties: false },
      [".additionalProperties: Forbidden"],
    ],
    ["a type inside", { ...text, anyOf: [{ type: "string" }] }, [".anyOf[0].type: Forbidden"]],
    [
      "a default inside",
      { ...text, not: { default: "a" } },
      [".not.default: Forbidden", ".not.default: Forbidden"],
    ],
    [
      "a mark inside",
      { type: "object", oneOf: [{ "x-platform-preserve-unknown-fields": true }] },
      [".oneOf[0].x-platform-preserve-unknown-fields: Forbidden"],
    ],
    [
      "a mark that is false",
      { type: "object", "x-platform-preserve-unknown-fields": false },
      [".x-platform-preserve-unknown-fields: Invalid"],
    ],
    ["a list without items", { type: "array" }, [".items: Required"]],
    ["a map type of a text", { ...text, "x-platform-map-type": "atomic" }, [".type: Invalid"]],
    [
      "another map type",
      { type: "object", "x-platform-map-type": "x" },
      [".x-platform-map-type: NotSupported"],
    ],
    ["a list type of a text", { ...text, "x-platform-list-type": "set" }, [".type: Invalid"]],
    [
      "another list type",
      { type: "array", items: text, "x-platform-list-type": "x" },
      [".x-platform-list-type: NotSupported"],
    ],
    [
      "keys without a map",
      { type: "array", items: text, "x-platform-list-map-keys": ["k"] },
      [".x-platform-list-type: Required"],
    ],
    [
      "a map without keys",
      { type: "array", items: { type: "object" }, "x-platform-list-type": "map" },
      [".x-platform-list-map-keys: Required"],
    ],
    [
      "a map of texts",
      { type: "array", items: text, "x-platform-list-type": "map", "x-platform-list-map-keys": ["k"] },
      [".items.type: Invalid"],
    ],
    [
      "a map without items",
      { type: "array", "x-platform-list-type": "map", "x-platform-list-map-keys": ["k"] },
      [".items: Required", ".items: Required"],
    ],
    [
      "keys that aren't there, twice",
      {
        type: "array",
        items: { type: "object" },
        "x-platform-list-type": "map",
        "x-platform-list-map-keys": ["k", "k"],
      },
      [
        ".x-platform-list-map-keys: Invalid",
        ".x-platform-list-map-keys: Invalid",
        ".x-platform-list-map-keys: Invalid",
      ],
    ],
    [
      "a key that may be missing",
      {
        type: "array",
        items: { type: "object", properties: { k: text } },
        "x-platform-list-type": "map",
        "x-platform-list-map-keys": ["k"],
      },
      [".items.properties[k].default: Required"],
    ],
    [
      "a key that is no scalar, and may be null",
      {
        type: "array",
        items: { type: "object", required: ["k"], properties: { k: { type: "object", nullable: true } } },
        "x-platform-list-type": "map",
        "x-platform-list-map-keys": ["k"],
      },
      [".items.properties[k].type: Invalid", ".items.properties[k].nullable: Forbidden"],
    ],
    [
      "a set of objects",
      { type: "array", items: { type: "object" }, "x-platform-list-type": "set" },
      [".items.x-platform-map-type: Invalid"],
    ],
    [
      "an embedded object of nothing",
      { type: "object", "x-platform-embedded-resource": true },
      [".properties: Required"],
    ],
    [
      "an expression of spaces",
      { ...text, "x-platform-validations": [{ rule: " " }] },
      [".x-platform-validations[0].rule: Required"],
    ],
    [
      "a long expression without message",
      { ...text, "x-platform-validations": [{ rule: "a &&\nb" }] },
      [".x-platform-validations[0].message: Required"],
    ],
    [
      "a message of two lines",
      { ...text, "x-platform-validations": [{ rule: "a", message: "a\nb" }] },
      [".x-platform-validations[0].message: Invalid"],
    ],
  ])("a property with %s: refused", (_title, schema, faults) => {
    const prefix = `${root}.properties[a]`;
    expect(
      judge(withProperty(schema)).filter(
        (fault) => !fault.startsWith(`${prefix}.type: Required`) || faults.includes(".type: Required"),
      ),
    ).toEqual(faults.map((fault) => prefix + fault));
  });

  it("says nothing of the whole that the status has no part in", () => {
    const judgeRoot = (schema: Part) =>
      judge(
        withVersion({
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", ...schema } },
        }),
      );
    expect(judgeRoot({ properties: {}, required: ["spec"], description: "x" })).toEqual([]);
    expect(judgeRoot({ anyOf: [{ required: ["a"] }] })).toEqual([`${root}: Invalid`]);
    expect(judgeRoot({ additionalProperties: text })).toEqual([
      `${root}: Invalid`,
      `${root}.additionalProperties: Forbidden`,
    ]);
  });

  it("are judged in time that is linear in their size", () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, text]));
    const narrowed = Object.fromEntries(Object.keys(properties).map((name) => [name, { minLength: 1 }]));
    expect(judge(withSchema({ type: "object", properties, allOf: [{ properties: narrowed }] }))).toEqual([]);
  });
});
