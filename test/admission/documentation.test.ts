import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { pluginTable } from "../../src/server/admission/plugin-table.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { read } from "../tidy/source-files.ts";
import { blockOf } from "../support/pages.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const page = read("docs/admission.md");

test("docs/admission.md lists every plugin in order, with its default", () => {
  const listed = [...page.matchAll(/^\| `(\w+)` +\| (on|off) +\|/gm)].map(([, name, state]) => [name, state]);
  const plugins = pluginTable.map(({ name, byDefault }) => [name, byDefault ? "on" : "off"]);
  expect(listed.slice(0, plugins.length)).toEqual(plugins);
  expect(listed).toHaveLength(plugins.length);
});

test("docs/admission.md: its examples configure a server", async () => {
  const file = path.join(folder.path, "admission.yaml");
  writeFileSync(file, blockOf("docs/admission.md", "yaml event-plugin"));
  const limits = path.join(folder.path, "event-limits.yaml");
  writeFileSync(limits, blockOf("docs/admission.md", "yaml event-limits"));
  const warnings: unknown[] = [];
  const warn = (...said: unknown[]) => void warnings.push(said);
  const server = await TestServer.start({
    enabledAdmissionPlugins: ["EventRateLimit"],
    admissionConfigurationFile: file,
    log: { info: () => undefined, warn, error: warn },
  });
  await server.close();
  expect(warnings).toEqual([]);
});
