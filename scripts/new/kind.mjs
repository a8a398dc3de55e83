// npm run new:kind GROUP NAME: creates the files of docs/recipes/kind.md and lists the kind.
import { readdirSync } from "node:fs";
import path from "node:path";
import {
  assertAbsent,
  assertUpperCamelCase,
  exists,
  insertAt,
  kebabCase,
  read,
  runScript,
  UsageError,
  write,
} from "./project-files.mjs";

const usage = "usage: npm run new:kind GROUP NAME, such as: npm run new:kind coordination MaintenanceWindow";
const kindsFolder = path.resolve(import.meta.dirname, "../../src/kinds");

/** The folders of API groups: those with a file of a version. */
function groupFolders() {
  return readdirSync(kindsFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && versionsOf(entry.name).length > 0)
    .map(({ name }) => name)
    .toSorted();
}

const lifeCycleTable = "src/kinds/life-cycle-table.ts";

/** The beginning of a line of the life cycles of a version. */
function lifeCycleLine(folder, version) {
  const group = folder.replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase());
  return `  ...kinds(${group}, "${version}", `;
}

/** The versions of a group folder that the reference release can serve, the most stable first. */
function versionsOf(folder) {
  if (folder === "" || !exists(`src/kinds/${folder}`)) return [];
  const versions = readdirSync(path.join(kindsFolder, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^v\d+((alpha|beta)\d+)?\.ts$/.test(entry.name))
    .map(({ name }) => path.basename(name, ".ts"))
    .filter((version) => read(lifeCycleTable).includes(lifeCycleLine(folder, version)));
  const rank = (version) => (version.includes("alpha") ? 2 : version.includes("beta") ? 1 : 0);
  return versions.toSorted((a, b) => rank(a) - rank(b));
}

/** The resource name of a kind, in lower case. */
function pluralOf(singular) {
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(singular) ? `${singular}es` : `${singular}s`;
}

const declaration = (name, version) => {
  const singular = name.toLowerCase();
  return `import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, string } from "../../schema/types.ts";
import { positive } from "../checks/numbers.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { kind, struct } from "./${version}.ts";

const ${name}Spec = struct("${name}Spec", "The desired state of the object.", {
  description: field(1, string, "Text for users."),
  size: field(2, int32, "Size of the object. Default: 1.").unpublishedDefault(1).check(positive),
});

const ${name}Status = struct("${name}Status", "The observed state of the object.", {
  phase: field(1, string, "Phase of the object's life cycle."),
});

export const ${name} = kind({
  name: "${name}",
  resource: "${pluralOf(singular)}",
  singular: "${singular}",
  scope: "Namespaced",
  doc: "An object of the kind ${name}.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the object.").emitEmpty(),
    spec: field(2, ${name}Spec, "The desired state of the object.").emitEmpty(),
    status: field(3, ${name}Status, "The observed state of the object.").emitEmpty(),
  },
  generationOf: ({ spec }) => spec,
  status: { initial: () => ({}) },
  columns: [nameColumn, ageColumn],
});
export type ${name} = ObjectFor<typeof ${name}>;
`;
};

const testOf = (folder, name, file) => `import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { builtInKinds } from "../../src/kinds/all.ts";
import { ${name} } from "../../src/kinds/${folder}/${file}.ts";
import { Client } from "../../src/resources/clients/client.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { engineOver } from "../resources/engine.ts";

const store = createMemoryStore({ clock: systemClock });
const engine = engineOver(store, builtInKinds);
const client = new Client(engine, { name: "someone", uid: "", groups: [], extra: {} });
afterAll(async () => {
  engine.pages.close();
  await store.close();
});

const object = (name: string, spec: object) => ({
  apiVersion: engine.registry.require(${name}).apiVersion,
  kind: "${name}",
  metadata: { name, namespace: "default" },
  spec,
});

test("a ${name} has defaults and a generation", async () => {
  const created = await client.create<${name}>(object("one", {}));
  expect(created).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: {} });
});

test("a ${name} with an invalid size is rejected", async () => {
  await expect(client.create(object("two", { size: -1 }))).rejects.toThrow("spec.size");
});
`;

runScript(() => {
  const [folder, name] = process.argv.slice(2);
  assertUpperCamelCase(name, usage);
  const [version] = versionsOf(folder ?? "");
  if (version === undefined) {
    throw new UsageError(`${usage}\nThe group is one of the folders ${groupFolders().join(", ")}.`);
  }
  const file = kebabCase(name);
  const [source, test] = [`src/kinds/${folder}/${file}.ts`, `test/kinds/${file}.test.ts`];
  assertAbsent(source, test);

  write(source, declaration(name, version));
  write(test, testOf(folder, name, file));
  const module = `./${folder}/${file}.ts`;
  insertAt(
    "src/kinds/built-in.ts",
    (text) => {
      const statements = [...text.matchAll(/^export \{[^}]*\} from "([^"]+)";\n/gm)];
      const next = statements.find(([, from]) => from > module);
      return next === undefined ? text.length : next.index;
    },
    `export { ${name} } from "${module}";\n`,
  );
  const line = lifeCycleLine(folder, version);
  insertAt(lifeCycleTable, (text) => text.indexOf(line), `${line}{ introduced: "1.26" }, ["${name}"]),\n`);
  return [
    source,
    test,
    "src/kinds/built-in.ts: listed",
    `${lifeCycleTable}: listed`,
    "Declare the fields, then run: npx vitest run test/kinds --update",
  ];
});
