import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { TestWebhook } from "../webhooks/support.ts";
import { valuesOf } from "../webhooks/verdict-webhook.ts";

const apiVersion = "admissionregistration.k8s.io/v1";

const rules = (group: string, resource: string) => [
  { apiGroups: [group], apiVersions: ["v1"], operations: ["CREATE"], resources: [resource] },
];
const named = (kind: string, name: string, rest: object) => ({
  apiVersion,
  kind,
  metadata: { name: `${name}.static.k8s.io` },
  ...rest,
});
const validating = (name: string, group: string, resource: string, expression: string) => [
  named("ValidatingAdmissionPolicy", name, {
    spec: {
      failurePolicy: "Fail",
      matchConstraints: { resourceRules: rules(group, resource) },
      validations: [{ expression }],
    },
  }),
  named("ValidatingAdmissionPolicyBinding", `${name}-binding`, {
    spec: { policyName: `${name}.static.k8s.io`, validationActions: ["Deny"] },
  }),
];
const marks = (name: string) => `!has(object.metadata.labels) || !("${name}" in object.metadata.labels)`;

/** Writes the folders of manifests of the four plugins, and the configuration of admission that names them. @returns its path. */
export function writeVerdictFiles(folder: string, webhook: TestWebhook): string {
  const { url, ca } = valuesOf(webhook) as { readonly url: string; readonly ca: string };
  const hook = (name: string, at: string, objectSelector: object) => ({
    name: `${name}.example.com`,
    clientConfig: { url: `${url}/${at}`, caBundle: ca },
    rules: rules("", "configmaps"),
    objectSelector,
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  });
  const hooked = (label: string) => ({ matchExpressions: [{ key: label, operator: "Exists" }] });
  const contents: Readonly<Record<string, { readonly kind: string; readonly objects: readonly object[] }>> = {
    ValidatingAdmissionPolicy: {
      kind: "ValidatingAdmissionPolicyConfiguration",
      objects: [
        ...validating("labels", "", "configmaps", marks("refused")),
        ...validating(
          "policies",
          "admissionregistration.k8s.io",
          "validatingadmissionpolicies",
          marks("refused"),
        ),
        ...validating("reviews", "authorization.k8s.io", "subjectaccessreviews", "false"),
        // A list in a file is read as its items.
        {
          apiVersion: "v1",
          kind: "List",
          items: validating("names", "", "configmaps", 'object.metadata.name != "bad"'),
        },
      ],
    },
    MutatingAdmissionPolicy: {
      kind: "MutatingAdmissionPolicyConfiguration",
      objects: [
        named("MutatingAdmissionPolicy", "adds", {
          spec: {
            failurePolicy: "Fail",
            reinvocationPolicy: "Never",
            matchConstraints: { resourceRules: rules("", "configmaps") },
            mutations: [
              {
                patchType: "ApplyConfiguration",
                applyConfiguration: {
                  expression: 'Object{metadata: Object.metadata{annotations: {"added": "yes"}}}',
                },
              },
            ],
          },
        }),
        named("MutatingAdmissionPolicyBinding", "adds-binding", {
          spec: { policyName: "adds.static.k8s.io" },
        }),
      ],
    },
    ValidatingAdmissionWebhook: {
      kind: "WebhookAdmissionConfiguration",
      objects: [
        named("ValidatingWebhookConfiguration", "denies", {
          webhooks: [hook("denies", "deny", hooked("denied"))],
        }),
      ],
    },
    MutatingAdmissionWebhook: {
      kind: "WebhookAdmissionConfiguration",
      objects: [
        named("MutatingWebhookConfiguration", "appends", {
          webhooks: [hook("appends", "append/s", hooked("appended"))],
        }),
      ],
    },
  };
  const plugins = Object.entries(contents).map(([name, { kind, objects }]) => {
    const staticManifestsDir = path.join(folder, name);
    mkdirSync(staticManifestsDir, { recursive: true });
    const text = objects.map((one) => JSON.stringify(one)).join("\n---\n");
    writeFileSync(path.join(staticManifestsDir, "all.yaml"), text);
    return { name, configuration: { apiVersion: "apiserver.config.k8s.io/v1", kind, staticManifestsDir } };
  });
  const file = path.join(folder, "admission.json");
  const header = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AdmissionConfiguration" };
  writeFileSync(file, JSON.stringify({ ...header, plugins }));
  return file;
}
