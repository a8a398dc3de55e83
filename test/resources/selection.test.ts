import { expect, test } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { Registry } from "../../src/resources/registry.ts";
import { parseSelection } from "../../src/resources/selection.ts";
import { platform } from "../../src/vocabulary/platform.ts";

test("selections of different objects have different texts", () => {
  const resource = new Registry(builtInKinds, platform, () => true).require(ConfigMap);
  const text = (labels: string, fields: string) => parseSelection(resource, labels, fields).text;
  expect(text("a", "metadata.name=x")).toBe(text("a", "metadata.name=x"));
  // As a label and as a field, with white space where each may have it.
  expect(text("\nmetadata.name=x", "")).not.toBe(text("", "metadata.name=x\n"));
});
