import { afterEach, expect, test } from "vitest";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServer, type CreateServerOptions } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { configMap, namespace, until } from "../api/support.ts";

let server: Server | undefined;
afterEach(() => server?.close());

const start = async (options: CreateServerOptions = {}): Promise<Server["client"]> => {
  server = await createServer(options);
  return server.client;
};
const account = (where: string) =>
  ({ apiVersion: "v1", kind: "ServiceAccount", namespace: where, name: "default" }) as const;
const authority = (where: string) =>
  ({ apiVersion: "v1", kind: "ConfigMap", namespace: where, name: "root-ca.crt" }) as const;
const known = ["default", "platform-system", "platform-public", "platform-node-lease"];

/** Waits until an object exists. */
const untilExists = (client: Server["client"], reference: ReturnType<typeof account | typeof authority>) =>
  until(
    () => client.find(reference),
    (found) => found !== undefined,
  );

test("the ServiceAccount `default` is created in existing and new namespaces, and recreated after a deletion", async () => {
  const client = await start();
  for (const where of known) await untilExists(client, account(where));
  await client.create(namespace("x"));
  const first = await untilExists(client, account("x"));
  await client.delete(account("x"));
  const second = await untilExists(client, account("x"));
  expect(second!.metadata.uid).not.toBe(first!.metadata.uid);
});

test("every namespace has the server's CA certificate, which is restored when it is changed or deleted", async () => {
  const client = await start();
  await client.create(namespace("x"));
  for (const where of [...known, "x"]) {
    const { data } = (await untilExists(client, authority(where))) as { data?: object };
    expect(data).toEqual({ "ca.crt": `${server!.caCertificate!.trim()}\n` });
  }
  const text = async (where: string) => {
    const found = await client.find(authority(where));
    return (found as { data?: Record<string, string> } | undefined)?.data?.["ca.crt"];
  };
  const right = await text("x");
  await client.patch(authority("x"), { data: { "ca.crt": "another", more: "m" } });
  await until(
    () => text("x"),
    (found) => found === right,
  );
  await client.delete(authority("x"));
  await until(
    () => text("x"),
    (found) => found === right,
  );
  await client.patch(authority("x"), { data: { more: "m" } });
  await until(
    async () => (await client.get(authority("x"))).data,
    (data) => Object.keys(data ?? {}).join() === "ca.crt",
  );
});

test.each([
  ["", []],
  [", also when NamespaceLifecycle is disabled", ["NamespaceLifecycle"]],
])(
  "a terminating namespace gets no new default objects and is deleted%s",
  async (_, disabledAdmissionPlugins) => {
    const client = await start({ disabledAdmissionPlugins });
    await client.create(namespace("x"));
    const reference = { apiVersion: "v1", kind: "Namespace", name: "x" } as const;
    await untilExists(client, account("x"));
    await client.create({
      ...configMap("held"),
      metadata: { name: "held", namespace: "x", finalizers: ["a.b/c"] },
    });
    await client.delete(reference);
    await until(
      () => client.find(account("x")),
      (found) => found === undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await client.find(account("x"))).toBeUndefined();
    await client.patch(
      { apiVersion: "v1", kind: "ConfigMap", namespace: "x", name: "held" },
      { metadata: { finalizers: null } },
    );
    await until(
      () => client.find(reference),
      (found) => found === undefined,
    );
    expect(await client.find(authority("x"))).toBeUndefined();
  },
);

test("each controller can be disabled by its name, and no CA is published when the server has no port", async () => {
  const client = await start({ enabledControllers: ["*", "-serviceaccount", "-root-ca-cert-publisher"] });
  await client.create(namespace("x"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await client.find(account("x"))).toBeUndefined();
  expect(await client.find(authority("x"))).toBeUndefined();
  await server!.close();
  const alone = await start({ port: false });
  await untilExists(alone, account("default"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await alone.find(authority("default"))).toBeUndefined();
});

test("two servers with different CAs over one store publish both without further writes and remove foreign certificates", async () => {
  const store = createMemoryStore({ clock: systemClock });
  const servers = [await createServer({ storage: store }), await createServer({ storage: store })];
  try {
    const own = servers.map(({ caCertificate }) => caCertificate!.trim());
    expect(own[0]).not.toBe(own[1]);
    const { client } = servers[0]!;
    const bundle = async (where: string) =>
      ((await client.find(authority(where))) as { data?: Record<string, string> } | undefined)?.data?.[
        "ca.crt"
      ];
    const both = (text: string | undefined) => own.every((pem) => text?.includes(pem) === true);
    for (const where of known) await until(() => bundle(where), both);
    // A third certificate is kept only in platform-system.
    const { caCertificate: third } = createServingCertificates(["127.0.0.1"], systemClock);
    const right = await bundle("default");
    const foreign = { data: { "ca.crt": `${right}${third}` } };
    await client.patch(authority("default"), foreign);
    await until(
      () => bundle("default"),
      (text) => text === right,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = await store.latestRevision();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await store.latestRevision()).toBe(before);
    await client.patch(authority("platform-system"), foreign);
    await until(
      () => bundle("default"),
      (text) => text?.includes(third.trim()) === true,
    );
  } finally {
    for (const one of servers) await one.close();
    await store.close();
  }
});
