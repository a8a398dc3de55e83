import path from "node:path";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePod, ownAddress } from "../../support/backends.ts";
import { TestServer } from "../../support/api.ts";
import { apiService, apiServices, availability, ExtensionServer } from "../../support/extension-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ManualClock, ok, settle, until } from "../support.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

test("two servers with one store both forward requests, and one of them writes the condition once", async () => {
  const dir = path.join(folder.path, "store");
  const options = { storage: { engine: "embedded", dir }, connections: { allowLoopback: true } } as const;
  const [first, second] = [await TestServer.start(options), await TestServer.start(options)];
  const extension = await ExtensionServer.start();
  await extension.register(second.admin);
  for (const server of [first, second]) {
    const answered = await until(
      () => server.admin.get(`${extension.path}/widgets`),
      ({ status }) => status === 200,
    );
    expect(answered.body.kind).toBe("Widget");
  }
  const { body } = await first.admin.get(`${apiServices}/${extension.name}`);
  expect(body.status.conditions).toHaveLength(1);
  const status = body.metadata.managedFields.filter(
    ({ subresource }: { subresource?: string }) => subresource === "status",
  );
  expect(status).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await second.admin.get(`${apiServices}/${extension.name}`)).body.metadata.resourceVersion).toBe(
    body.metadata.resourceVersion,
  );
  await first.close();
  await second.close();
  await extension.close();
});

test("a changed front proxy certificate is used from then on, and an unusable one isn't", async () => {
  const extension = await ExtensionServer.start();
  const clock = new ManualClock();
  const [cert, key] = [path.join(folder.path, "proxy.crt"), path.join(folder.path, "proxy.key")];
  const write = (name: string) => {
    const made = extension.clientCertificate(name);
    writeFileSync(cert, made.certificate);
    writeFileSync(key, made.key);
  };
  write("first");
  const aggregation = { clientCertFile: cert, clientKeyFile: key };
  const server = await TestServer.start({ aggregation, clock, connections: { allowLoopback: true } });
  await extension.register(server.admin);
  const shown = async () => {
    await server.admin.get(`${extension.path}/widgets`);
    return extension.received.at(-1)?.client;
  };
  expect(await shown()).toBe("first");
  const after = async (name: string) => {
    for (let at = 0; at < 50 && (await shown()) !== name; at++) {
      await clock.advance(1000);
      await settle();
    }
    return shown();
  };
  write("second");
  expect(await after("second")).toBe("second");
  writeFileSync(key, "no key");
  expect(await after("never")).toBe("second");
  await server.close();
  await extension.close();
});

// Endpoints can't have loopback addresses, so these tests need a network address.
const address = ownAddress();
describe.skipIf(address === undefined)("a service with endpoints", () => {
  let server: TestServer;
  let extension: ExtensionServer;
  const core = "/api/v1/namespaces/default";
  beforeAll(async () => {
    server = await TestServer.start({
      connections: { allowLoopback: true },
      aggregation: { endpointRouting: true },
    });
    extension = await ExtensionServer.start({ service: "pods" }, address);
    await makePod(server.admin, "pod", { ip: address! });
    const spec = { ports: [{ name: "https", port: 443, targetPort: 8443 }] };
    await ok(server.admin.post(`${core}/services`, { metadata: { name: "pods" }, spec }));
  });
  afterAll(async () => {
    await server.close();
    await extension.close();
  });
  const endpoints = (pod: string) => ({
    metadata: { name: "pods" },
    subsets: [
      {
        addresses: [{ ip: address, targetRef: { kind: "Pod", name: pod, namespace: "default" } }],
        ports: [{ name: "https", port: extension.port }],
      },
    ],
  });
  const condition = async () => availability(await server.admin.get(`${apiServices}/${extension.name}`));
  const becomes = (reason: string) => until(condition, (one) => one?.reason === reason);

  test("is unavailable until it has endpoints, is reached at a pod of its namespace, and is unavailable again without them", async () => {
    const caBundle = Buffer.from(extension.ca).toString("base64");
    const service = { namespace: "default", name: "pods" };
    await ok(server.admin.post(apiServices, apiService(extension.group, "v1", { service, caBundle })));
    await becomes("EndpointsNotFound");
    await ok(server.admin.post(`${core}/endpoints`, endpoints("pod")));
    await becomes("Passed");
    expect((await ok(server.admin.get(`${extension.path}/widgets`))).body.kind).toBe("Widget");
    await ok(server.admin.put(`${core}/endpoints/pods`, { metadata: { name: "pods" }, subsets: [] }));
    await becomes("MissingEndpoints");
    await ok(server.admin.put(`${core}/endpoints/pods`, endpoints("pod")));
    await becomes("Passed");
  });

  test("an endpoint address that isn't a pod's is not connected to", async () => {
    const count = extension.sockets.size;
    await ok(server.admin.put(`${core}/endpoints/pods`, endpoints("nobody")));
    const failed = await becomes("FailedDiscoveryCheck");
    expect(failed!.message).toMatch(/no endpoints available for service "pods"/);
    expect(extension.sockets.size).toBeLessThanOrEqual(count);
    await ok(server.admin.delete(`${core}/services/pods`));
    await becomes("ServiceNotFound");
  });
});
