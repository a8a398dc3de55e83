// npm run new:plugin NAME: creates the files of docs/recipes/admission-plugin.md and registers the plugin, disabled by default.
import {
  assertAbsent,
  assertUpperCamelCase,
  insertAt,
  kebabCase,
  read,
  runScript,
  UsageError,
  write,
} from "./project-files.mjs";

const table = "src/server/admission/plugin-table.ts";
const page = "docs/admission.md";
const next = "MutatingAdmissionWebhook";

const pluginOf = (name, factory) => `import { ConfigMap } from "../../kinds/core/config-map.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";

/** ${name}: rejects new ConfigMaps with the annotation \`reject\`. */
export function ${factory}(): AdmissionPlugin {
  const concerns: AdmissionPlugin["concerns"] = (operation, { resource, subresource }) =>
    operation === "CREATE" && subresource === "" && resource.stored.kind === ConfigMap;
  return {
    name: "${name}",
    concerns,
    validate({ operation, target, object }) {
      if (!concerns(operation, target)) return;
      const reason = object?.metadata.annotations?.["reject"];
      if (reason !== undefined) throw forbidden(target, reason);
    },
  };
}
`;

const testOf = (name) => `import { expect, test } from "vitest";
import { useServer } from "../../support/use-server.ts";

const server = useServer({ enabledAdmissionPlugins: ["${name}"] });
const configMaps = "/api/v1/namespaces/default/configmaps";

test("${name} rejects a ConfigMap with the annotation", async () => {
  const metadata = { name: "one", annotations: { reject: "not today" } };
  const { status, body } = await server.admin.post(configMaps, { metadata });
  expect([status, body.message]).toEqual([403, expect.stringContaining("not today")]);
});

test("${name} admits a ConfigMap without the annotation", async () => {
  const { status } = await server.admin.post(configMaps, { metadata: { name: "two" } });
  expect(status).toBe(201);
});
`;

/** The row of the plugin for the table of a page, as wide as the other rows. */
function pageRow(name) {
  const other = read(page).match(new RegExp(`^\\| \`${next}\` *\\|[^|]*\\|[^|]*\\|$`, "m"))?.[0];
  if (other === undefined) throw new UsageError(`${page} has no row of ${next}`);
  const widths = other
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.length - 2);
  const cells = [`\`${name}\``, "off", "rejects ConfigMaps with the annotation `reject`"];
  return `| ${cells.map((cell, index) => cell.padEnd(widths[index])).join(" | ")} |\n`;
}

runScript(() => {
  const [name] = process.argv.slice(2);
  assertUpperCamelCase(name, "usage: npm run new:plugin NAME, such as: npm run new:plugin RequireOwnerLabel");
  const factory = name[0].toLowerCase() + name.slice(1);
  const file = kebabCase(name);
  const [source, test] = [`src/admission/plugins/${file}.ts`, `test/admission/plugins/${file}.test.ts`];
  assertAbsent(source, test);
  if (read(table).includes(`"${name}"`)) throw new UsageError(`${table} has a plugin ${name} already`);

  write(source, pluginOf(name, factory));
  write(test, testOf(name));
  insertAt(
    table,
    (text) => text.indexOf("import "),
    `import { ${factory} } from "../../admission/plugins/${file}.ts";\n`,
  );
  insertAt(table, (text) => text.indexOf(`  on("${next}"`), `  off("${name}", ${factory}),\n`);
  insertAt(page, (text) => text.indexOf(`| \`${next}\``), pageRow(name));
  return [
    source,
    test,
    `${table}: registered before ${next}, disabled by default`,
    `${page}: listed`,
    `Write the plugin, then run: npx vitest run test/admission test/server/options --update`,
  ];
});
