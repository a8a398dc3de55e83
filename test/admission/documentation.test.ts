import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import { pluginTable } from "../../src/server/admission/plugin-table.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { read } from "../tidy/source-files.ts";
import { blockOf } from "../support/pages.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const page = read("docs/admission.md");
const clientConfiguration = `
clusters: [{ name: backend, cluster: { server: "https://127.0.0.1:1" } }]
users: [{ name: backend, user: { token: t } }]
contexts: [{ name: backend, context: { cluster: backend, user: backend } }]
current-context: backend
`;

/** Writes a file. @returns its path */
function file(name: string, text: string): string {
  const at = path.join(folder.path, name);
  writeFileSync(at, text);
  return at;
}

test("docs/admission.md lists every plugin in order, with its default", () => {
  const listed = [...page.matchAll(/^\| `(\w+)` +\| (on|off) +\|/gm)].map(([, name, state]) => [name, state]);
  const plugins = pluginTable.map(({ name, byDefault }) => [name, byDefault ? "on" : "off"]);
  expect(listed.slice(0, plugins.length)).toEqual(plugins);
  expect(listed).toHaveLength(plugins.length);
});

test("docs/admission.md, webhooks.md, admission-plugins.md and pod-security.md: their examples configure a server", async () => {
  const credentials = file("credentials.yaml", clientConfiguration);
  const files = {
    PodNodeSelector: file("node-selector.yaml", blockOf("docs/admission-plugins.md", "yaml node-selector")),
    PodTolerationRestriction: file(
      "tolerations.yaml",
      blockOf("docs/admission-plugins.md", "yaml tolerations"),
    ),
    ImagePolicyWebhook: file(
      "images.yaml",
      blockOf("docs/webhooks.md", "yaml image-policy").replace("/etc/plinth/image-policy.yaml", credentials),
    ),
  };
  file("event-limits.yaml", blockOf("docs/admission-plugins.md", "yaml event-limits"));
  const configuration = parse(blockOf("docs/admission.md", "yaml event-plugin")) as { plugins: unknown[] };
  const webhooks = blockOf("docs/webhooks.md", "yaml webhooks").replace(/\/etc\/plinth\/\S+/, credentials);
  configuration.plugins.push(
    ...(parse(webhooks) as { plugins: unknown[] }).plugins,
    ...Object.entries(files).map(([name, at]) => ({ name, path: at })),
  );
  const warnings: unknown[] = [];
  const warn = (...said: unknown[]) => void warnings.push(said);
  const server = await TestServer.start({
    enabledAdmissionPlugins: ["EventRateLimit", ...Object.keys(files)],
    runtimeConfig: "imagepolicy.platform.io/v1alpha1=true",
    admissionConfigurationFile: file("admission.yaml", JSON.stringify(configuration)),
    log: { info: () => undefined, warn, error: warn },
  });
  const namespace = await server.admin.ask("POST", "/api/v1/namespaces?fieldValidation=Strict", {
    raw: blockOf("docs/pod-security.md", "yaml namespace"),
    contentType: "application/yaml",
  });
  await server.close();
  expect([namespace.status, namespace.warnings, warnings]).toEqual([201, [], []]);
});
