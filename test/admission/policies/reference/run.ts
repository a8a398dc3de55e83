import type { Answer, Api } from "../../../support/api.ts";
import type { Case, Request } from "./case.ts";

/** The answer to one request, without what differs between servers. */
export interface Outcome {
  readonly status: number;
  readonly reason?: string;
  readonly message?: string;
  readonly object?: unknown;
  readonly warnings?: readonly string[];
  /** Reasons and fields of an invalid policy. */
  readonly causes?: readonly string[];
}

/** The answers of a case: to the creation of its policies, and to its requests. */
export interface Outcomes {
  readonly policies: readonly Outcome[];
  readonly answers: readonly Outcome[];
}

/** Clients of a server. */
interface Clients {
  readonly admin: Api;
  /** The user joe in the group devs, without rights except those of {@link setUp}. */
  readonly joe: Api;
}

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/**
 * Runs cases in namespaces of their own.
 *
 * @param prefix prefix of the names of the namespaces.
 * @param settle waits until the policies are effective.
 */
export async function runCases(
  clients: Clients,
  cases: readonly Case[],
  prefix: string,
  settle: () => Promise<void>,
): Promise<Map<string, Outcomes>> {
  await setUp(clients.admin);
  const policies: Outcome[][] = [];
  for (const [index, one] of cases.entries())
    policies.push(await prepare(clients.admin, one, `${prefix}${index}`));
  await settle();
  const results = new Map<string, Outcomes>();
  for (const [index, { name, requests }] of cases.entries()) {
    const answers: Outcome[] = [];
    for (const request of requests) answers.push(await send(clients, request, `${prefix}${index}`));
    results.set(name, { policies: policies[index]!, answers });
  }
  return results;
}

/** Lets joe write what the cases write, and little else. */
async function setUp(admin: Api): Promise<void> {
  const rules = [
    {
      apiGroups: ["", "apps", "example.com"],
      resources: ["configmaps", "deployments", "gadgets"],
      verbs: ["create", "update", "patch", "get", "delete"],
    },
    { nonResourceURLs: ["/reports"], verbs: ["get"] },
  ];
  const subjects = [{ kind: "User", name: "joe", apiGroup: "rbac.authorization.k8s.io" }];
  const roleRef = { kind: "ClusterRole", name: "writer", apiGroup: "rbac.authorization.k8s.io" };
  await created(admin.post(`${RBAC}/clusterroles`, { metadata: { name: "writer" }, rules }));
  await created(admin.post(`${RBAC}/clusterrolebindings`, { metadata: { name: "joe" }, roleRef, subjects }));
  const account = [{ kind: "ServiceAccount", name: "builder", namespace: "default" }];
  const builder = { metadata: { name: "builder" }, roleRef, subjects: account };
  await created(admin.post(`${RBAC}/clusterrolebindings`, builder));
  await created(admin.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", gadgetDefinition));
}

async function created(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer;
  if (status !== 201 && status !== 409) throw new Error(text);
}

/** Creates namespace, objects and policies of a case; returns the answers to the creation of the policies. */
async function prepare(admin: Api, one: Case, namespace: string): Promise<Outcome[]> {
  await created(
    admin.post("/api/v1/namespaces", { metadata: { name: namespace, labels: { stage: "test" } } }),
  );
  for (const { path, body } of one.objects ?? []) {
    await created(admin.post(pathIn(namespace, path), body));
  }
  const outcomes: Outcome[] = [];
  const here = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
  for (const [kind, list] of [
    ["validating", one.validating ?? []],
    ["mutating", one.mutating ?? []],
  ] as const) {
    for (const [index, { spec, binding }] of list.entries()) {
      const name = `${namespace}-${kind}-${index}`;
      const constraints = {
        ...here,
        resourceRules: [everything],
        ...(spec as { matchConstraints?: object }).matchConstraints,
      };
      const policy = { metadata: { name }, spec: { ...spec, matchConstraints: constraints } };
      const answer = await admin.post(`${GROUP}/${kind}admissionpolicies`, policy);
      outcomes.push(policyOutcome(answer));
      const actions = kind === "validating" ? { validationActions: ["Deny"] } : {};
      const bound = { metadata: { name }, spec: { policyName: name, ...actions, ...binding } };
      await created(admin.post(`${GROUP}/${kind}admissionpolicybindings`, bound));
    }
  }
  return outcomes;
}

const everything = {
  apiGroups: ["", "apps", "example.com"],
  apiVersions: ["*"],
  operations: ["CREATE", "UPDATE"],
  resources: ["configmaps", "pods", "deployments", "deployments/scale", "gadgets", "services"],
};

async function send({ admin, joe }: Clients, request: Request, namespace: string): Promise<Outcome> {
  const { method = "POST", path, query = "", body, contentType = "application/json", user } = request;
  const client = user === "joe" ? joe : admin;
  const answer = await client.ask(method, `${pathIn(namespace, path)}${query}`, {
    ...(body === undefined ? {} : { body }),
    contentType,
  });
  return outcomeOf(answer, namespace, request.showsManagers ?? false);
}

function pathIn(namespace: string, path: string): string {
  const [resource = ""] = path.split("/", 1);
  const root = resource.includes("deployments")
    ? "/apis/apps/v1"
    : resource.startsWith("gadgets")
      ? "/apis/example.com/v1"
      : "/api/v1";
  return `${root}/namespaces/${namespace}/${path}`;
}

/** Messages of the compiler differ, so an error is compared by its reasons and fields. */
function policyOutcome({ status, body }: Answer): Outcome {
  if (status < 400) return { status };
  const { reason, details } = body as {
    reason: string;
    details?: { causes?: readonly { reason: string; field: string }[] };
  };
  const causes = (details?.causes ?? []).map((cause) => `${cause.reason} ${cause.field}`);
  return { status, reason, causes: causes.toSorted() };
}

/** What follows is written by libraries of the reference, in their own words. */
const othersWords =
  /(JSON Patch: |failed to convert patch object to typed object: |Internal error occurred: ).*/su;

const volatile = new Set(["uid", "resourceVersion", "creationTimestamp", "selfLink", "managedFields"]);

function outcomeOf({ status, body, warnings }: Answer, namespace: string, showsManagers: boolean): Outcome {
  const neutral = (text: string): string =>
    text
      .replaceAll(new RegExp(`\\b${namespace}\\b`, "gu"), "NAMESPACE")
      .replace(othersWords, "$1…")
      .trim();
  const told = warnings.length === 0 ? {} : { warnings: warnings.map(neutral) };
  if (status >= 400) {
    const { reason, message } = body as { reason: string; message: string };
    return { status, reason, message: neutral(message), ...told };
  }
  if (showsManagers) return { status, object: managersOf(body), ...told };
  const object = JSON.parse(neutral(JSON.stringify(body))) as { metadata: Record<string, unknown> };
  for (const name of volatile) delete object.metadata[name];
  return { status, object, ...told };
}

function managersOf(body: unknown): unknown {
  const { metadata } = body as { metadata: { managedFields?: Record<string, unknown>[] } };
  return (metadata.managedFields ?? []).map(({ manager, operation, fieldsV1 }) => ({
    manager: String(manager).length > 0,
    operation,
    fieldsV1,
  }));
}

const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** A custom kind with a list map, an atomic list and an object of any form. */
const gadgetDefinition = {
  metadata: { name: "gadgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: { type: "integer", default: 1, maximum: 10 },
                  color: { type: "string" },
                  tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  parts: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, count: { type: "integer", default: 7 } },
                    },
                  },
                  notes: { type: "array", items: { type: "string" } },
                  any: open,
                },
              },
            },
          },
        },
      },
    ],
  },
};
