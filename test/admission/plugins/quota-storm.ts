import { defaultLeaderTimes } from "../../../src/controllers/leader-election.ts";
import { expect } from "vitest";
import type { Answer, Api } from "../../support/api.ts";

/** The hard limits of the quota. */
const hard = { pods: "12", "requests.cpu": "5", configmaps: "7" };
const most = { pods: 12, milli: 5000, configmaps: 7 };

const at = (where: string, resource: string) => `/api/v1/namespaces/${where}/${resource}`;

const pod = (name: string, milli: number) => ({
  metadata: { name },
  spec: {
    containers: [{ name: "c", image: "example.com/i:1", resources: { requests: { cpu: `${milli}m` } } }],
  },
});

/** Creates a namespace with a quota, and returns the resource version before objects are created in it. */
export async function limitedNamespace(api: Api, name: string): Promise<string> {
  for (const [path, object] of [
    ["/api/v1/namespaces", { metadata: { name } }],
    [at(name, "serviceaccounts"), { metadata: { name: "default" } }],
    [at(name, "resourcequotas"), { metadata: { name: "quota" }, spec: { hard } }],
  ] as const) {
    const { status } = await api.post(path, object);
    expect([201, 409]).toContain(status);
  }
  return (await api.get(at(name, "pods"))).body.metadata.resourceVersion;
}

/** Numbers of requests with status 201 and 403. */
export interface StormReport {
  readonly created: number;
  readonly rejected: number;
}

/**
 * Creates pods and config maps with `creators` concurrent loops, spread over the clients `apis`, and deletes some of them.
 * A loop ends when a request gets no response, because its server may have been killed.
 */
export async function storm(
  apis: readonly Api[],
  where: string,
  { creators, rounds, mark }: { creators: number; rounds: number; mark: string },
): Promise<StormReport> {
  let created = 0;
  let rejected = 0;
  const creator = async (number: number): Promise<void> => {
    const api = apis[number % apis.length]!;
    for (let round = 0; round < rounds; round++) {
      const ofPods = (number + round) % 3 !== 0;
      const resource = ofPods ? "pods" : "configmaps";
      const name = `${mark}-${number}-${round}`;
      const object = ofPods
        ? pod(name, 100 + ((number * 7 + round * 13) % 10) * 100)
        : { metadata: { name } };
      const answer = await answered(api.post(at(where, resource), object));
      if (answer === undefined) return;
      if (answer.status === 201) created++;
      else {
        expect([answer.status, answer.body.message]).toEqual([
          403,
          expect.stringContaining("exceeded quota"),
        ]);
        rejected++;
      }
      if (answer.status !== 201 || (number + round) % 2 === 0) continue;
      const gone = await answered(api.delete(`${at(where, resource)}/${name}?gracePeriodSeconds=0`));
      if (gone === undefined) return;
      expect(gone.status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: creators }, (_, number) => creator(number)));
  return { created, rejected };
}

async function answered(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch {
    return undefined;
  }
}

/** Goes through all that happened since a resource version: at no time was more used than the quota allows. */
export async function expectNeverOverrun(api: Api, where: string, since: string): Promise<void> {
  for (const resource of ["pods", "configmaps"] as const) {
    const there = new Map<string, number>();
    const watch = await api.watch(`${at(where, resource)}?resourceVersion=${since}&timeoutSeconds=1`);
    let largest = 0;
    for (const { type, object } of await watch.toEnd()) {
      const { name } = object.metadata;
      // Quotas count a pod no longer whose time to end is over: it is shown so just before it is gone.
      if (type === "DELETED" || object.metadata.deletionTimestamp !== undefined) there.delete(name);
      else there.set(name, Number.parseFloat(milliOf(object)));
      const milli = [...there.values()].reduce((sum, one) => sum + one, 0);
      largest = Math.max(largest, there.size);
      expect(there.size).toBeLessThanOrEqual(most[resource]);
      expect(milli).toBeLessThanOrEqual(most.milli);
    }
    expect(largest).toBeGreaterThan(0);
  }
}

function milliOf(object: { spec?: { containers: { resources: { requests: { cpu: string } } }[] } }): string {
  const cpu = object.spec?.containers[0]?.resources.requests.cpu ?? "0";
  return cpu.endsWith("m") ? cpu : `${Number(cpu) * 1000}`;
}

/** Another server takes the controllers over from a killed leader when its lease has expired. */
const takeoverMs = 2 * defaultLeaderTimes.leaseMs;

/** Expects the status to say what is there, and that exactly the rest can still be used: nothing has leaked. */
export async function expectNoLeak(api: Api, where: string): Promise<void> {
  const present = async () => {
    const [pods, maps] = await Promise.all([api.get(at(where, "pods")), api.get(at(where, "configmaps"))]);
    const milli = (pods.body.items as Parameters<typeof milliOf>[0][]).reduce(
      (sum, one) => sum + Number.parseFloat(milliOf(one)),
      0,
    );
    return { pods: pods.body.items.length, milli, configmaps: maps.body.items.length };
  };
  const { pods, milli, configmaps } = await present();
  await expect
    .poll(
      async () => {
        const { used } = (await api.get(`${at(where, "resourcequotas")}/quota`)).body.status;
        const cpu = used["requests.cpu"] as string;
        return {
          pods: Number(used.pods),
          milli: cpu.endsWith("m") ? Number.parseFloat(cpu) : Number(cpu) * 1000,
          configmaps: Number(used.configmaps),
        };
      },
      { timeout: takeoverMs },
    )
    .toEqual({ pods, milli, configmaps });
  for (let left = most.configmaps - configmaps; left >= 0; left--) {
    const { status } = await api.post(at(where, "configmaps"), { metadata: { name: `last-${left}` } });
    expect(status).toBe(left > 0 ? 201 : 403);
  }
  if (pods < most.pods && milli < most.milli) {
    const rest = most.milli - milli;
    expect((await api.post(at(where, "pods"), pod("too-large", rest + 1))).status).toBe(403);
    expect((await api.post(at(where, "pods"), pod("fits", rest))).status).toBe(201);
  }
}
