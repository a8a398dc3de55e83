// Prints the fields that a release of the reference adds to and removes from its API types, with their gates.
// Usage: node scripts/releases/fields.mjs 37
import path from "node:path";
import { filesIn, moduleFolder } from "./modules.mjs";

const sources = [
  ["k8s.io/api", /\/types?\.go$/],
  ["k8s.io/apimachinery", /^pkg\/apis\/meta\/v1\/types\.go$/],
  ["k8s.io/apiextensions-apiserver", /^pkg\/apis\/apiextensions\/v1\/types\w*\.go$/],
  ["k8s.io/kube-aggregator", /^pkg\/apis\/apiregistration\/v1\/types\.go$/],
];

/** Returns the gates of the fields of a release, by `folder Struct.field`; a field without a gate has an empty text. */
function fieldsOf(minor) {
  const fields = new Map();
  for (const [name, pattern] of sources) {
    for (const { file, text } of filesIn(moduleFolder(name, minor), pattern)) {
      for (const [, struct, body] of text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms))
        addFields(fields, `${path.dirname(file)} ${struct}`, body);
    }
  }
  return fields;
}

function addFields(fields, struct, body) {
  let gate = "";
  for (const line of body.split("\n")) {
    gate = /\+featureGate=(\w+)/.exec(line)?.[1] ?? gate;
    const member = /\sjson:"([^",]+)/.exec(line.replace("`", " "))?.[1];
    if (member === undefined) continue;
    fields.set(`${struct}.${member}`, gate);
    gate = "";
  }
}

for (const minor of process.argv.slice(2).map(Number)) {
  const [before, after] = [fieldsOf(minor - 1), fieldsOf(minor)];
  const kindsBefore = new Set([...before.keys()].map((one) => one.slice(0, one.indexOf("."))));
  for (const [name, gate] of after) {
    if (before.has(name)) continue;
    const isNewStruct = !kindsBefore.has(name.slice(0, name.indexOf(".")));
    console.log(
      `1.${minor} + ${name}${gate === "" ? "" : ` (${gate})`}${isNewStruct ? " in a new struct" : ""}`,
    );
  }
  for (const name of before.keys()) if (!after.has(name)) console.log(`1.${minor} - ${name}`);
}
