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
  it("can't change metadata.name and spec.names.plural", () => {
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

  it("record every storage version, and reject the removal of a version in status.storedVersions", () => {
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
  it("are not checked again when an update keeps the annotation", () => {
    expect(judgeUpdate(CustomResourceDefinition, inGroup(), inGroup()).faults).toEqual([]);
    expect(
      judgeUpdate(CustomResourceDefinition, inGroup("https://example.com/1"), inGroup()).faults,
    ).toHaveLength(1);
  });
});
