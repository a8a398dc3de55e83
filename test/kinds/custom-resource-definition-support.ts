import { CustomResourceDefinition } from "../../src/kinds/apiextensions/custom-resource-definition.ts";
import type { Part } from "./pod-support.ts";
import { judgeNew } from "./support.ts";

export const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));
export const names = { plural: "widgets", kind: "Widget" };
export const version = {
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: "object" } },
};
export const withSpec = (part: Part, metadata: Part = {}): Part => ({
  metadata: { name: "widgets.example.com", ...metadata },
  spec: { group: "example.com", names, scope: "Namespaced", versions: [version], ...part },
});
export const withVersion = (part: Part): Part => withSpec({ versions: [{ ...version, ...part }] });
export const judge = (given: Part) => short(judgeNew(CustomResourceDefinition, given).faults);
