// Prints the fields that a release of the reference adds to and removes from its API types, with their gates.
// Usage: node scripts/releases/fields.mjs 37
import path from "node:path";
import { filesIn, moduleFolder } from "./modules.mjs";

/** The files that declare API types, and the module that has them; with the first minor release, if they moved to another one. */
const sources = [
  { pattern: /\/types?\.go$/, modules: [["k8s.io/api"]] },
  { pattern: /^pkg\/apis\/meta\/v1\/types\.go$/, modules: [["k8s.io/apimachinery"]] },
  {
    pattern: /^pkg\/apis\/apiextensions\/v1\/types\w*\.go$/,
    modules: [["k8s.io/apiextensions-apiserver"], ["k8s.io/apiextensions-api", 38]],
  },
  { pattern: /^pkg\/apis\/apiregistration\/v1\/types\.go$/, modules: [["k8s.io/kube-aggregator"]] },
];

/** Returns the gates of the fields of a source in a release, by `folder Struct.field`; a field without a gate has an empty text. */
function fieldsOf({ pattern, modules }, minor) {
  const [name] = modules.findLast(([, first = 0]) => minor >= first);
  const fields = new Map();
  for (const { file, text } of filesIn(moduleFolder(name, minor), pattern)) {
    for (const [, struct, body] of text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms))
      addFields(fields, `${path.dirname(file)} ${struct}`, body);
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

function printChanges(source, minor) {
  const [before, after] = [fieldsOf(source, minor - 1), fieldsOf(source, minor)];
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

for (const minor of process.argv.slice(2).map(Number)) {
  for (const source of sources) {
    try {
      printChanges(source, minor);
    } catch (error) {
      console.error(`fields not compared: ${error.message}`);
      process.exitCode = 1;
    }
  }
}
