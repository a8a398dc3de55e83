import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { findSteps, versionChanges } from "../../src/cli/convert/registry.ts";
import { isLater } from "../../src/base/releases.ts";
import { groupName } from "../../src/schema/kind.ts";
import { lifeCycles } from "../../src/kinds/life-cycle-table.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { certificateRequest } from "../support/certificate-request.ts";
import { convert, convertText } from "./convert-support.ts";

/*
 * Table 9.3 of the conventions: a folder has manifests of removed versions, what becomes of them, and what is said.
 */
const folder = path.join(import.meta.dirname, "conversions");
const cases = readdirSync(folder);
/** The versions that the reference release has replaced. */
const replaced = lifeCycles.filter(
  ({ deprecated, replacement }) =>
    replacement !== undefined && deprecated !== undefined && !isLater(deprecated, "1.26"),
);
const textOf = (name: string, file: string) => readFileSync(path.join(folder, name, file), "utf8");

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** Groups have one suffix there, labels another. */
function inKubernetes(text: string): string {
  return text
    .replaceAll(/\.platform\.io(\/v\d|,? )/g, ".k8s.io$1")
    .replaceAll("x-platform-", "x-kubernetes-")
    .replaceAll("platform.io", "kubernetes.io");
}

describe("manifests of removed versions are converted to the recorded results", () => {
  it.each(cases)("%s", async (name) => {
    const file = path.join(folder, name, "before.yaml");
    const { code, output, lines } = await convert(["-f", file]);
    expect(manifestsIn(output)).toEqual(manifestsIn(textOf(name, "after.yaml")));
    expect(lines).toEqual(
      textOf(name, "says.txt")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => `${file}: ${line}`),
    );
    expect(code).toBe(0);
  });

  it.each(cases)("%s, with names of kubernetes", async (name) => {
    const { output, lines, code } = await convertText(
      inKubernetes(textOf(name, "before.yaml")),
      "--vocabulary=kubernetes",
    );
    expect(manifestsIn(output)).toEqual(manifestsIn(inKubernetes(textOf(name, "after.yaml"))));
    expect(lines.length).toBe(
      textOf(name, "says.txt")
        .split("\n")
        .filter((line) => line !== "").length,
    );
    expect(code).toBe(0);
  });

  it.each(cases)("%s: a second conversion changes nothing", async (name) => {
    const once = await convert(["-f", path.join(folder, name, "before.yaml")]);
    const { code, output, lines } = await convert(["-f", "-"], once.output);
    expect([output, lines, code]).toEqual([once.output, [], 0]);
  });

  it("the recorded manifests cover every kind with a replacement", () => {
    const covered = new Set(
      cases
        .flatMap((name) => manifestsIn(textOf(name, "before.yaml")))
        .map((one) => `${one.apiVersion} ${one.kind}`),
    );
    const name = (group: Parameters<typeof groupName>[0]) => groupName(group, platform);
    const wanted = [
      ...replaced,
      ...versionChanges.flatMap(({ from, kinds }) => kinds.map((kind) => ({ ...from, kind }))),
    ].map(({ group, version, kind }) => `${name(group)}/${version} ${kind}`);
    // Tested below, as they need more than a file.
    const apart = new Set([
      `${name({ base: "certificates", suffixed: true })}/v1beta1 CertificateSigningRequest`,
      "extensions/v1beta1 PodSecurityPolicy",
    ]);
    expect([...new Set(wanted)].filter((one) => !covered.has(one) && !apart.has(one))).toEqual([]);
  });

  it("every replaced version can be converted to its replacement", () => {
    const lost = replaced.filter(
      ({ replacement, kind, ...home }) => findSteps(home, replacement!, kind) === undefined,
    );
    expect(lost).toEqual([]);
  });
});

const signing = (spec: object, status?: object) => ({
  apiVersion: "certificates.platform.io/v1beta1",
  kind: "CertificateSigningRequest",
  metadata: { name: "ann" },
  spec: { request: Buffer.from(certificateRequest("ann")).toString("base64"), ...spec },
  ...(status === undefined ? {} : { status }),
});

describe("decisions that the user must make are reported, and the exit code is 1, for", () => {
  it("a certificate request names its signer; usages and a condition's status are written out", async () => {
    const status = { conditions: [{ type: "Approved", reason: "ByHand" }] };
    const { code, output, lines } = await convertText(signing({ signerName: "example.com/people" }, status));
    expect(manifestsIn(output)[0]).toMatchObject({
      apiVersion: "certificates.platform.io/v1",
      spec: { signerName: "example.com/people", usages: ["digital signature", "key encipherment"] },
      status: { conditions: [{ type: "Approved", status: "True" }] },
    });
    expect(lines.map((line) => line.split(": ").slice(2).join(": "))).toEqual([
      'spec.usages: written out: ["digital signature","key encipherment"], the older version\'s default; the new one has none',
      'status.conditions[0].status: written out: "True", the older version\'s default; the new one has none',
    ]);
    expect(code).toBe(0);
  });

  it.each<[string, object, string]>([
    [
      "a certificate request without a signer",
      signing({ usages: ["client auth"] }),
      "spec.signerName: cannot be converted: the older version chose a signer by itself; set the one to use",
    ],
    [
      "the signer for everything",
      signing({ usages: ["client auth"], signerName: "platform.io/legacy-unknown" }),
      'spec.signerName: cannot be converted: the new version has no signer "platform.io/legacy-unknown"; set another one',
    ],
    [
      "a webhook's side effects that aren't known",
      webhook({ sideEffects: "Some" }),
      'webhooks[0].sideEffects: cannot be converted: the new version doesn\'t take "Some"; set None or NoneOnDryRun, whichever is true',
    ],
    [
      "a webhook's side effects that aren't told",
      webhook({}),
      'webhooks[0].sideEffects: cannot be converted: the older default was "Unknown"; set None or NoneOnDryRun, whichever is true',
    ],
    [
      "webhooks of one name",
      webhook({ sideEffects: "None" }, { sideEffects: "None" }),
      'webhooks[1].name: cannot be converted: a webhook before it is named "a.example.com" too',
    ],
    [
      "a workload without labels to select by",
      { apiVersion: "extensions/v1beta1", kind: "ReplicaSet", spec: { template: {} } },
      "spec.selector: cannot be converted: the new version requires a selector",
    ],
    [
      "a newer workload without selector",
      {
        apiVersion: "apps/v1beta2",
        kind: "StatefulSet",
        spec: { template: { metadata: { labels: { a: "b" } } } },
      },
      "spec.selector: cannot be converted: the new version requires a selector; it isn't copied from the template's labels",
    ],
    [
      "a version of a custom kind that isn't among all",
      {
        apiVersion: "apiextensions.platform.io/v1beta1",
        kind: "CustomResourceDefinition",
        metadata: { name: "widgets.example.com" },
        spec: {
          group: "example.com",
          version: "v2",
          names: { plural: "widgets", kind: "Widget" },
          versions: [{ name: "v1", served: true, storage: true }],
        },
      },
      'spec.version: cannot be converted: "v2" isn\'t among spec.versions',
    ],
    [
      "a schema that says no type below its root",
      {
        apiVersion: "apiextensions.platform.io/v1beta1",
        kind: "CustomResourceDefinition",
        metadata: { name: "widgets.example.com" },
        spec: {
          group: "example.com",
          version: "v1",
          names: { plural: "widgets", kind: "Widget" },
          validation: { openAPIV3Schema: { properties: { spec: { minimum: 3 } } } },
        },
      },
      "spec.versions[0].schema.openAPIV3Schema.properties[spec].type: cannot be converted: the new version rejects it: Required value",
    ],
    [
      "a policy of pod security",
      { apiVersion: "extensions/v1beta1", kind: "PodSecurityPolicy", metadata: { name: "strict" }, spec: {} },
      "cannot be converted: policy/v1beta1 PodSecurityPolicy was removed in release 1.25, and nothing replaces it",
    ],
  ])("%s", async (_what, manifest, message) => {
    const { code, lines } = await convertText(manifest);
    expect(lines.some((line) => line.includes(message))).toBe(true);
    expect(code).toBe(1);
  });

  it("a PodSecurityPolicy is converted to its last version with --output-version", async () => {
    const old = { apiVersion: "extensions/v1beta1", kind: "PodSecurityPolicy", spec: { privileged: false } };
    const { code, output, lines } = await convertText(old, "--output-version=policy/v1beta1");
    expect(manifestsIn(output)).toEqual([{ ...old, apiVersion: "policy/v1beta1" }]);
    expect(lines).toEqual([
      expect.stringContaining("policy/v1beta1 PodSecurityPolicy was removed in release 1.25"),
    ]);
    expect(code).toBe(0);
  });
});

function webhook(...facts: readonly object[]): object {
  return {
    apiVersion: "admissionregistration.platform.io/v1beta1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "checks" },
    webhooks: facts.map((one) => ({
      name: "a.example.com",
      clientConfig: { url: "https://a.example.com" },
      ...one,
    })),
  };
}
