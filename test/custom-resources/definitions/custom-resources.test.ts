import { expect, test } from "vitest";
import type { ConversionServices } from "../../../src/custom-resources/conversion/webhook-converter.ts";
import { CustomResourceDefinition } from "../../../src/kinds/apiextensions/custom-resource-definition.ts";
import { CustomResources } from "../../../src/custom-resources/definitions/custom-resources.ts";
import { resourceOf } from "../../../src/resources/registry/registry.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Revision } from "../../../src/storage/store.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { countTurns } from "../../support/turns.ts";
import { ManualClock } from "../../api/support.ts";

interface Given {
  readonly plural?: string;
  readonly versions?: readonly string[];
  readonly generation?: number;
  readonly established?: boolean;
  readonly message?: string;
  readonly kind?: string;
}

function body({
  plural = "things",
  versions = ["v1"],
  generation = 1,
  established = true,
  message = "",
  kind = "Thing",
}: Given): Buffer {
  const conditions = [{ type: "Established", status: established ? "True" : "False", message }];
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } };
  const definition = {
    kind: "CustomResourceDefinition",
    metadata: { resourceVersion: "", name: `${plural}.example.com`, uid: "u", generation },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, kind },
      versions: versions.map((name, index) => ({ name, served: true, storage: index === 0, schema })),
    },
    status: { storedVersions: versions.slice(0, 1), conditions },
  };
  return Buffer.from(JSON.stringify(definition));
}

async function follow() {
  const clock = new ManualClock();
  const store = createMemoryStore({ clock });
  const custom = new CustomResources({
    store,
    vocabulary: platform,
    clock,
    reserves: () => false,
    kinds: { conversions: undefined as unknown as ConversionServices },
    failed: (error) => expect.unreachable(String(error)),
  });
  await custom.start();
  const revisions = new Map<string, Revision>();
  const write = async (given: Given) => {
    const { storePrefix } = resourceOf(CustomResourceDefinition, platform);
    const key = `${storePrefix}/${given.plural ?? "things"}.example.com`;
    const revision = revisions.get(key);
    const bytes = body(given);
    const draft = { header: Buffer.from("{}"), body: bytes, revisionAt: bytes.indexOf('""') + 1 };
    const done = await store.commit(
      revision === undefined
        ? { kind: "create", key, draft }
        : { kind: "update", key, draft, expected: revision },
    );
    if (!done.ok) throw new Error("not written");
    revisions.set(key, done.revision);
    await custom.sync();
  };
  return { custom, write };
}

test("a change of a definition's status changes nothing that is served", async () => {
  const { custom, write } = await follow();
  await write({});
  const served = custom.find("example.com", "v1", "things");
  expect(served?.kind.name).toBe("Thing");
  const { revision } = custom;
  const ofGroup = custom.revisionOf("example.com");
  await write({ message: "other words" });
  expect(custom.find("example.com", "v1", "things")).toBe(served);
  expect([custom.revision, custom.revisionOf("example.com")]).toEqual([revision, ofGroup]);

  await write({ generation: 2, kind: "Other" });
  expect(custom.find("example.com", "v1", "things")?.kind.name).toBe("Other");
  expect(custom.findKind("example.com", "v1", "Other")).toBe(custom.find("example.com", "v1", "things"));
  expect(custom.findKind("example.com", "v1", "Thing")).toBeUndefined();
  expect(custom.revision).toBeGreaterThan(revision);
  expect(custom.revisionOf("example.com")).not.toBe(ofGroup);
});

test("a definition is served only when it is established", async () => {
  const { custom, write } = await follow();
  await write({ established: false });
  expect(custom.find("example.com", "v1", "things")).toBeUndefined();
  const { revision } = custom;
  await write({ established: true });
  expect(custom.find("example.com", "v1", "things")).toBeDefined();
  expect(custom.revision).toBeGreaterThan(revision);
});

test("readAll reads all definitions and yields to other work", async () => {
  const { custom, write } = await follow();
  for (let index = 0; index < 1000; index++) await write({ plural: `things${index}`, kind: `Thing${index}` });
  const turns = countTurns();
  const [one, other] = [custom.readAll(), custom.readAll()];
  expect(one).toBeInstanceOf(Promise);
  // Several who ask at a time wait for the same.
  expect(other).toBe(one);
  await one;
  expect(turns()).toBeGreaterThan(3);
  expect(custom.readAll()).toBeUndefined();
  expect(custom.stored).toHaveLength(1000);

  await write({ plural: "things7", kind: "Thing7", generation: 2 });
  await custom.readAll();
  expect(custom.readAll()).toBeUndefined();
});

test("versionsOf returns the versions in discovery order", async () => {
  const { custom, write } = await follow();
  await write({ versions: ["v1alpha1", "v1", "v2beta1", "v2"] });
  const versions = custom.versionsOf("example.com", "things").map(({ version }) => version);
  expect(versions).toEqual(["v2", "v1", "v2beta1", "v1alpha1"]);
  expect(custom.versionsOf("example.com", "others")).toEqual([]);
  expect(custom.versionsOf("example.org", "things")).toEqual([]);
});
