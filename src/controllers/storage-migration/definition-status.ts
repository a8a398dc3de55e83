import { Timestamps } from "../../base/time/timestamps.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { isRaced } from "../../resources/clients/races.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { ControllerContext } from "../controller.ts";
import { withCondition, type StoredCondition } from "./conditions.ts";

type Context = Pick<ControllerContext, "client" | "clock" | "registry">;

const type = "StorageMigrating";
const maxAttempts = 10;

interface Definition extends ApiObject {
  readonly spec: { readonly versions?: readonly { readonly name: string; readonly storage: boolean }[] };
  readonly status?: {
    readonly conditions?: readonly StoredCondition[];
    readonly storedVersions?: readonly string[];
  };
}

/** Sets the condition StorageMigrating of the definition of a resource. Does nothing for a resource without definition. */
export function markDefinition(context: Context, resource: string, migration: string): Promise<void> {
  return updateStatus(context, resource, ({ metadata, status }, now) => {
    const condition = {
      type,
      status: "True",
      reason: "MigrationRunning",
      message: `Migration ${migration} is running`,
      observedGeneration: Number(metadata.generation ?? 0),
    } as const;
    return { ...status, conditions: withCondition(status?.conditions ?? [], condition, now) };
  });
}

/**
 * Ends the condition StorageMigrating. After a success `storedVersions` is the storage version, unless the definition changed since
 * {@link markDefinition}.
 */
export function unmarkDefinition(context: Context, resource: string, succeeded: boolean): Promise<void> {
  return updateStatus(context, resource, ({ metadata, spec, status }, now) => {
    const conditions = status?.conditions ?? [];
    const generation = Number(metadata.generation ?? 0);
    const isSame = conditions.some((one) => one.type === type && one.observedGeneration === generation);
    const storage = spec.versions?.find((version) => version.storage)?.name;
    const outcome = isSame
      ? " and the stored versions have been updated"
      : " but the stored versions have not been updated due to a generation mismatch";
    const condition = {
      type,
      status: "False",
      reason: succeeded ? "MigrationSucceeded" : "MigrationFailed",
      message: succeeded ? `The migration has succeeded${outcome}` : "The migration has failed",
      observedGeneration: generation,
    } as const;
    return {
      ...status,
      conditions: withCondition(conditions, condition, now),
      ...(succeeded && isSame && storage !== undefined && { storedVersions: [storage] }),
    };
  });
}

/** Updates the status of a definition; computes it again after a conflicting write. */
async function updateStatus(
  { client, clock, registry }: Context,
  name: string,
  change: (definition: Definition, now: string) => object,
): Promise<void> {
  if (!registry.serves(CustomResourceDefinition)) return;
  const { apiVersion, kind } = registry.require(CustomResourceDefinition);
  for (let attempt = 1; ; attempt++) {
    const definition = await client.find<Definition>({ apiVersion, kind: kind.name, name });
    if (definition === undefined) return;
    const written = { ...definition, status: change(definition, new Timestamps(clock).now()) };
    try {
      await client.update(written, "status");
      return;
    } catch (error) {
      // The migration would take a conflict for its own.
      if (!isRaced(error)) throw error;
      if (attempt === maxAttempts)
        throw new Error(`${name}: the status could not be updated`, { cause: error });
    }
  }
}
