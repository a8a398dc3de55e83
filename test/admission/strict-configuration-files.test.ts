import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readAdmissionConfiguration, type PluginConfiguration } from "../../src/admission/configuration.ts";
import { readEventLimits } from "../../src/admission/plugins/event-rate-limit.ts";
import { readImagePolicy } from "../../src/admission/plugins/image-policy-webhook/configuration.ts";
import { readNodeSelectors } from "../../src/admission/plugins/pod-node-selector.ts";
import { readPodSecurity } from "../../src/admission/plugins/pod-security/configuration.ts";
import { readTolerationRestrictions } from "../../src/admission/plugins/pod-toleration-restriction.ts";
import { readLimitedResources } from "../../src/admission/plugins/resource-quota/configuration.ts";
import { readAuthenticationConfiguration } from "../../src/authentication/configuration/authentication-configuration.ts";
import { readAuthorizationConfiguration } from "../../src/authorization/configuration/authorization-configuration.ts";
import { readPolicy } from "../../src/http/audit/policy-file.ts";
import { readEncryptionConfiguration } from "../../src/server/encryption/encryption-configuration.ts";
import { readTracingConfiguration } from "../../src/server/tracing/tracing.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Reads an AdmissionConfiguration with one plugin, whose configuration is in a file of its own or inline. */
async function pluginOf(configuration: string, inline: boolean): Promise<PluginConfiguration> {
  const file = path.join(folder.path, "admission.yaml");
  const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: P\n";
  const indented = configuration.replaceAll(/^/gmu, "    ");
  writeFileSync(file, `${head}  ${inline ? `configuration:\n${indented}` : "path: plugin.yaml"}\n`);
  writeFileSync(path.join(folder.path, "plugin.yaml"), configuration);
  const { value } = await readAdmissionConfiguration(file, (one) => readFile(one), kubernetes);
  return value.get("P")!;
}

const header = (group: string, version: string, kind: string) =>
  `apiVersion: ${group}/${version}\nkind: ${kind}\n`;
const config = (kind: string, version = "v1") => header("apiserver.config.k8s.io", version, kind);

describe("a plugin's configuration with an unknown field is refused with field and line", () => {
  const plugins: readonly [
    name: string,
    text: string,
    field: string,
    read: (one: PluginConfiguration) => unknown,
  ][] = [
    [
      "PodSecurity",
      `${header("pod-security.admission.config.k8s.io", "v1", "PodSecurityConfiguration")}exemption: {}`,
      "exemption",
      (one) => readPodSecurity(one, kubernetes),
    ],
    [
      "EventRateLimit",
      `${header("eventratelimit.admission.k8s.io", "v1alpha1", "Configuration")}limit: []`,
      "limit",
      (one) => readEventLimits(one, kubernetes),
    ],
    [
      "ResourceQuota",
      `${config("ResourceQuotaConfiguration")}limited: []`,
      "limited",
      (one) => readLimitedResources(one, kubernetes),
    ],
    [
      "PodTolerationRestriction",
      `${header("podtolerationrestriction.admission.k8s.io", "v1alpha1", "Configuration")}whiteList: []`,
      "whiteList",
      (one) => readTolerationRestrictions(one, kubernetes),
    ],
    ["PodNodeSelector", "\n\npodNodeSelector: {}", "podNodeSelector", (one) => readNodeSelectors(one)],
    [
      "ImagePolicyWebhook",
      "imagePolicy:\n  kubeConfigFile: a\n  defaultAllowed: false",
      "imagePolicy.defaultAllowed",
      (one) => readImagePolicy(one),
    ],
  ];
  test.each(plugins)("%s", async (_name, text, field, read) => {
    for (const inline of [false, true]) {
      const plugin = await pluginOf(text, inline);
      const line = `(line ${inline ? 8 : 3})`;
      const path = inline ? `plugins[0].configuration.${field}` : field;
      const error = await Promise.resolve(read(plugin)).catch((reason: Error) => reason.message);
      expect(error).toContain(`${path}: there is no such field`);
      expect(error).toContain(line);
    }
  });
});

describe("a file with an unknown field is refused with field and line", () => {
  const files: readonly [kind: string, text: string, read: (bytes: Buffer) => Promise<unknown>][] = [
    [
      "AdmissionConfiguration",
      config("AdmissionConfiguration"),
      (bytes) => readAdmissionConfiguration("a", async () => bytes, kubernetes),
    ],
    [
      "EncryptionConfiguration",
      config("EncryptionConfiguration"),
      (bytes) => readEncryptionConfiguration(bytes, kubernetes),
    ],
    [
      "AuthorizationConfiguration",
      config("AuthorizationConfiguration"),
      (bytes) => readAuthorizationConfiguration(bytes, kubernetes),
    ],
    [
      "AuthenticationConfiguration",
      config("AuthenticationConfiguration"),
      (bytes) => readAuthenticationConfiguration(bytes, kubernetes, []),
    ],
    [
      "TracingConfiguration",
      config("TracingConfiguration", "v1alpha1"),
      (bytes) => readTracingConfiguration(bytes, kubernetes, "1.26"),
    ],
  ];
  test.each(files)("%s", async (_kind, text, read) => {
    await expect(read(Buffer.from(`${text}nothing: 1\n`))).rejects.toThrow(
      "nothing: there is no such field (line 3)",
    );
    const [, kind] = text.split("\n");
    await expect(read(Buffer.from(`${text}${kind}\n`))).rejects.toThrow(/kind.*the field occurs twice/u);
  });
});

test("an audit policy with an unknown field is read with a warning, as in the reference", async () => {
  const text = `${header("audit.k8s.io", "v1", "Policy")}rules: [{level: Metadata}]\nnothing: 1\n`;
  const { policy, warnings } = await readPolicy(Buffer.from(text), kubernetes);
  expect(policy.rules).toHaveLength(1);
  expect(warnings).toEqual(['unknown field "nothing" has no effect']);
});
