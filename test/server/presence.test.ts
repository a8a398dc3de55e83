import { afterEach, describe, expect, test } from "vitest";
import { ok, until } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const names = {
  platform: {
    namespace: "platform-node-lease",
    service: "platform",
    suffix: "platform.io",
    system: "platform-system",
    lease: "apiserver-",
  },
  kubernetes: {
    namespace: "kube-node-lease",
    service: "kubernetes",
    suffix: "k8s.io",
    system: "kube-system",
    lease: "kube-apiserver-",
  },
} as const;

let servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers) await server.close();
  servers = [];
});
async function start(options: Parameters<typeof TestServer.start>[0]): Promise<TestServer> {
  const server = await TestServer.start(options);
  servers.push(server);
  return server;
}
const services = "/api/v1/namespaces/default/services";
const endpoints = "/api/v1/namespaces/default/endpoints";
const portOf = ({ server }: TestServer) => Number(new URL(server.url!).port);

describe.each(["platform", "kubernetes"] as const)(
  "what exists from the start, by the names of %s",
  (vocabulary) => {
    const { namespace, service, suffix, system, lease } = names[vocabulary];

    test("the namespace of node leases, and the priority classes of the system", async () => {
      const { admin } = await start({ vocabulary });
      await ok(admin.get(`/api/v1/namespaces/${namespace}`));
      const { body } = await ok(admin.get(`/apis/scheduling.${suffix}/v1/priorityclasses`));
      const classes = body.items as { metadata: { name: string }; value: number }[];
      expect(classes.map(({ metadata, value }) => [metadata.name, value])).toEqual([
        ["system-cluster-critical", 2_000_000_000],
        ["system-node-critical", 2_000_001_000],
      ]);
    });

    test("the API's own Service with the first address of the range, and endpoints that lead to the server", async () => {
      const server = await start({
        vocabulary,
        advertiseAddress: "192.0.2.7",
        serviceClusterIpRanges: ["10.9.0.0/16"],
      });
      const { body } = await ok(server.admin.get(`${services}/${service}`));
      expect(body.spec).toMatchObject({
        clusterIP: "10.9.0.1",
        type: "ClusterIP",
        ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: portOf(server) }],
      });
      const ports = [{ name: "https", port: portOf(server), protocol: "TCP" }];
      expect((await ok(server.admin.get(`${endpoints}/${service}`))).body.subsets).toEqual([
        { addresses: [{ ip: "192.0.2.7" }], ports },
      ]);
      const slice = await ok(
        server.admin.get(`/apis/discovery.${suffix}/v1/namespaces/default/endpointslices/${service}`),
      );
      expect(slice.body).toMatchObject({
        addressType: "IPv4",
        endpoints: [{ addresses: ["192.0.2.7"], conditions: { ready: true } }],
        ports,
      });
    });

    test("the server's lease, renewed every ten seconds, until it ends", async () => {
      const clock = new ManualClock();
      const folder = temporaryFolder();
      try {
        const storage = { engine: "embedded", dir: folder.path } as const;
        const server = await start({ vocabulary, clock, storage, identityLease: true });
        const path = `/apis/coordination.${suffix}/v1/namespaces/${system}/leases?labelSelector=${suffix}/component`;
        const leases = async () => (await ok(server.admin.get(path))).body.items;
        const [first, ...more] = await leases();
        expect(more).toEqual([]);
        expect(first.metadata.name).toMatch(new RegExp(`^${lease}[0-9a-f]{26}$`));
        expect(first.spec).toMatchObject({ leaseDurationSeconds: 3600 });
        expect(first.spec.holderIdentity).toContain(`${first.metadata.name}_`);
        clock.advanceAtOnce(10_000);
        await until(
          leases,
          ([one]) => Date.parse(one.spec.renewTime) - Date.parse(first.spec.renewTime) >= 10_000,
        );
        await server.close();
        servers = [];
        const later = await start({ vocabulary, clock, storage });
        expect((await ok(later.admin.get(path))).body.items).toEqual([]);
      } finally {
        for (const server of servers.splice(0)) await server.close();
        folder.remove();
      }
    });
  },
);

test("servers over one store share the endpoints; one that is gone is taken out", async () => {
  const folder = temporaryFolder();
  try {
    const clock = new ManualClock();
    const storage = { engine: "embedded", dir: folder.path } as const;
    const common = { clock, storage, identityLease: true };
    const one = await start({ ...common, advertiseAddress: "192.0.2.1" });
    const two = await start({ ...common, advertiseAddress: "192.0.2.2" });
    const addresses = async () => {
      const { subsets } = (await ok(one.admin.get(`${endpoints}/platform`))).body;
      return (subsets as { addresses: { ip: string }[] }[]).flatMap((subset) =>
        subset.addresses.map(({ ip }) => ip),
      );
    };
    expect((await addresses()).toSorted()).toEqual(["192.0.2.1", "192.0.2.2"]);
    await two.close();
    servers = [one];
    clock.advanceAtOnce(10_000);
    await until(addresses, (found) => found.length === 1 && found[0] === "192.0.2.1");
  } finally {
    for (const server of servers.splice(0)) await server.close();
    folder.remove();
  }
});

test("without the gate APIServerIdentity there is no lease", async () => {
  const server = await start({ identityLease: true, featureGates: "APIServerIdentity=false" });
  const { body } = await ok(
    server.admin.get("/apis/coordination.platform.io/v1/namespaces/platform-system/leases"),
  );
  expect(body.items).toEqual([]);
});
