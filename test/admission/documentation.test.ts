import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { pluginTable } from "../../src/server/admission/plugin-table.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { read } from "../tidy/source-files.ts";

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
  const examples = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text]) => text!);
  const holding = (word: string) => examples.find((text) => text.includes(word))!;
  const [main, limits] = [holding("kind: AdmissionConfiguration"), holding("eventratelimit")];
  const file = path.join(folder.path, "admission.yaml");
  writeFileSync(file, main!);
  writeFileSync(path.join(folder.path, "event-limits.yaml"), limits!);
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
