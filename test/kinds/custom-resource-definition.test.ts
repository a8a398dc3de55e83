import { describe, expect, it } from "vitest";
import { CustomResourceDefinition } from "../../src/kinds/apiextensions/custom-resource-definition.ts";
import { decode } from "../../src/schema/decode.ts";
import type { Part } from "./pod-support.ts";
import { judgeNew, judgeUpdate, readAs } from "./support.ts";
import { short, names, version, withSpec, withVersion, judge } from "./custom-resource-definition-support.ts";

describe("CustomResourceDefinition", () => {
  it.each([
    ["C-9.3-40", "version", { version: "v1" }],
    ["C-9.3-41", "validation", { validation: { openAPIV3Schema: { type: "object" } } }],
  ])("%s spec.%s of v1beta1 is an unknown field in v1; versions have it", (_id, name, older) => {
    const { value, unknownFields } = decode(CustomResourceDefinition.type, withSpec(older));
    expect(unknownFields).toEqual([`spec.${name}`]);
    expect((value as Part)["spec"]).not.toHaveProperty(name);
    expect(judge(withSpec({ versions: [] }))).toContain("spec.versions: Invalid");
    expect(judge(withVersion({ schema: undefined }))).toContain(
      "spec.versions[0].schema.openAPIV3Schema: Required",
    );
  });

  it("sets the default names, conversion and status.storedVersions", () => {
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
    [
      "rejects a metadata.name that is not plural.group",
      withSpec({}, { name: "other" }),
      ["metadata.name: Invalid"],
    ],
    [
      "rejects a group without a dot",
      withSpec({ group: "example" }, { name: "widgets.example" }),
      ["spec.group: Invalid"],
    ],
    ["C-9.3-39 rejects an empty scope", withSpec({ scope: "" }), ["spec.scope: Required"]],
    ["rejects an unknown scope", withSpec({ scope: "World" }), ["spec.scope: NotSupported"]],
    [
      "rejects no storage version",
      withVersion({ storage: false }),
      ["spec.versions: Invalid", "status.storedVersions: Invalid"],
    ],
    [
      "rejects two storage versions",
      withSpec({ versions: [version, { ...version, name: "v2" }] }),
      ["spec.versions: Invalid"],
    ],
    [
      "rejects a duplicate version",
      withSpec({ versions: [version, { ...version, storage: false }] }),
      ["spec.versions: Invalid"],
    ],
    ["rejects a malformed version name", withVersion({ name: "1" }), ["spec.versions[0].name: Invalid"]],
    [
      "rejects a version without a schema",
      withVersion({ schema: undefined }),
      ["spec.versions[0].schema.openAPIV3Schema: Required"],
    ],
    [
      "rejects names without kind",
      withSpec({ names: { plural: "widgets" } }),
      ["spec.names.kind: Required", "spec.names.listKind: Required", "spec.names.singular: Required"],
    ],
    [
      "rejects a malformed kind",
      withSpec({ names: { ...names, kind: "W!" } }),
      ["spec.names.kind: Invalid", "spec.names.listKind: Invalid", "spec.names.singular: Invalid"],
    ],
    [
      "rejects a listKind equal to kind",
      withSpec({ names: { ...names, listKind: "Widget" } }),
      ["spec.names.listKind: Invalid"],
    ],
    [
      "rejects malformed short names and categories",
      withSpec({ names: { ...names, shortNames: ["w", "W"], categories: ["A"] } }),
      ["spec.names.categories[0]: Invalid", "spec.names.shortNames[1]: Invalid"],
    ],
    [
      "rejects preserveUnknownFields true",
      withSpec({ preserveUnknownFields: true }),
      ["spec.preserveUnknownFields: Invalid"],
    ],
    [
      "rejects a deprecationWarning of a version that is not deprecated",
      withVersion({ deprecationWarning: "x" }),
      ["spec.versions[0].deprecationWarning: Invalid"],
    ],
    [
      "rejects a deprecationWarning above 256 characters",
      withVersion({ deprecated: true, deprecationWarning: "x".repeat(257) }),
      ["spec.versions[0].deprecationWarning: Invalid"],
    ],
    [
      "rejects a deprecationWarning with a line break",
      withVersion({ deprecated: true, deprecationWarning: "a\nb" }),
      ["spec.versions[0].deprecationWarning: Invalid"],
    ],
  ])("%s", (_title, given, faults) => {
    expect(judge(given).toSorted()).toEqual(faults);
  });

  it.each([
    ["accepts strategy None", { strategy: "None" }, []],
    ["rejects an unknown strategy", { strategy: "Magic" }, [".strategy: NotSupported"]],
    [
      "rejects strategy Webhook without webhook",
      { strategy: "Webhook" },
      [".webhookClientConfig: Required", ".conversionReviewVersions: Required"],
    ],
    [
      "accepts strategy Webhook with webhook",
      {
        strategy: "Webhook",
        webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: ["v1"] },
      },
      [],
    ],
    [
      "rejects strategy None with webhook",
      { strategy: "None", webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: ["v1"] } },
      [".webhookClientConfig: Forbidden", ".conversionReviewVersions: Forbidden"],
    ],
    [
      "rejects a webhook without url and service",
      { strategy: "Webhook", webhook: { clientConfig: {}, conversionReviewVersions: ["v1"] } },
      [".webhookClientConfig: Required"],
    ],
    [
      "rejects conversionReviewVersions without a supported version",
      {
        strategy: "Webhook",
        webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: ["v9"] },
      },
      [".conversionReviewVersions: Invalid"],
    ],
  ])("conversion: %s", (_title, conversion, faults) => {
    expect(judge(withSpec({ conversion }))).toEqual(faults.map((fault) => `spec.conversion${fault}`));
  });

  it.each([
    ["accepts status", { status: {} }, []],
    [
      "accepts scale",
      {
        scale: {
          specReplicasPath: ".spec.n",
          statusReplicasPath: ".status.n",
          labelSelectorPath: ".status.s",
        },
      },
      [],
    ],
    [
      "rejects scale without paths",
      { scale: {} },
      [".specReplicasPath: Required", ".statusReplicasPath: Required"],
    ],
    [
      "rejects scale with malformed paths",
      { scale: { specReplicasPath: ".status.n", statusReplicasPath: "status.n", labelSelectorPath: ".x" } },
      [".specReplicasPath: Invalid", ".statusReplicasPath: Invalid", ".labelSelectorPath: Invalid"],
    ],
  ])("subresource: %s", (_title, subresources, faults) => {
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
  ])("validates the column %j: %j", (column, faults) => {
    expect(judge(withVersion({ additionalPrinterColumns: [column] }))).toEqual(
      faults.map((fault) => `spec.versions[0].additionalPrinterColumns[0]${fault}`),
    );
  });
});

describe("CustomResourceDefinition updates", () => {
  const established = {
    conditions: [{ type: "Established", status: "True" }],
    acceptedNames: names,
    storedVersions: ["v1"],
  };
  it("reject changes of spec.names.plural", () => {
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

  it("add a new storage version to status.storedVersions, and reject the removal of a version in it", () => {
    const second = { ...version, name: "v2" };
    const both = withSpec({ versions: [{ ...version, storage: false }, second] });
    const { object, faults } = judgeUpdate(CustomResourceDefinition, withSpec({}), both);
    expect(faults).toEqual([]);
    expect(object["status"]).toHaveProperty("storedVersions", ["v1", "v2"]);
    const only = judgeUpdate(CustomResourceDefinition, withSpec({}), withSpec({ versions: [second] }));
    expect(short(only.faults)).toEqual(["status.storedVersions[0]: Invalid"]);
  });

  it("write the status through the status subresource only", () => {
    const written = { ...withSpec({ scope: "Cluster" }), status: established };
    const { object, faults } = judgeUpdate(CustomResourceDefinition, withSpec({}), written, {
      subresource: "status",
    });
    expect(faults).toEqual([]);
    expect(object).toMatchObject({ spec: { scope: "Namespaced" }, status: established });
  });

  it("write the status of a definition whose schema is invalid by the rules of this version", () => {
    const untyped = withVersion({ schema: { openAPIV3Schema: { type: "object", properties: { a: {} } } } });
    const written = { ...untyped, status: established };
    expect(judgeUpdate(CustomResourceDefinition, untyped, written).faults).not.toEqual([]);
    const options = { subresource: "status" };
    expect(judgeUpdate(CustomResourceDefinition, untyped, written, options).faults).toEqual([]);
  });
});

describe("protected API groups", () => {
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
  ])("validate the approval annotation %j: %j", (word, faults) => {
    expect(judge(inGroup(word))).toEqual(faults);
  });
  it("validate the approval annotation only when it changes", () => {
    expect(judgeUpdate(CustomResourceDefinition, inGroup(), inGroup()).faults).toEqual([]);
    expect(
      judgeUpdate(CustomResourceDefinition, inGroup("https://example.com/1"), inGroup()).faults,
    ).toHaveLength(1);
  });
});
