import type { OwnerReferenceValue } from "../../schema/kind.ts";
import type { Engine } from "../engine/engine.ts";
import { inOrderOfOwners, OwnerReferences } from "./owner-references.ts";
import type { PlannedWrite, WriteAccess } from "./planned-write.ts";

/** Attempts while other writes change the objects. */
const attempts = 10;

/** An object was changed after its write was planned. */
class ObjectChanged extends Error {
  override name = "ObjectChanged";
}

/** Runs work that calls {@link executePlans}, again if other writes have changed its objects. */
export async function againWhileChanged<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ObjectChanged)) throw error;
      if (attempt === attempts) throw error.cause;
    }
  }
}

/**
 * Executes the writes of plans in an order in which owners exist before their dependents. References to owners that get new uids follow
 * them.
 *
 * @returns the plans with the objects as they were written, and the owner references that these don't get; those without an action last.
 */
export async function executePlans<P extends PlannedWrite>(
  engine: Engine,
  plans: readonly P[],
  access: WriteAccess,
  pause: () => Promise<void>,
): Promise<(P & { readonly dropped: readonly OwnerReferenceValue[] })[]> {
  const owners = new OwnerReferences(engine, (target) => access.mayRead(target));
  const done: (P & { readonly dropped: readonly OwnerReferenceValue[] })[] = [];
  for (const plan of inOrderOfOwners(plans)) {
    done.push(await write(engine, plan, owners, access));
    await pause();
  }
  return [...done, ...withoutAction(plans)];
}

/** Returns the plans in the order in which they would be executed. */
export function inOrder<P extends PlannedWrite>(
  plans: readonly P[],
): (P & { readonly dropped: readonly OwnerReferenceValue[] })[] {
  return [...inOrderOfOwners(plans).map((plan) => ({ ...plan, dropped: [] })), ...withoutAction(plans)];
}

function withoutAction<P extends PlannedWrite>(plans: readonly P[]) {
  return plans.filter(({ action }) => action === "none").map((plan) => ({ ...plan, dropped: [] }));
}

async function write<P extends PlannedWrite>(
  { store }: Engine,
  plan: P,
  owners: OwnerReferences,
  access: WriteAccess,
): Promise<P & { readonly dropped: readonly OwnerReferenceValue[] }> {
  const { action, target, now, key } = plan;
  try {
    if (action === "delete") {
      await access.remove(target, now!);
      return { ...plan, dropped: [] };
    }
    const { object, dropped } = await owners.link(plan);
    if (action === "create") owners.add(plan.oldUid, await access.create(target, object));
    else await access.update(target, object);
    return { ...plan, object, dropped };
  } catch (error) {
    const current = await store.get(key);
    const isSame = String(current?.revision) === String(now?.metadata.resourceVersion);
    throw isSame ? error : new ObjectChanged(`${key} was changed meanwhile`, { cause: error });
  }
}
