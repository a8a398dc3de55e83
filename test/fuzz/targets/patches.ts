import { encodeJson } from "../../../src/base/json/encode.ts";
import { decodeJson } from "../../../src/base/json/decode.ts";
import { SyntaxFault } from "../../../src/base/json/syntax-fault.ts";
import type { JsonValue } from "../../../src/base/json/value.ts";
import { StatusError } from "../../../src/base/status-error.ts";
import { applyJsonPatch } from "../../../src/fields/json-patch.ts";
import { parsePointer } from "../../../src/fields/json-pointer.ts";
import { applyMergePatch } from "../../../src/fields/merge-patch.ts";
import { PatchFault } from "../../../src/fields/patch-fault.ts";
import { applyStrategicMergePatch } from "../../../src/fields/strategic-merge.ts";
import { builtInKinds } from "../../../src/kinds/all.ts";
import { attempt, expectSame, textOf, type Target, jsonTokens } from "../target.ts";

const podType = builtInKinds.find(({ name }) => name === "Pod")!.type;
const pod = {
  metadata: { name: "p", labels: { a: "b" }, finalizers: ["x/y", "z/w"] },
  spec: {
    containers: [
      { name: "a", image: "i", ports: [{ containerPort: 1, protocol: "TCP" }] },
      { name: "b", image: "i" },
    ],
    volumes: [{ name: "v", emptyDir: {} }],
  },
};
const podText = encodeJson(pod);

/** Applies a patch and checks that the object isn't changed. */
function patched(bytes: Uint8Array, apply: (patch: JsonValue) => JsonValue): JsonValue | undefined {
  const patch = attempt(() => decodeJson(bytes).value, SyntaxFault);
  if (patch === undefined) return undefined;
  const patchText = encodeJson(patch);
  const result = attempt(() => apply(patch), PatchFault, StatusError);
  if (encodeJson(pod) !== podText) throw new Error("the patch changed the target");
  if (encodeJson(patch) !== patchText) throw new Error("the patch was changed");
  if (result !== undefined) encodeJson(result);
  return result;
}

const dictionary = [...jsonTokens, '"metadata"', '"name"', '"containers"', '"spec"'];

/** JSON patches (RFC 6902). */
export const jsonPatchTarget: Target = {
  name: "json-patch",
  files: ["src/fields/json-patch.ts", "src/fields/json-patch-operation.ts", "src/fields/json-pointer.ts"],
  seeds: [
    '[{"op":"add","path":"/metadata/labels/x","value":"y"},{"op":"remove","path":"/metadata/finalizers/0"}]',
    '[{"op":"test","path":"/spec/containers/0/name","value":"a"},{"op":"copy","from":"/spec","path":"/spec/x"}]',
    '[{"op":"move","from":"/spec/containers/0","path":"/spec/containers/-"},{"op":"replace","path":"","value":{}}]',
  ],
  dictionary: [
    ...dictionary,
    '"op":"add"',
    '"move"',
    '"copy"',
    '"from":',
    '"path":"/',
    "/-",
    "~1",
    "~0",
    "/0",
  ],
  run(bytes) {
    patched(bytes, (patch) => applyJsonPatch(pod, patch));
    attempt(() => parsePointer(textOf(bytes)), PatchFault);
  },
};

/** Merge patches (RFC 7386): applying one twice has the same result as applying it once. */
export const mergePatchTarget: Target = {
  name: "merge-patch",
  files: ["src/fields/merge-patch.ts"],
  seeds: [
    '{"metadata":{"labels":{"a":null,"c":"d"}}}',
    '{"spec":{"containers":[]},"status":{"x":{"y":null}}}',
  ],
  dictionary,
  run(bytes) {
    const result = patched(bytes, (patch) => applyMergePatch(pod, patch));
    if (result === undefined) return;
    const again = applyMergePatch(result, decodeJson(bytes).value);
    if (encodeJson(again) !== encodeJson(result))
      throw new Error("the second application changes the result");
  },
};

/** Strategic merge patches. */
export const strategicMergeTarget: Target = {
  name: "strategic-merge",
  files: [
    "src/fields/strategic-merge.ts",
    "src/fields/strategic-lists.ts",
    "src/fields/strategic-directives.ts",
  ],
  seeds: [
    '{"spec":{"containers":[{"name":"a","image":"j"},{"name":"c"}],"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]}}',
    '{"metadata":{"$deleteFromPrimitiveList/finalizers":["x/y"],"labels":{"$patch":"replace","n":"m"}}}',
    '{"spec":{"volumes":[{"$patch":"delete","name":"v"}],"containers":[{"$patch":"replace"}]},"$retainKeys":["spec"]}',
  ],
  dictionary: [
    ...dictionary,
    '"$patch":"delete"',
    '"$patch":"replace"',
    '"$retainKeys":',
    '"$setElementOrder/containers":',
    '"$deleteFromPrimitiveList/finalizers":',
  ],
  run(bytes) {
    const result = patched(bytes, (patch) => applyStrategicMergePatch(podType, pod, patch));
    const again = patched(bytes, (patch) => applyStrategicMergePatch(podType, pod, patch));
    expectSame(again, result, "two applications");
  },
};
