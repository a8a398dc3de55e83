import { configMap, type Case } from "../case.ts";
import { onDeployment, onGadget, patch } from "./mutation.ts";

/** Mutations by JSON patches. */
export const patchCases: readonly Case[] = [
  patch("patch adds a member", "[JSONPatch{op: 'add', path: '/data/x', value: 'y'}]"),
  patch(
    "patch replaces, removes, moves and copies",
    "[JSONPatch{op: 'replace', path: '/data/a', value: 'c'}, JSONPatch{op: 'copy', from: '/data/a', path: '/data/copy'}, JSONPatch{op: 'move', from: '/data/a', path: '/data/moved'}, JSONPatch{op: 'remove', path: '/data/z'}]",
    { requests: [configMap({ a: "b", z: "z" })] },
  ),
  patch(
    "patch escapes keys",
    "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/a~b'.substring(0, 13)), value: 'x'}]",
    { requests: [configMap({}, { labels: { a: "b" } })] },
  ),
  patch(
    "patch with a failing test changes nothing",
    "[JSONPatch{op: 'test', path: '/data/a', value: 'other'}, JSONPatch{op: 'add', path: '/data/x', value: 'y'}]",
  ),
  patch(
    "patch with a test that succeeds",
    "[JSONPatch{op: 'test', path: '/data/a', value: 'b'}, JSONPatch{op: 'add', path: '/data/x', value: 'y'}]",
  ),
  patch("patch of a missing path", "[JSONPatch{op: 'remove', path: '/data/missing'}]"),
  patch(
    "patch of a missing path with the failure policy Ignore",
    "[JSONPatch{op: 'remove', path: '/data/missing'}]",
    { more: { failurePolicy: "Ignore" } },
  ),
  patch("patch with an unknown operation", "[JSONPatch{op: 'frob', path: '/data/a'}]"),
  patch("patch with an unknown field of the object", "[JSONPatch{op: 'add', path: '/nope', value: 1}]"),
  patch("patch with a value of another type", "[JSONPatch{op: 'add', path: '/data/x', value: 1}]"),
  patch("patch of nothing", "[JSONPatch{op: 'add', path: '/data/x', value: 'y'}].filter(p, false)"),
  patch("patch with a condition", "has(object.data.x) ? [JSONPatch{op: 'remove', path: '/data/x'}] : []"),
  patch(
    "patch adds an object",
    "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: Object.spec.template.spec.containers{name: 'side', image: 'side:1'}}]",
    onDeployment,
  ),
  patch(
    "patch adds an object with types of another path",
    "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: Object.spec.containers{name: 'side', image: 'side:1', resources: Object.wrong{}}}]",
    onDeployment,
  ),
  patch(
    "patch adds a map and a list",
    "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}, JSONPatch{op: 'add', path: '/spec/template/spec/containers/0/args', value: ['a', 'b']}]",
    onDeployment,
  ),
  patch(
    "patch can set atomic lists",
    "[JSONPatch{op: 'add', path: '/spec/template/spec/tolerations', value: [{'key': 'a', 'operator': 'Exists'}]}]",
    onDeployment,
  ),
  patch(
    "patch in a loop",
    "object.spec.template.spec.containers.map(c, JSONPatch{op: 'add', path: '/metadata/annotations', value: {'image': c.image}})",
    onDeployment,
  ),
  patch("patch must yield a list of patches", "JSONPatch{op: 'remove', path: '/data'}", { requests: [] }),
  patch("patch of an empty list", "[]", { requests: [] }),
  patch("patch with an operation that isn't a string", "[JSONPatch{op: 1, path: '/data'}]", { requests: [] }),
  patch(
    "patch of a custom resource",
    "[JSONPatch{op: 'add', path: '/spec/size', value: 3}, JSONPatch{op: 'add', path: '/spec/any', value: {'x': {'y': 1}}}]",
    onGadget({ color: "red" }),
  ),
  patch(
    "patch of a custom resource with an unknown field",
    "[JSONPatch{op: 'add', path: '/spec/nope', value: 3}]",
    onGadget({ color: "red" }),
  ),
  patch(
    "patch of a large number",
    "[JSONPatch{op: 'add', path: '/spec/any', value: {'x': 4}}]",
    onGadget({ color: "red" }),
  ),
];
