import { expect, it } from "vitest";
import { kindsOfRelease } from "../../src/kinds/kinds-of-release.ts";
import type { Kind } from "../../src/schema/kind.ts";
import { keepUndeclared, removeUndeclared } from "../../src/schema/undeclared.ts";

const kinds = await kindsOfRelease("1.26");
const kindOf = (name: string): Kind => kinds.find((kind) => kind.name === name)!;
const definition = kindOf("CustomResourceDefinition").type;

const inDefinition = (openAPIV3Schema: object) => ({
  spec: { versions: [{ name: "v1", schema: { openAPIV3Schema } }] },
});

function nested(innermost: object, depth: number): object {
  let schema = innermost;
  for (let level = 0; level < depth; level++) schema = { allOf: [{ type: "object" }, schema] };
  return schema;
}

it("members that aren't declared are kept in nested lists without keys", () => {
  const next = inDefinition(nested({ type: "string" }, 3));
  keepUndeclared(definition, next, inDefinition(nested({ type: "string", later: 1 }, 3)));
  expect(next).toEqual(inDefinition(nested({ type: "string", later: 1 }, 3)));
  const changed = inDefinition(nested({ type: "number" }, 3));
  keepUndeclared(definition, changed, inDefinition(nested({ type: "string", later: 1 }, 3)));
  expect(changed).toEqual(inDefinition(nested({ type: "number" }, 3)));
});

it("members that aren't declared are kept in work that is linear in the depth of lists", () => {
  let reads = 0;
  const innermost = {
    get description() {
      reads++;
      return "x";
    },
    later: 1,
  };
  const next = inDefinition(nested({ description: "x" }, 150));
  keepUndeclared(definition, next, inDefinition(nested(innermost, 150)));
  expect(JSON.stringify(next)).toContain('"later":1');
  expect(reads).toBeLessThan(10);
});

it("members of another type than the declared one stay", () => {
  const pod = { metadata: 1, spec: { containers: 5, nodeSelector: "x", affinity: [], later: 1 } };
  expect(removeUndeclared(kindOf("Pod").type, pod)).toBe(true);
  expect(pod).toEqual({ metadata: 1, spec: { containers: 5, nodeSelector: "x", affinity: [] } });
});
