// What the examples of pages use; library.test.ts runs them in a process with the package.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import {
  createServer,
  declareGroup,
  manualClock,
  type BuiltInObjects,
  type NewObject,
  type Server,
  type ServerClient,
} from "plinth";

/** The variables of the examples. */
export interface World {
  readonly server: Server;
  readonly client: ServerClient<BuiltInObjects>;
  readonly devi: ServerClient<BuiltInObjects>;
  readonly pod: { apiVersion: "v1"; kind: "Pod"; name: string; namespace: string };
  readonly object: { apiVersion: "v1"; kind: "ConfigMap"; metadata: { name: string; namespace: string } };
  readonly start: (controller: (client: ServerClient<BuiltInObjects>, clock: unknown) => unknown) => void;
}

/** The members of Vitest that the examples use. */
export function expect(value: unknown) {
  return {
    toBe: (other: unknown) => assert.equal(value, other),
    toEqual: (other: unknown) => assert.deepEqual(value, other),
    toHaveLength: (length: number) => assert.equal((value as unknown[]).length, length),
  };
}

const hooks: (() => Promise<void>)[] = [];

/** Calls the hook at the end of the example. */
export function afterEach(hook: () => Promise<void>): void {
  hooks.push(hook);
}

/** Checks that kubectl would find the kubeconfig. */
export function execFileSync(program: string, [, kubeconfig = ""]: readonly string[]): void {
  assert.equal(program, "kubectl");
  assert(existsSync(kubeconfig));
}

export function handler(): void {}

export const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  name: "web",
  namespace: "shop",
} as const;

/** Checks that a program would find its kubeconfig. */
export function runYourProgram({ kubeconfig }: { readonly kubeconfig: string }): void {
  assert(existsSync(kubeconfig));
}

const { kind, field, string, ObjectMeta } = declareGroup("shop.example.com", "v1");
export const Order = kind({
  name: "Order",
  resource: "orders",
  singular: "order",
  scope: "Namespaced",
  doc: "An order of a customer.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the order."),
    item: field(2, string, "Name of the ordered item.").required(),
  },
});

const configMaps = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" } as const;
const labelSelector = "app=database";
export const database = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "main", namespace: "default", labels: { app: "database" } },
} as const satisfies NewObject;

/** A controller that creates a Secret for each database. */
export async function runController(client: ServerClient<BuiltInObjects>, _clock?: unknown): Promise<void> {
  const { items, resourceVersion } = await repeat(() => client.list({ ...configMaps, labelSelector }));
  for (const { metadata } of items) await createSecret(client, metadata.name!);
  client.watch(
    { ...configMaps, labelSelector, resourceVersion },
    ({ type, object }) => {
      if (type !== "DELETED") createSecret(client, object.metadata.name!).catch(ignore);
    },
    () => void runController(client).catch(ignore),
  );
}

/** At the end of an example the server closes, and later requests of the controller fail. */
function ignore(): void {}

async function createSecret(client: ServerClient<BuiltInObjects>, name: string): Promise<void> {
  const secret = { apiVersion: "v1", kind: "Secret" } as const;
  await repeat(async () => {
    if ((await client.find({ ...secret, name, namespace: "default" })) !== undefined) return;
    await client.create({ ...secret, metadata: { name, namespace: "default" } });
  });
}

async function repeat<T>(work: () => Promise<T>, times = 20): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (times === 0) throw error;
    return repeat(work, times - 1);
  }
}

/** Runs an example with a server of its own. */
export async function runExample(example: (world: World) => Promise<void>): Promise<void> {
  const server = await createServer({
    vocabulary: "kubernetes",
    clock: manualClock(),
    recordRequests: true,
    runtimeConfig: "tenancy.k8s.io/v1alpha1=true",
    keptHistory: ["configmaps=1h"],
  });
  try {
    const { client } = server;
    await client.apply("world.yaml");
    // Examples undo what the two did.
    const settings = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace: "shop" },
    };
    await client.apply(settings, { fieldManager: "importer" });
    const developer = server.as("devi", ["shop-developers"]);
    await developer.create({ ...settings, metadata: { name: "by-devi", namespace: "shop" } });
    const pod = { apiVersion: "v1", kind: "Pod", name: "web", namespace: "shop" } as const;
    await client.update({ ...(await client.get(pod)), status: { phase: "Running" } }, "status");
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "new", namespace: "shop" },
    } as const;
    // An example waits for the deletion.
    const remove = setTimeout(() => void client.delete(pod, undefined, "Background"), 100);
    await example({
      server,
      client,
      devi: server.as("devi", ["shop-developers"]),
      pod,
      object,
      start: (controller) => void controller(client, server.clock),
    });
    clearTimeout(remove);
    for (const hook of hooks.splice(0)) await hook();
  } finally {
    await server.close();
  }
}
