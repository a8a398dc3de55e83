import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { TestServer, type Api } from "../support/api.ts";
import { causeFields, ok } from "./support.ts";

const core = "/api/v1/namespaces/default";
const networking = "/apis/networking.k8s.io/v1/namespaces/default";
const ranges = ["10.0.0.1/8", "1.2.3.0/024", "::ffff:1.2.3.0/120"];
const mapped = "::ffff:1.2.3.4";
const container = { name: "c", image: "i" };
const podSpec = {
  containers: [container],
  dnsPolicy: "None",
  dnsConfig: { nameservers: ["8.8.8.8", mapped] },
  hostAliases: [{ ip: mapped, hostnames: ["a"] }],
};
const podFaults = (prefix: string) => [`${prefix}.hostAliases[0].ip`, `${prefix}.dnsConfig.nameservers[1]`];
const balancer = (more: object = {}) => ({ type: "LoadBalancer", ports: [{ port: 80 }], ...more });
const annotation = "service.beta.kubernetes.io/load-balancer-source-ranges";
const rule = (cidr: string, except: string[] = []) => ({ ipBlock: { cidr, except } });

/** Objects with ambiguous addresses: the collection, the object, and the fields of the faults. */
const objects: readonly [title: string, url: string, object: object, fields: readonly string[]][] = [
  [
    "a service's external addresses",
    "services",
    { spec: { ports: [{ port: 80 }], externalIPs: ["1.2.3.4", mapped] } },
    ["spec.externalIPs[1]"],
  ],
  [
    "a service's source ranges",
    "services",
    { spec: balancer({ loadBalancerSourceRanges: ["10.0.0.0/8", ...ranges, " 10.0.0.1/8 "] }) },
    [1, 2, 3, 4].map((index) => `spec.LoadBalancerSourceRanges[${index}]`),
  ],
  [
    "a service's annotation with source ranges",
    "services",
    { metadata: { annotations: { [annotation]: `10.0.0.0/8, ${ranges[0]}` } }, spec: balancer() },
    [`metadata.annotations[${annotation}]`],
  ],
  ["a pod", "pods", { spec: podSpec }, podFaults("spec")],
  [
    "the template of a controller",
    "replicationcontrollers",
    { spec: { selector: { a: "b" }, template: { metadata: { labels: { a: "b" } }, spec: { ...podSpec } } } },
    podFaults("spec.template.spec"),
  ],
  [
    "endpoints",
    "endpoints",
    { subsets: [{ addresses: [{ ip: "1.2.3.4" }, { ip: mapped }], notReadyAddresses: [{ ip: mapped }] }] },
    ["subsets[0].addresses[1].ip", "subsets[0].notReadyAddresses[0].ip"],
  ],
  [
    "a network policy",
    "networkpolicies",
    {
      spec: {
        podSelector: {},
        ingress: [{ from: [rule("10.0.0.0/8"), rule(ranges[0]!)] }],
        egress: [{ to: [rule("10.0.0.0/8", ["10.1.0.1/16"])] }],
      },
    },
    ["spec.ingress[0].from[1].ipBlock.cidr", "spec.egress[0].to[0].ipBlock.except[0]"],
  ],
  ["a node's ranges", "nodes", { spec: { podCIDR: ranges[0], podCIDRs: [ranges[0]] } }, ["spec.podCIDRs[0]"]],
];

const urlOf = (resource: string) =>
  resource === "nodes"
    ? "/api/v1/nodes"
    : `${resource === "networkpolicies" ? networking : core}/${resource}`;
const named = (object: object, name: string) => {
  const { metadata = {} } = object as { metadata?: object };
  return { ...object, metadata: { ...metadata, name } };
};

describe("addresses that programs read differently", () => {
  let before: TestServer;
  let after: TestServer;
  beforeAll(async () => {
    before = await TestServer.start({ release: "1.35", vocabulary: "kubernetes" });
    after = await TestServer.start({ release: "1.36", vocabulary: "kubernetes" });
  });
  afterAll(async () => {
    await before?.close();
    await after?.close();
  });

  test.each(objects)("are refused in %s from release 1.36 on", async (_title, resource, object, fields) => {
    const create = ({ admin }: { readonly admin: Api }) =>
      admin.post(`${urlOf(resource)}?dryRun=All`, named(object, "x"));
    expect((await create(before)).status).toBe(201);
    const answer = await create(after);
    expect([answer.status, causeFields(answer)]).toEqual([422, fields]);
  });

  test("are refused in a status, except those that it had", async () => {
    const { admin } = after;
    await ok(admin.post(`${core}/pods`, { metadata: { name: "p" }, spec: { containers: [container] } }));
    const status = (ip: string) =>
      admin.patch(`${core}/pods/p/status`, {
        status: { podIP: ip, podIPs: [{ ip }], hostIP: ip, hostIPs: [{ ip }] },
      });
    expect(causeFields(await status(mapped))).toEqual(["status.podIPs[0]", "status.hostIPs[0]"]);
    await ok(status("1.2.3.4"));
    await ok(admin.post(`${core}/services`, { metadata: { name: "s" }, spec: balancer() }));
    const points = { status: { loadBalancer: { ingress: [{ ip: mapped, ipMode: "VIP" }] } } };
    expect(causeFields(await admin.patch(`${core}/services/s/status`, points))).toEqual([
      "status.loadBalancer.ingress[0].ip",
    ]);
    const backend = { defaultBackend: { service: { name: "s", port: { number: 80 } } } };
    await ok(admin.post(`${networking}/ingresses`, { metadata: { name: "i" }, spec: backend }));
    const ingress = { status: { loadBalancer: { ingress: [{ ip: mapped }] } } };
    expect(causeFields(await admin.patch(`${networking}/ingresses/i/status`, ingress))).toEqual([
      "status.loadBalancer.ingress[0].ip",
    ]);
  });

  test("are accepted with the gate StrictIPCIDRValidation off", async () => {
    const featureGates = "StrictIPCIDRValidation=false";
    const server = await TestServer.start({ release: "1.37", vocabulary: "kubernetes", featureGates });
    try {
      for (const [, resource, object] of objects)
        await ok(server.admin.post(`${urlOf(resource)}?dryRun=All`, named(object, "x")));
    } finally {
      await server.close();
    }
  });
});

test("ambiguous addresses that an object already has are accepted by updates, new ones are not", async () => {
  const storage = createMemoryStore({ clock: systemClock });
  const under = async (release: "1.35" | "1.36", work: (admin: Api) => Promise<void>) => {
    const server = await TestServer.start({ release, vocabulary: "kubernetes", storage });
    try {
      await work(server.admin);
    } finally {
      await server.close();
    }
  };
  try {
    // The reference checks the template of a controller in each update.
    const kept = objects.filter(([, resource]) => resource !== "replicationcontrollers");
    await under("1.35", async (admin) => {
      for (const [index, [, resource, object]] of kept.entries())
        await ok(admin.post(urlOf(resource), named(object, `x${index}`)));
    });
    await under("1.36", async (admin) => {
      for (const [index, [, resource]] of kept.entries())
        await ok(admin.patch(`${urlOf(resource)}/x${index}`, { metadata: { labels: { a: "b" } } }));
      const added = await admin.patch(`${urlOf("services")}/x0`, {
        spec: { externalIPs: [mapped, "::ffff:1.2.3.5"] },
      });
      expect(causeFields(added)).toEqual(["spec.externalIPs[1]"]);
      const policy = kept.findIndex(([, resource]) => resource === "networkpolicies");
      const moved = { spec: { ingress: [], egress: [{ to: [rule(ranges[0]!)] }] } };
      await ok(admin.patch(`${urlOf("networkpolicies")}/x${policy}`, moved));
      const changed = { spec: { egress: [{ to: [rule("10.0.0.2/8")] }] } };
      expect((await admin.patch(`${urlOf("networkpolicies")}/x${policy}`, changed)).status).toBe(422);
    });
  } finally {
    await storage.close();
  }
});
