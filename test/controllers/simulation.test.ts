import { expect, test } from "vitest";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import type { NewObject } from "../../src/resources/clients/client.ts";
import { isRaced } from "../../src/resources/clients/races.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { randomFrom } from "../support/random.ts";
import { SimulatedWorld } from "./simulated-world.ts";

/** The longest pause after a failure is 30 s, and the longest time to live below 20 s. */
const restMs = 180_000;
const steps = 60;
const authority = createServingCertificates(["127.0.0.1"], new ManualClock(1_700_000_000_000)).caCertificate;

interface ModelNamespace {
  /** By name: whether the pod is on a node, and the claim that it uses. */
  readonly pods: Map<string, { readonly placed: boolean; readonly claim: string | undefined }>;
  /** By name: whether a deletion was asked for. */
  readonly claims: Map<string, boolean>;
  /** By name: whether the job has finished with a time to live. */
  readonly jobs: Map<string, boolean>;
  /** By name: how many pods the quota allows. */
  readonly quotas: Map<string, number>;
}

/** What a namespace holds at rest. */
function predicted({ pods, claims, jobs, quotas }: ModelNamespace) {
  const used = new Set([...pods.values()].map(({ placed, claim }) => (placed ? claim : undefined)));
  const claimsLeft = [...claims].filter(([name, deleted]) => !deleted || used.has(name));
  const jobsLeft = [...jobs].filter(([, ends]) => !ends).map(([name]) => name);
  const counts = {
    "count/jobs.batch": String(jobsLeft.length),
    configmaps: "1",
    persistentvolumeclaims: String(claimsLeft.length),
    pods: String(pods.size),
  };
  return {
    accounts: ["default"],
    maps: { "root-ca.crt": { "ca.crt": `${authority.trim()}\n` } },
    pods: [...pods.keys()].toSorted(),
    claims: Object.fromEntries(claimsLeft.map(([name, deleted]) => [name, { deleted, held: true }])),
    jobs: jobsLeft.toSorted(),
    quotas: Object.fromEntries(
      [...quotas].map(([name, limit]) => [name, { hard: { ...hardOf(limit) }, used: counts }]),
    ),
  };
}

const hardOf = (pods: number) => ({
  "count/jobs.batch": "100",
  configmaps: "100",
  persistentvolumeclaims: "100",
  pods: String(pods),
});

/** What a namespace holds. */
async function found({ client }: SimulatedWorld, namespace: string) {
  const list = async (apiVersion: string, kind: string) =>
    (await client.list<ApiObject & Record<string, unknown>>({ apiVersion, kind, namespace })).items;
  const names = async (apiVersion: string, kind: string) =>
    (await list(apiVersion, kind)).map(({ metadata }) => metadata.name!).toSorted();
  const by = async (kind: string, facts: (one: ApiObject & Record<string, unknown>) => unknown) =>
    Object.fromEntries((await list("v1", kind)).map((one) => [one.metadata.name, facts(one)]));
  return {
    accounts: await names("v1", "ServiceAccount"),
    maps: await by("ConfigMap", ({ data }) => data),
    pods: await names("v1", "Pod"),
    claims: await by("PersistentVolumeClaim", ({ metadata }) => ({
      deleted: metadata.deletionTimestamp !== undefined,
      held: metadata.finalizers?.includes("platform.io/pvc-protection") ?? false,
    })),
    jobs: await names("batch/v1", "Job"),
    quotas: await by("ResourceQuota", ({ status }) => status),
  };
}

/** Users who do what the dice say, and what is to become of it. */
class Users {
  readonly model = new Map<string, ModelNamespace>();
  private made = 0;

  constructor(
    private readonly world: SimulatedWorld,
    private readonly random: () => number,
  ) {}

  async act(): Promise<void> {
    const acts = [this.pod, this.pod, this.endPod, this.claim, this.dropClaim, this.dropClaim, this.job];
    const more = [this.job, this.quota, this.changeQuota, this.dropQuota, this.spoil, this.dropNamespace];
    if (this.model.size === 0 || this.random() < 0.08) return this.namespace();
    const [name, held] = this.pick([...this.model])!;
    await this.pick([...acts, ...more])!.call(this, name, held);
  }

  private pick<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.random() * all.length)];
  }

  private newName(what: string): string {
    return `${what}-${++this.made}`;
  }

  private async namespace(): Promise<void> {
    const name = this.newName("n");
    await this.world.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    this.model.set(name, { pods: new Map(), claims: new Map(), jobs: new Map(), quotas: new Map() });
  }

  private async dropNamespace(name: string): Promise<void> {
    if (this.random() < 0.6) return;
    await this.world.client.delete({ apiVersion: "v1", kind: "Namespace", name });
    this.model.delete(name);
  }

  private async pod(namespace: string, { pods, claims }: ModelNamespace): Promise<void> {
    const name = this.newName("p");
    const placed = this.random() < 0.7;
    const claim = this.pick([...claims].filter(([, deleted]) => !deleted).map(([one]) => one));
    const volumes = claim && [{ name: "data", persistentVolumeClaim: { claimName: claim } }];
    await this.world.client.create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "c", image: "i" }],
        ...(placed ? { nodeName: "node" } : {}),
        ...(volumes === undefined ? {} : { volumes }),
      },
    });
    pods.set(name, { placed, claim });
  }

  private async endPod(namespace: string, { pods }: ModelNamespace): Promise<void> {
    const name = this.pick([...pods.keys()]);
    if (name === undefined) return;
    await this.world.client.delete({ apiVersion: "v1", kind: "Pod", namespace, name });
    pods.delete(name);
  }

  private async claim(namespace: string, { claims }: ModelNamespace): Promise<void> {
    const name = this.newName("c");
    // As the admission plugin StorageObjectInUseProtection makes them.
    const metadata = { name, namespace, finalizers: ["platform.io/pvc-protection"] };
    const resources = { requests: { storage: "1Gi" } };
    const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "", resources };
    await this.world.client.create({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
    claims.set(name, false);
  }

  private async dropClaim(namespace: string, { claims }: ModelNamespace): Promise<void> {
    const name = this.pick([...claims].filter(([, deleted]) => !deleted).map(([one]) => one));
    if (name === undefined) return;
    await this.world.client.delete({ apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name });
    claims.set(name, true);
  }

  private async job(namespace: string, { jobs }: ModelNamespace): Promise<void> {
    const name = this.newName("j");
    const [finished, ends] = [this.random() < 0.7, this.random() < 0.7];
    const seconds = Math.floor(this.random() * 20);
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const made = await this.world.client.create({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name, namespace },
      spec: { template, ...(ends ? { ttlSecondsAfterFinished: seconds } : {}) },
    });
    jobs.set(name, finished && ends);
    if (!finished) return;
    const time = new Date(this.world.clock.now()).toISOString().replace(/\.\d+/, "");
    const conditions = [{ type: "Complete", status: "True", lastProbeTime: time, lastTransitionTime: time }];
    const status = { conditions, startTime: time, completionTime: time };
    await this.world.client.update({ ...made, status } as unknown as NewObject, "status");
  }

  private async quota(namespace: string, { quotas }: ModelNamespace): Promise<void> {
    const name = this.newName("q");
    const limit = Math.floor(this.random() * 50);
    const spec = { hard: hardOf(limit) };
    await this.world.client.create({
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name, namespace },
      spec,
    });
    quotas.set(name, limit);
  }

  private async changeQuota(namespace: string, { quotas }: ModelNamespace): Promise<void> {
    const name = this.pick([...quotas.keys()]);
    if (name === undefined) return;
    const limit = Math.floor(this.random() * 50);
    const reference = { apiVersion: "v1", kind: "ResourceQuota", namespace, name };
    await this.world.client.patch(reference, { spec: { hard: hardOf(limit) } });
    quotas.set(name, limit);
  }

  private async dropQuota(namespace: string, { quotas }: ModelNamespace): Promise<void> {
    const name = this.pick([...quotas.keys()]);
    if (name === undefined) return;
    await this.world.client.delete({ apiVersion: "v1", kind: "ResourceQuota", namespace, name });
    quotas.delete(name);
  }

  /** Somebody deletes or changes what controllers keep. */
  private async spoil(namespace: string): Promise<void> {
    const { client } = this.world;
    const map = { apiVersion: "v1", kind: "ConfigMap", namespace, name: "root-ca.crt" };
    const account = { apiVersion: "v1", kind: "ServiceAccount", namespace, name: "default" };
    const changed = { data: { "ca.crt": "another", more: "m" } };
    const dice = this.random();
    try {
      if (dice < 0.3) await client.delete(map);
      else if (dice < 0.6) await client.delete(account);
      else await client.patch(map, changed);
    } catch (error) {
      // The controllers may not have made it yet.
      if (!isRaced(error)) throw error;
    }
  }
}

/** Everything that differs from the model when all is at rest. */
async function compare(world: SimulatedWorld, model: Users["model"], seed: number): Promise<void> {
  const { items } = await world.client.list({ apiVersion: "v1", kind: "Namespace" });
  const names = items.map(({ metadata }) => metadata.name!);
  expect(names.toSorted(), `PLINTH_SEED=${seed}`).toEqual([...model.keys()].toSorted());
  for (const [name, held] of model) {
    expect(await found(world, name), `PLINTH_SEED=${seed}: namespace ${name}`).toEqual(predicted(held));
  }
  const [claims, pods] = [
    await world.client.list({ apiVersion: "v1", kind: "PersistentVolumeClaim" }),
    await world.client.list({ apiVersion: "v1", kind: "ServiceAccount" }),
  ];
  for (const { metadata } of [...claims.items, ...pods.items]) {
    expect(model.has(metadata.namespace!), `PLINTH_SEED=${seed}: ${metadata.name} is left`).toBe(true);
  }
}

/** @returns how many faults the controllers met. */
async function simulate(seed: number): Promise<SimulatedWorld["met"]> {
  const random = randomFrom(seed);
  const world = new SimulatedWorld(random, authority);
  const users = new Users(world, random);
  try {
    await world.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "platform-system" } });
    users.model.set("platform-system", {
      pods: new Map(),
      claims: new Map(),
      jobs: new Map(),
      quotas: new Map(),
    });
    await world.start();
    for (let step = 0; step < steps; step++) {
      const dice = random();
      if (dice < 0.05) await world.crash();
      else if (dice < 0.15) await world.start();
      else await users.act();
      if (random() < 0.5) await world.clock.advance(Math.floor(random() * 3000));
    }
    world.faulty = false;
    await world.start();
    await world.clock.advance(restMs);
    await compare(world, users.model, seed);
    return world.met;
  } catch (error) {
    throw new Error(`PLINTH_SEED=${seed} does the same again: ${String(error)}`, { cause: error });
  } finally {
    await world.close();
  }
}

const chosen = process.env["PLINTH_SEED"]?.split(",").map(Number);
const seeds = chosen ?? Array.from({ length: 30 }, (_, index) => index + 1);
test.each(seeds)(
  "controllers reach the state that the model predicts despite conflicts and crashes (seed %i)",
  async (seed) => {
    const { conflict, refused, answerLost } = await simulate(seed);
    expect(conflict + refused + answerLost).toBeGreaterThan(0);
  },
);
