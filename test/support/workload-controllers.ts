import { createHash } from "node:crypto";
import type { Controller, ControllerContext } from "../../src/controllers/controller.ts";
import { WorkQueue } from "../../src/controllers/work-queue.ts";
import { DaemonSet } from "../../src/kinds/apps/daemon-set.ts";
import { Deployment } from "../../src/kinds/apps/deployment.ts";
import { ReplicaSet } from "../../src/kinds/apps/replica-set.ts";
import { StatefulSet } from "../../src/kinds/apps/stateful-set.ts";
import { CronJob } from "../../src/kinds/batch/cron-job.ts";
import { Job } from "../../src/kinds/batch/job.ts";
import type { ApiObject, Kind } from "../../src/schema/kind.ts";

// oxlint-disable-next-line typescript/no-explicit-any
type Fields = any;

/** An object that a controller makes for another one. */
interface Dependent {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly fields: Fields;
}

/** Small controllers of workloads for tests, whose objects have names that don't depend on chance. */
export const workloadControllers: readonly Controller[] = [
  controllerOf(Deployment, "deployment", (object, spec) => [
    {
      apiVersion: object.apiVersion,
      kind: "ReplicaSet",
      name: `${object.metadata.name}-${digestOf(spec.template)}`,
      fields: { spec: { replicas: spec.replicas, selector: spec.selector, template: spec.template } },
    },
  ]),
  controllerOf(ReplicaSet, "replicaset", (object, spec) => podsOf(object, spec, spec.replicas ?? 1)),
  controllerOf(StatefulSet, "statefulset", (object, spec) => podsOf(object, spec, spec.replicas ?? 1)),
  controllerOf(DaemonSet, "daemonset", (object, spec) => podsOf(object, spec, 2)),
  controllerOf(Job, "job", (object, spec) =>
    spec.suspend ? [] : podsOf(object, spec, spec.parallelism ?? 1),
  ),
  controllerOf(CronJob, "cronjob", () => []),
];

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 8);
}

function podsOf({ metadata }: ApiObject, { template }: Fields, count: number): Dependent[] {
  const one = (index: number) => ({
    apiVersion: "v1",
    kind: "Pod",
    name: `${metadata.name}-${index}`,
    fields: { metadata: { labels: template.metadata?.labels }, spec: template.spec },
  });
  return Array.from({ length: count }, (_, index) => one(index));
}

/** A controller that keeps the dependents of each object of a kind as they are desired; those that are too many are deleted. */
function controllerOf(
  kind: Kind,
  name: string,
  desired: (object: ApiObject, spec: Fields) => readonly Dependent[],
): Controller {
  return {
    name: `test-${name}`,
    start(context) {
      const informer = context.informer(context.registry.require(kind));
      const queue = new WorkQueue(
        context.clock,
        async (key) => {
          await informer.sync();
          const [namespace = "", object = ""] = key.split("/");
          const owner = informer.get(namespace, object);
          if (owner !== undefined && owner.metadata.deletionTimestamp === undefined)
            await reconcile(context, owner, desired(owner, owner["spec"]));
        },
        (key, error) => context.failed(name, key, error),
      );
      informer.listen((_, object) => {
        if (object !== undefined) queue.add(`${object.metadata.namespace}/${object.metadata.name}`);
      });
      return { close: () => queue.close() };
    },
  };
}

async function reconcile(
  { client }: ControllerContext,
  owner: ApiObject,
  desired: readonly Dependent[],
): Promise<void> {
  const { name = "", namespace = "", uid = "" } = owner.metadata;
  const ownerReferences = [{ apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true }];
  for (const { fields, name: own, ...type } of desired) {
    const { metadata, spec } = fields;
    const object = { ...type, metadata: { ...metadata, name: own, namespace, ownerReferences }, spec };
    const options = {
      fieldManager: `${owner.kind.toLowerCase()}-controller`,
      force: true,
      dryRun: false,
      namespace,
    };
    await client.applyObject({ value: object, duplicates: [] } as Fields, options);
  }
  const [first] = desired;
  if (first === undefined) return;
  const { items } = await client.list({ apiVersion: first.apiVersion, kind: first.kind, namespace });
  const names = new Set(desired.map((one) => one.name));
  for (const { metadata } of items)
    if (metadata.ownerReferences?.some((one) => one.uid === uid) && !names.has(metadata.name ?? ""))
      if (first.kind === "Pod")
        await client.delete({
          apiVersion: first.apiVersion,
          kind: first.kind,
          namespace,
          name: metadata.name!,
        });
}
