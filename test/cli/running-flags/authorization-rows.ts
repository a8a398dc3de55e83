import { clientConfiguration } from "../../support/client-configuration.ts";
import { HttpsService } from "../../support/https-service.ts";
import { ok } from "../../api/support.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ann, write } from "./files.ts";
import type { FlagGroup, FlaggedServer } from "./table.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const policy = { user: "ann", namespace: "*", resource: "*", apiGroup: "*" };
const abac = { apiVersion: "abac.authorization.platform.io/v1beta1", kind: "Policy", spec: policy };
const policyFile = write("policies.jsonl", `${JSON.stringify(abac)}\n`);

const configuration = write(
  "authorization.json",
  JSON.stringify({
    apiVersion: "apiserver.config.platform.io/v1",
    kind: "AuthorizationConfiguration",
    authorizers: [{ type: "AlwaysAllow", name: "all" }],
  }),
);

/** The answer to a user who has no role. */
const statusOfAnn = async ({ as }: FlaggedServer): Promise<number> =>
  (await as("ann").get(configMaps)).status;

/** The number of objects in the view of ann, who may get every ConfigMap and list none. */
async function viewOfGetter({ admin, as }: FlaggedServer): Promise<number> {
  const rbac = "/apis/rbac.authorization.platform.io/v1";
  const metadata = { name: "get-maps" };
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"] }];
  await ok(admin.post(`${rbac}/clusterroles`, { metadata, rules }));
  const apiGroup = "rbac.authorization.platform.io";
  const binding = {
    metadata,
    roleRef: { apiGroup, kind: "ClusterRole", name: "get-maps" },
    subjects: [{ apiGroup, kind: "User", name: "ann" }],
  };
  await ok(admin.post(`${rbac}/clusterrolebindings`, binding));
  await ok(admin.post(configMaps, { metadata: { name: "shown" } }));
  const { body } = await ok(as("ann").get(`${configMaps}?view=mine&fieldSelector=metadata.name%3Dshown`));
  return body.items.length;
}

interface Review {
  readonly apiVersion: string;
  readonly spec: {
    readonly user: string;
    readonly resourceAttributes?: { readonly name?: string };
  };
}

/** Who may do what. */
export async function authorizationGroups(): Promise<readonly FlagGroup[]> {
  const service = await HttpsService.start(({ path: at, text }) => {
    const { apiVersion, kind, spec } = JSON.parse(text) as Review & { kind: string };
    const name = spec.resourceAttributes?.name ?? "";
    const allowed = !at.startsWith("/nobody") && !name.startsWith("denied");
    return { body: { apiVersion, kind, status: { allowed } } };
  });
  const [folder, nowhere] = [temporaryFolder(), temporaryFolder()];
  const config = clientConfiguration(folder.path, service);
  const askedAbout = (name: string) =>
    service.received
      .map(({ text }) => JSON.parse(text) as Review)
      .filter(({ spec }) => spec.resourceAttributes?.name === name);
  let requestCount = 0;
  /** How often the service is called for two requests for one object. */
  const askedForTwo = async ({ as }: FlaggedServer, prefix: string): Promise<number> => {
    const name = `${prefix}-${++requestCount}`;
    const caller = as("ann");
    for (const _ of [1, 2]) await caller.get(`${configMaps}/${name}`);
    return askedAbout(name).length;
  };
  return [
    {
      name: "authorization modes",
      shared: [ann],
      rows: [
        {
          flag: "authorization-mode",
          value: "AlwaysAllow",
          observed: "the answer to a user without a role",
          observe: statusOfAnn,
          changed: 200,
          usual: 403,
        },
      ],
    },
    {
      name: "views",
      shared: [ann],
      rows: [
        {
          flag: "views",
          value: "list",
          observed: "number of objects in the view of a user who may get every ConfigMap",
          observe: viewOfGetter,
          changed: 0,
          usual: 1,
        },
      ],
    },
    {
      name: "the authorization configuration",
      shared: [ann],
      rows: [
        {
          flag: "authorization-config",
          value: configuration,
          observed: "the answer to a user without a role",
          observe: statusOfAnn,
          changed: 200,
          usual: 403,
        },
      ],
    },
    {
      name: "authorization by policies",
      shared: [
        ann,
        "--authorization-mode=ABAC,RBAC",
        `--authorization-policy-file=${write("none.jsonl", "")}`,
      ],
      rows: [
        {
          flag: "authorization-policy-file",
          value: policyFile,
          observed: "the answer to a user whom a policy of the file names",
          observe: statusOfAnn,
          changed: 200,
          usual: 403,
        },
      ],
    },
    {
      name: "the authorization webhook",
      shared: [
        ann,
        "--authorization-mode=RBAC,Webhook",
        `--authorization-webhook-config-file=${clientConfiguration(nowhere.path, service, {
          cluster: { server: `${service.url}/nobody`, "certificate-authority": "ca.pem" },
        })}`,
      ],
      rows: [
        {
          flag: "authorization-webhook-config-file",
          value: config,
          observed: "the answer to a user whom the service allows",
          observe: statusOfAnn,
          changed: 200,
          usual: 403,
        },
      ],
    },
    {
      name: "how the authorization webhook is called",
      shared: [ann, "--authorization-mode=RBAC,Webhook", `--authorization-webhook-config-file=${config}`],
      rows: [
        {
          flag: "authorization-webhook-version",
          value: "v1",
          observed: "the version of its reviews",
          async observe({ as }) {
            const name = `versioned-${++requestCount}`;
            await as("ann").get(`${configMaps}/${name}`);
            return askedAbout(name)[0]!.apiVersion;
          },
          changed: "authorization.platform.io/v1",
          usual: "authorization.platform.io/v1beta1",
        },
        {
          flag: "authorization-webhook-cache-authorized-ttl",
          value: "0s",
          observed: "how often it is called for two requests that it allows",
          observe: (server) => askedForTwo(server, "allowed"),
          changed: 2,
          usual: 1,
        },
        {
          flag: "authorization-webhook-cache-unauthorized-ttl",
          value: "0s",
          observed: "how often it is called for two requests that it denies",
          observe: (server) => askedForTwo(server, "denied"),
          changed: 2,
          usual: 1,
        },
      ],
      async close() {
        await service.close();
        folder.remove();
        nowhere.remove();
      },
    },
  ];
}
