import { readPublishedResources } from "../../../src/aggregation/published-resources.ts";
import { readSpecification, SpecificationFault } from "../../../src/aggregation/specification.ts";
import { attemptAsync, textOf, type Target, jsonTokens } from "../target.ts";

/** Discovery and OpenAPI documents of extension servers. */
export const extensionServerTarget: Target = {
  name: "extension-server",
  files: ["src/aggregation/published-resources.ts", "src/aggregation/specification.ts"],
  seeds: [
    '{"kind":"APIResourceList","groupVersion":"g/v1","resources":[{"name":"a","kind":"A","namespaced":true,"verbs":["get"],"shortNames":["b"]}]}',
    '{"swagger":"2.0","paths":{"/apis/g/v1/a":{"get":{"responses":{"200":{"description":"d","schema":{"$ref":"#/definitions/A"}}}}}},"definitions":{"A":{"type":"object","properties":{"b":{"$ref":"#/definitions/B"}}},"B":{"type":"string"}}}',
  ],
  dictionary: [
    ...jsonTokens,
    '"$ref":"#/definitions/A"',
    '"type":',
    '"items":',
    '"enum":[1]',
    '"/apis/g/v1/b":',
  ],
  async run(bytes) {
    readPublishedResources(textOf(bytes), "g/v1");
    await attemptAsync(
      () => readSpecification(textOf(bytes), "/apis/g/v1", undefined, () => undefined),
      SpecificationFault,
    );
  },
};
