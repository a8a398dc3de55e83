import fc from "fast-check";
import { expect, test } from "vitest";
import { builtInKinds } from "../../../src/kinds/all.ts";
import { ConfigMap } from "../../../src/kinds/core/config-map.ts";
import { Secret } from "../../../src/kinds/core/secret.ts";
import { keyOf, Registry } from "../../../src/resources/registry/registry.ts";
import { parseSelection } from "../../../src/resources/objects/selection.ts";
import { encodeObject, headerOf } from "../../../src/resources/objects/stored.ts";
import { entryFromDraft, firstRevision } from "../../../src/storage/entry.ts";
import { platform } from "../../../src/vocabulary/platform.ts";

test("selections of different objects have different texts", () => {
  const resource = new Registry(builtInKinds, platform, () => true).require(ConfigMap);
  const text = (labels: string, fields: string) => parseSelection(resource, labels, fields).text;
  expect(text("a", "metadata.name=x")).toBe(text("a", "metadata.name=x"));
  // As a label and as a field, with white space where each may have it.
  expect(text("\nmetadata.name=x", "")).not.toBe(text("", "metadata.name=x\n"));
});

test("a selection gives the same result when the header was already read", () => {
  const resource = new Registry(builtInKinds, platform, () => true).require(Secret);
  const words = fc.constantFrom("app", "a", "b", "", "type", "Opaque");
  const keys = fc.constantFrom("app", "example.com/app", "type", "a");
  const selectors = [
    ["app=a", ""],
    ["example.com/app", ""],
    ["app in (a,b)", "type=Opaque"],
    ["!a", "type=a"],
    ["app!=a", "type!=Opaque"],
    ["app=", "type="],
    ["a=app", "metadata.name=app"],
  ] as const;
  fc.assert(
    fc.property(words, fc.dictionary(keys, words), words, (name, labels, type) => {
      const meta = { name, labels, namespace: "default" };
      const object = { apiVersion: "v1", kind: "Secret", metadata: meta, type };
      const draft = encodeObject(resource, object);
      const entry = entryFromDraft(keyOf(resource, "default", name), firstRevision, draft);
      for (const [byLabel, byField] of selectors) {
        const selection = parseSelection(resource, byLabel, byField);
        expect(selection.matches(entry)).toBe(selection.matches(entry, headerOf));
      }
    }),
  );
});
