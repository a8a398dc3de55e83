import { existsSync } from "node:fs";
import path from "node:path";
import { ok } from "../../api/support.ts";
import { files, write } from "./files.ts";
import type { FlagGroup, FlaggedServer, FlagRow } from "./table.ts";

const core = "/api/v1/namespaces/default";
const container = { name: "c", image: "i" };

/** A pod that a dry run creates. */
async function dryPod({ admin }: FlaggedServer, more: object = {}) {
  const spec = { containers: [{ ...container, ...more }] };
  return admin.post(`${core}/pods?dryRun=All`, { metadata: { name: "p" }, spec });
}

/** For how long a pod stays on a node with a taint. */
async function tolerationSeconds(server: FlaggedServer, taint: string): Promise<number | undefined> {
  const { body } = await ok(dryPod(server));
  const all = (body.spec.tolerations ?? []) as { key: string; tolerationSeconds: number }[];
  return all.find(({ key }) => key === `node.platform.io/${taint}`)?.tolerationSeconds;
}

async function newService({ admin }: FlaggedServer, type: string) {
  const spec = { type, ports: [{ port: 80 }] };
  return (await ok(admin.post(`${core}/services`, { metadata: { generateName: "s-" }, spec }))).body.spec;
}

async function metricSum({ admin }: FlaggedServer, name: string): Promise<number> {
  const { text } = await admin.get("/metrics");
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

const seats = (server: FlaggedServer) => metricSum(server, "apiserver_flowcontrol_nominal_limit_seats");

const general: readonly FlagRow[] = [
  {
    flag: "runtime-config",
    requirement: "C-9.1-10",
    value: "batch/v1=false",
    observed: "whether batch/v1 is served",
    observe: async ({ admin }) => (await admin.get("/apis/batch/v1")).status,
    changed: 404,
    usual: 200,
  },
  {
    flag: "feature-gates",
    value: "APIListChunking=false",
    observed: "whether a list is cut at its limit",
    observe: async ({ admin }) => (await admin.get("/api/v1/namespaces?limit=1")).body.items.length > 1,
    changed: true,
    usual: false,
  },
  {
    flag: "service-cluster-ip-range",
    value: "10.77.0.0/24",
    observed: "the network of a new service's address",
    observe: async (server) =>
      (await newService(server, "ClusterIP")).clusterIP.split(".").slice(0, 3).join("."),
    changed: "10.77.0",
    usual: "10.0.0",
  },
  {
    flag: "service-node-port-range",
    value: "31234-31234",
    observed: "whether a new service gets port 31234",
    observe: async (server) => (await newService(server, "NodePort")).ports[0].nodePort === 31_234,
    changed: true,
    usual: false,
  },
  {
    flag: "advertise-address",
    value: "192.0.2.7",
    observed: "whether the API's endpoints have the address",
    observe: async ({ admin }) =>
      (await ok(admin.get(`${core}/endpoints/platform`))).body.subsets[0].addresses[0].ip === "192.0.2.7",
    changed: true,
    usual: false,
  },
  {
    flag: "allow-privileged",
    value: "true",
    observed: "the answer to a privileged pod",
    observe: async (server) => (await dryPod(server, { securityContext: { privileged: true } })).status,
    changed: 201,
    usual: 422,
  },
  {
    flag: "default-not-ready-toleration-seconds",
    value: "7",
    observed: "how long a new pod stays on a node that isn't ready",
    observe: (server) => tolerationSeconds(server, "not-ready"),
    changed: 7,
    usual: 300,
  },
  {
    flag: "default-unreachable-toleration-seconds",
    value: "9",
    observed: "how long a new pod stays on a node that is unreachable",
    observe: (server) => tolerationSeconds(server, "unreachable"),
    changed: 9,
    usual: 300,
  },
  {
    flag: "enable-admission-plugins",
    requirement: "C-4.13-06",
    value: "AlwaysPullImages",
    observed: "the pull policy of a new pod",
    observe: async (server) =>
      (await ok(dryPod(server, { imagePullPolicy: "Never" }))).body.spec.containers[0].imagePullPolicy,
    changed: "Always",
    usual: "Never",
  },
  {
    flag: "disable-admission-plugins",
    value: "TaintNodesByCondition",
    observed: "the number of taints of a new node",
    observe: async ({ admin }) =>
      ((await ok(admin.post("/api/v1/nodes?dryRun=All", { metadata: { name: "n" } }))).body.spec.taints ?? [])
        .length,
    changed: 0,
    usual: 1,
  },
  {
    flag: "controllers",
    value: "*,-ttl-after-finished",
    observed: "whether the controller has a health check",
    observe: async ({ admin }) =>
      (await admin.get("/readyz/poststarthook/controllers/ttl-after-finished")).status,
    changed: 404,
    usual: 200,
  },
  {
    flag: "anonymous-auth",
    value: "false",
    observed: "the answer to a request without credentials",
    observe: async ({ as }) => (await as(undefined).get("/version")).status,
    changed: 401,
    usual: 200,
  },
  {
    flag: "token-auth-file",
    value: write("tokens.csv", "known,ann,7\n"),
    observed: "the answer to a request with a token of the file",
    observe: async ({ as }) => (await as("known").get("/version")).status,
    changed: 200,
    usual: 401,
  },
  {
    flag: "enable-priority-and-fairness",
    value: "false",
    observed: "whether answers name a flow schema",
    observe: async ({ admin }) =>
      (await admin.get("/version")).headers["x-platform-pf-flowschema-uid"] !== undefined,
    changed: false,
    usual: true,
  },
  {
    flag: "bind-address",
    value: "127.0.0.2",
    observed: "the address at which the server answers",
    observe: async ({ admin, server }) => [
      (await admin.get("/version")).status,
      new URL(server.url!).hostname,
    ],
    changed: [200, "127.0.0.2"],
    usual: [200, "127.0.0.1"],
  },
];

const podSecurity = {
  apiVersion: "apiserver.config.platform.io/v1",
  kind: "AdmissionConfiguration",
  plugins: [
    {
      name: "PodSecurity",
      configuration: {
        apiVersion: "pod-security.admission.config.platform.io/v1",
        kind: "PodSecurityConfiguration",
        defaults: { enforce: "restricted" },
      },
    },
  ],
};

/** What the API serves, admits and does by itself. */
export function apiGroups(freePort: number): readonly FlagGroup[] {
  const store = path.join(files.path, "data");
  return [
    { name: "the API", rows: general },
    {
      name: "the names of the API",
      rows: [
        {
          flag: "vocabulary",
          value: "kubernetes",
          observed: "the name of the group of roles",
          observe: async ({ admin }) =>
            ((await admin.get("/apis")).body.groups as { name: string }[])
              .map(({ name }) => name)
              .filter((name) => name.startsWith("rbac.")),
          changed: ["rbac.authorization.k8s.io"],
          usual: ["rbac.authorization.platform.io"],
        },
        {
          flag: "secure-port",
          value: String(freePort),
          shownValue: "PORT",
          observed: "whether the server answers at this port",
          observe: async ({ admin, server }) => [
            (await admin.get("/version")).status,
            new URL(server.url!).port === String(freePort),
          ],
          changed: [200, true],
          usual: [200, false],
        },
      ],
    },
    {
      name: "the plugins",
      rows: [
        {
          flag: "admission-control",
          value: "NamespaceLifecycle,PodSecurity",
          observed: "how many tolerations plugins add to a new pod",
          async observe({ admin }) {
            const securityContext = {
              allowPrivilegeEscalation: false,
              capabilities: { drop: ["ALL"] },
              runAsNonRoot: true,
              seccompProfile: { type: "RuntimeDefault" },
            };
            const spec = { containers: [{ ...container, securityContext }] };
            const pod = { metadata: { name: "p" }, spec };
            return (await ok(admin.post(`${core}/pods?dryRun=All`, pod))).body.spec.tolerations?.length;
          },
          changed: undefined,
          usual: 2,
        },
        {
          flag: "admission-control-config-file",
          value: write("admission.yaml", podSecurity),
          observed: "the answer to a pod that isn't restricted",
          observe: async (server) => (await dryPod(server)).status,
          changed: 403,
          usual: 201,
        },
      ],
    },
    {
      name: "the seats of reading requests",
      rows: [
        {
          flag: "max-requests-inflight",
          value: "100",
          observed: "whether there are fewer seats than 400",
          observe: async (server) => (await seats(server)) < 400,
          changed: true,
          usual: false,
        },
      ],
    },
    {
      name: "the seats of changing requests",
      rows: [
        {
          flag: "max-mutating-requests-inflight",
          value: "1000",
          observed: "whether there are more seats than 1000",
          observe: async (server) => (await seats(server)) > 1000,
          changed: true,
          usual: false,
        },
      ],
    },
    {
      name: "the embedded store",
      shared: ["--storage-backend=embedded"],
      manualClock: true,
      rows: [
        {
          flag: "durability",
          value: "leases=interval:1h",
          observed: "whether /metrics shows the age of an unsynced write",
          async observe({ admin, clock }) {
            const leases = "/apis/coordination.platform.io/v1/namespaces/default/leases";
            let isShown = false;
            // The server's own writes of other resources sync everything.
            for (let attempt = 0; attempt < 10 && !isShown; attempt++) {
              await ok(admin.post(leases, { metadata: { name: `unsynced-${attempt}` } }));
              await clock!.advance(1000);
              const { text } = await ok(admin.get("/metrics"));
              isShown = Number(/^platform_store_unsynced_age_seconds (\S+)$/m.exec(text)?.[1]) > 0;
            }
            return isShown;
          },
          changed: true,
          usual: false,
        },
      ],
    },
    {
      name: "time",
      manualClock: true,
      rows: [
        {
          flag: "history-retention",
          value: "1s",
          observed: "the answer to a list of a minute ago",
          async observe({ admin, clock }) {
            const maps = `${core}/configmaps`;
            const { body } = await ok(admin.get(maps));
            await ok(admin.post(maps, { metadata: { name: "later" } }));
            await clock!.advance(120_000);
            await ok(admin.patch(`${maps}/later`, { data: { a: "b" } }));
            const at = `resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`;
            return (await admin.get(`${maps}?${at}`)).status;
          },
          changed: 410,
          usual: 200,
        },
        {
          flag: "event-ttl",
          value: "10s",
          observed: "the answer to an event of two minutes ago",
          async observe({ admin, clock }) {
            const event = { metadata: { name: "e" }, involvedObject: { namespace: "default" } };
            await ok(admin.post(`${core}/events`, event));
            await clock!.advance(120_000);
            return (await admin.get(`${core}/events/e`)).status;
          },
          changed: 404,
          usual: 200,
        },
        {
          flag: "shutdown-delay-duration",
          requirement: "C-4.11-12",
          value: "20s",
          observed: "whether a server, told to stop 19 seconds ago and so not ready, closes its connections",
          async observe({ admin, as, server, clock }) {
            // A connection that stands has the server serve for a moment in any case.
            await ok(admin.get("/version"));
            const caller = as(undefined);
            const closed = server.close();
            await clock!.advance(19_000);
            const { status, headers } = await caller.get("/readyz");
            await clock!.advance(1000);
            await closed;
            return [status, headers.connection];
          },
          changed: [500, "keep-alive"],
          usual: [500, "close"],
        },
      ],
    },
    {
      name: "the controllers of servers over one store",
      shared: ["--storage-backend=embedded"],
      manualClock: true,
      rows: [
        {
          flag: "leader-elect",
          value: "false",
          observed: "whether the server has taken the lease of those that run controllers",
          observe: async ({ admin }) => {
            const leases = "/apis/coordination.platform.io/v1/namespaces/platform-system/leases";
            return (await admin.get(`${leases}/apiserver-controllers`)).status;
          },
          changed: 404,
          usual: 200,
        },
      ],
    },
    {
      name: "the store",
      rows: [
        {
          flag: "storage-backend",
          value: "embedded",
          observed: "whether the server tells the size of a file",
          observe: async (server) =>
            (await metricSum(server, "apiserver_storage_db_total_size_in_bytes")) > 0,
          changed: true,
          usual: false,
        },
        {
          flag: "data-dir",
          value: store,
          observed: "which folder holds the server's authority, the one before or this one",
          observe: ({ folder }) => [folder, store].map((one) => existsSync(path.join(one, "pki/ca.crt"))),
          changed: [false, true],
          // The other server has filled this one.
          usual: [true, true],
        },
      ],
    },
  ];
}
