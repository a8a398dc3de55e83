import { StatusError } from "../base/status-error.ts";
import { isTerminating, Namespace } from "../kinds/core/namespace.ts";
import type { Client, NewObject } from "../resources/client.ts";
import { namesOf, type Resource } from "../resources/registry.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { Controller } from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

/** How soon a namespace is looked at again whose content is held by finalizers. */
const remainingCheckMs = 1000;

/**
 * Deletes everything in a terminating namespace, then takes the system's finalizer off it, which lets it go (spec:
 * conventions 3.1, 4.1).
 */
export const namespaceDeletion: Controller = {
  name: "namespace-deletion",
  start(context) {
    const { registry, client } = context;
    const namespaces = registry.require(Namespace);
    const informer = context.informer(namespaces);
    const contents = registry.stored().filter((resource) => resource.namespaced);
    const queue = new WorkQueue(
      context.clock,
      async (name) => {
        const namespace = informer.get("", name);
        if (namespace === undefined) return void (await sweep(client, contents, name));
        if (!isTerminating(namespace)) return;
        const remaining = await sweep(client, contents, name);
        const done = await finish(client, registry.vocabulary, name, remaining);
        if (!done) queue.addLater(name, remainingCheckMs);
      },
      (name, error) => context.failed(this.name, name, error),
    );
    informer.listen((key, object, before) => {
      // A namespace that is gone is swept once more: a create may have passed its check just before the end.
      if (object === undefined ? before !== undefined : isTerminating(object)) queue.add(namesOf(key).name);
    });
    return { close: () => queue.close() };
  },
};

/** What is left in a namespace, by resource type. */
type Remaining = readonly { readonly resource: Resource; readonly objects: readonly ApiObject[] }[];

/** Asks for the deletion of everything in a namespace. */
async function sweep(client: Client, contents: readonly Resource[], namespace: string): Promise<Remaining> {
  const remaining: { resource: Resource; objects: ApiObject[] }[] = [];
  for (const resource of contents) {
    const { apiVersion, kind } = resource;
    const { items } = await client.list({ apiVersion, kind: kind.name, namespace });
    const left: ApiObject[] = [];
    for (const object of items) {
      const reference = { apiVersion, kind: kind.name, namespace, name: object.metadata.name! };
      const gone = await deleteOne(client, reference, object.metadata.uid!);
      if (!gone) left.push(object);
    }
    if (left.length > 0) remaining.push({ resource, objects: left });
  }
  return remaining;
}

async function deleteOne(
  client: Client,
  reference: { apiVersion: string; kind: string; namespace: string; name: string },
  uid: string,
): Promise<boolean> {
  try {
    return await client.delete(reference, { uid });
  } catch (error) {
    if (error instanceof StatusError && error.reason === "NotFound") return true;
    throw error;
  }
}

/** Takes the finalizer off an empty namespace, or says in its conditions what holds it; true when it was empty. */
async function finish(
  client: Client,
  vocabulary: Vocabulary,
  name: string,
  remaining: Remaining,
): Promise<boolean> {
  const namespace = await client.find<Namespace>({ apiVersion: "v1", kind: "Namespace", name });
  if (namespace === undefined) return true;
  if (remaining.length > 0) {
    const conditions = conditionsOf(remaining, namespace);
    if (JSON.stringify(conditions) !== JSON.stringify(namespace.status?.conditions)) {
      const status = { ...namespace.status, conditions };
      await client.update({ ...namespace, status } as unknown as NewObject, "status");
    }
    return false;
  }
  const finalizers = (namespace.spec?.finalizers ?? []).filter(
    (one) => one !== vocabulary.namespaceFinalizer,
  );
  if (finalizers.length === (namespace.spec?.finalizers ?? []).length) return true;
  await client.update(
    { ...namespace, spec: { ...namespace.spec, finalizers } } as unknown as NewObject,
    "finalize",
  );
  return true;
}

function conditionsOf(remaining: Remaining, namespace: Namespace) {
  const finalizers = new Map<string, number>();
  for (const { objects } of remaining) {
    for (const object of objects) {
      for (const name of object.metadata.finalizers ?? [])
        finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
    }
  }
  const what = remaining.map(({ resource, objects }) => {
    const type = resource.group === "" ? resource.name : `${resource.name}.${resource.group}`;
    return `${type} has ${objects.length} resource instances`;
  });
  const held = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`);
  const before = namespace.status?.conditions ?? [];
  const condition = (type: string, reason: string, message: string) => {
    const same = before.find((one) => one.type === type && one.message === message);
    const lastTransitionTime = same?.lastTransitionTime ?? namespace.metadata.deletionTimestamp;
    return { type, status: "True", lastTransitionTime: lastTransitionTime!, reason, message };
  };
  return [
    condition(
      "NamespaceContentRemaining",
      "SomeResourcesRemain",
      `Some resources are remaining: ${what.join(", ")}`,
    ),
    condition(
      "NamespaceFinalizersRemaining",
      "SomeFinalizersRemain",
      `Some content in the namespace has finalizers remaining: ${held.join(", ")}`,
    ),
  ];
}
