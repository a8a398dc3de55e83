import { writeFileSync } from "node:fs";
import path from "node:path";
import { HttpsService, type Received, type Reply } from "../support/https-service.ts";

interface Review {
  readonly spec: {
    readonly resourceAttributes?: {
      readonly labelSelector?: { readonly requirements?: readonly { readonly key: string }[] };
    };
  };
}

/** Returns the status of a review by a webhook. */
type Decide = (review: Review) => object | undefined;

/** What each webhook decides, in the order of the configuration; undefined for an answer that is no review. */
const webhooks: Readonly<Record<string, Decide>> = {
  error: () => undefined,
  deny: () => ({ allowed: false, denied: true, reason: "denied by webhook" }),
  selector: ({ spec }) => {
    const { requirements = [] } = spec.resourceAttributes?.labelSelector ?? {};
    return { allowed: requirements.some(({ key }) => key === "allow"), reason: "selected" };
  },
  noopinion: () => ({ allowed: false }),
  failopen: () => undefined,
  allow: () => ({ allowed: true, reason: "allowed by webhook" }),
};

const conditions: Readonly<Record<string, readonly string[]>> = {
  error: [
    'request.resourceAttributes.namespace == "fail"',
    'request.resourceAttributes.name == "error"',
    "has(request.resourceAttributes)",
  ],
  deny: ['request.resourceAttributes.namespace == "fail"', "has(request.resourceAttributes)"],
  selector: [
    "has(request.resourceAttributes)",
    "has(request.resourceAttributes.labelSelector) || has(request.resourceAttributes.fieldSelector)",
  ],
  noopinion: ["has(request.resourceAttributes)"],
  failopen: [],
  allow: ["request.resourceAttributes.namespace == 'allow'"],
};

/** The service of the webhooks, and the configuration file that names them. */
export interface VerdictWebhooks {
  readonly service: HttpsService;
  readonly configFile: string;
}

/** Starts the webhooks and writes the configuration of authorization. @param group of the configuration */
export async function startVerdictWebhooks(folder: string, group: string): Promise<VerdictWebhooks> {
  const service = await HttpsService.start(answer);
  const authorizers = Object.keys(webhooks).map((name) => ({
    type: "Webhook",
    name: `${name}.example.com`,
    webhook: {
      timeout: "5s",
      authorizedTTL: "1ms",
      unauthorizedTTL: "1ms",
      failurePolicy: name === "failopen" ? "NoOpinion" : "Deny",
      subjectAccessReviewVersion: "v1",
      matchConditionSubjectAccessReviewVersion: "v1",
      connectionInfo: { type: "KubeConfigFile", kubeConfigFile: connectionFile(folder, service, name) },
      matchConditions: conditions[name]!.map((expression) => ({ expression })),
    },
  }));
  const configFile = path.join(folder, "authorization.json");
  const header = { apiVersion: `${group}/v1`, kind: "AuthorizationConfiguration" };
  const own = { type: "RBAC", name: "rbac" };
  writeFileSync(configFile, JSON.stringify({ ...header, authorizers: [...authorizers, own] }));
  return { service, configFile };
}

function answer({ path: at, text }: Received): Reply {
  const review = JSON.parse(text) as Review;
  const status = webhooks[at.slice(1).split("?", 1)[0]!]!(review);
  return { body: status === undefined ? "no review" : { ...review, status } };
}

function connectionFile(folder: string, { url, ca }: HttpsService, name: string): string {
  const file = path.join(folder, `${name}.json`);
  const certificates = Buffer.from(ca).toString("base64");
  const content = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "a", cluster: { server: `${url}/${name}`, "certificate-authority-data": certificates } },
    ],
    users: [{ name: "a", user: {} }],
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    "current-context": "a",
  };
  writeFileSync(file, JSON.stringify(content));
  return file;
}
