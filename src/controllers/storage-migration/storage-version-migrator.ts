import { objectAs } from "../../schema/api-object.ts";
import { applies, since } from "../../base/release-rows.ts";
import { Timestamps } from "../../base/time/timestamps.ts";
import { storagemigration } from "../../kinds/groups.ts";
import type { MigrationSpec } from "../../kinds/storagemigration/migration-rules.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { isStored, type Resource } from "../../resources/registry/registry.ts";
import { groupName, type ApiObject } from "../../schema/kind.ts";
import type { Controller } from "../controller.ts";
import { reconcileMatching, type ReconciliationDependencies } from "../reconcile-matching.ts";
import { isTrue, withCondition, type StoredCondition, type WrittenCondition } from "./conditions.ts";
import { markDefinition, unmarkDefinition } from "./definition-status.ts";
import { MigrationError, storeAgain } from "./stored-objects.ts";

/** How long a new migration waits for its resource, and how often it looks for it. */
const unknownResourceMs = 60_000;
const lookupIntervalMs = 1000;

const neededVerbs = ["update", "patch", "list"] as const;

/** A migration in its stored form. */
interface Migration extends ApiObject {
  readonly spec?: MigrationSpec;
  readonly status?: {
    readonly conditions?: readonly StoredCondition[];
    readonly resourceVersion?: string;
  };
}

/**
 * Runs StorageVersionMigrations, one at a time for each resource: stores all objects of the resource again that aren't stored in its
 * storage version. Release 1.30 and later.
 */
export const storageVersionMigrator: Controller<ReconciliationDependencies> = {
  name: "storage-version-migrator-controller",
  start(context) {
    const { registry } = context;
    const group = groupName(storagemigration, registry.vocabulary);
    const [resource] = registry.versionsOf(group, "storageversionmigrations");
    if (resource === undefined) return { close: () => Promise.resolve() };
    const waiting = new Map<string, Migration>();
    // The others would only wait again: each one lists all migrations.
    const wake = () => {
      for (const name of earliest(waiting.values())) {
        waiting.delete(name);
        running.add("", name);
      }
    };
    const migrator = new Migrator(context, resource, waiting, wake);
    const running = reconcileMatching<Migration>(context, {
      controller: this.name,
      kind: resource.kind,
      matters: () => true,
      async reconcile(migration) {
        let delayMs: number | undefined;
        // After a lost race the other write reconciles again.
        await unlessRaced(async () => {
          delayMs = await migrator.continue(migration);
        });
        return delayMs;
      },
      removed(_, name) {
        waiting.delete(name);
        wake();
      },
    });
    return {
      failing: () => running.failing(),
      close() {
        migrator.isClosed = true;
        return running.close();
      },
    };
  },
};

class Migrator {
  isClosed = false;

  /**
   * @param resource the resource type of migrations.
   * @param waiting migrations that wait for another one of their resource, by name.
   * @param wake continues the earliest waiting migration of each resource.
   */
  constructor(
    private readonly context: ReconciliationDependencies,
    private readonly resource: Resource,
    private readonly waiting: Map<string, Migration>,
    private readonly wake: () => void,
  ) {}

  /**
   * Does the next step of a migration. Each step but the last writes the status, which reconciles the migration again.
   *
   * @returns after how many milliseconds to continue; undefined for never.
   */
  async continue(migration: Migration): Promise<number | undefined> {
    const conditions = migration.status?.conditions ?? [];
    if (hasEnded(migration)) {
      if (isTrue(conditions, "Running")) await this.end(migration, isTrue(conditions, "Succeeded"), []);
      return undefined;
    }
    if (!isTrue(conditions, "Running")) return this.begin(migration);
    const migrated = await this.migratedResource(migration);
    if (typeof migrated === "number") return migrated;
    if (typeof migrated === "string") return this.fail(migration, migrated);
    const { resourceVersion = "" } = migration.status ?? {};
    if (resourceVersion !== "") return this.run(migration, migrated, Number(resourceVersion));
    const { revision } = await this.context.store.range({ prefix: migrated.storePrefix, limit: 1 });
    return this.write(migration, [], String(revision));
  }

  /** Sets Running, unless another migration of the resource comes first. */
  private async begin(migration: Migration): Promise<undefined> {
    const { name = "" } = migration.metadata;
    this.waiting.set(name, migration);
    const { apiVersion, kind } = this.resource;
    const { items } = await this.context.client.list<Migration>({ apiVersion, kind: kind.name });
    const others = items.filter(
      (one) => resourceName(one) === resourceName(migration) && one.metadata.name !== name && !hasEnded(one),
    );
    const isNext = others.every(
      (one) => !isTrue(one.status?.conditions ?? [], "Running") && isBefore(migration, one),
    );
    if (!isNext) return undefined;
    this.waiting.delete(name);
    if (this.marksDefinitions) await markDefinition(this.context, resourceName(migration), name);
    return this.write(migration, [runningCondition()]);
  }

  /** Returns the resource that is migrated, when to look for it again, or why it can't be migrated. */
  private async migratedResource({ metadata, spec }: Migration): Promise<Resource | number | string> {
    const { registry, clock } = this.context;
    await registry.sync();
    const { group = "", resource = "", version = "" } = spec?.resource ?? {};
    const versions = registry.versionsOf(group, resource);
    const current = version === "" ? versions[0] : versions.find((one) => one.version === version);
    if (current === undefined) {
      const ageMs = clock.now() - Date.parse(metadata.creationTimestamp ?? "");
      return ageMs < unknownResourceMs ? lookupIntervalMs : "resource does not exist in discovery";
    }
    const { verbs } = current.kind;
    if (isStored(current) && neededVerbs.every((verb) => verbs.includes(verb))) return current;
    const name = `${group}/${current.version}, Resource=${resource}`;
    return `resource "${name}" does not support discovery operations: [${neededVerbs.join(" ")}]`;
  }

  private async run(migration: Migration, migrated: Resource, upTo: number): Promise<undefined> {
    try {
      if (!(await storeAgain(this.context, migrated, upTo, () => this.isClosed))) return undefined;
    } catch (error) {
      if (!(error instanceof MigrationError)) throw error;
      const { remaining, total, message } = error;
      if (!error.isTransient) {
        return this.fail(
          migration,
          `${remaining}/${total} not yet migrated. migration encountered unhandled error: ${message}`,
        );
      }
      const progress = `, ${remaining}/${total} objects not yet migrated; transient error: ${message}`;
      await unlessRaced(() => this.write(migration, [runningCondition(progress)]));
      throw error;
    }
    const condition = {
      type: "Succeeded",
      status: "True",
      reason: "StorageVersionMigrationSucceeded",
      message: "Migration completed",
    } as const;
    return this.end(migration, true, [condition]);
  }

  private fail(migration: Migration, message: string): Promise<undefined> {
    const reason = "StorageVersionMigrationFailed";
    return this.end(migration, false, [{ type: "Failed", status: "True", reason, message }]);
  }

  /** Ends a migration and lets the next one of the resource run. */
  private async end(
    migration: Migration,
    succeeded: boolean,
    conditions: readonly WrittenCondition[],
  ): Promise<undefined> {
    if (this.marksDefinitions) await unmarkDefinition(this.context, resourceName(migration), succeeded);
    const ended = {
      type: "Running",
      status: "False",
      reason: "MigrationCompleted",
      message: "Migration completed",
    } as const;
    await this.write(migration, [ended, ...conditions]);
    this.wake();
    return undefined;
  }

  /** Writes conditions and, if it is set, the resource version. Does nothing if they don't change. */
  private async write(
    migration: Migration,
    conditions: readonly WrittenCondition[],
    resourceVersion = migration.status?.resourceVersion,
  ): Promise<undefined> {
    const { client, clock } = this.context;
    const now = new Timestamps(clock).now();
    let changed = migration.status?.conditions ?? [];
    for (const condition of conditions) changed = withCondition(changed, condition, now);
    const status = { conditions: changed, ...(resourceVersion !== undefined && { resourceVersion }) };
    const { apiVersion, kind } = this.resource;
    const stored = objectAs<ApiObject>({ ...structuredClone(migration), status });
    const { vocabulary, release } = this.context.registry;
    const kindContext = { vocabulary, release, enabled: () => true, subresource: "status" };
    const converted = kind.conversion?.fromStored(stored, kindContext) ?? stored;
    const written = { ...converted, apiVersion };
    await client.update(written, "status");
    return undefined;
  }

  /** Whether the definition of a custom resource shows its migration. */
  private get marksDefinitions(): boolean {
    return marksDefinitions(this.context.registry);
  }
}

const marksDefinitions = applies(since("1.36"));

function runningCondition(progress = ""): WrittenCondition {
  const message = `The migration is running${progress}`;
  return { type: "Running", status: "True", reason: "MigrationRunning", message };
}

function hasEnded({ status }: Migration): boolean {
  const conditions = status?.conditions ?? [];
  return isTrue(conditions, "Succeeded") || isTrue(conditions, "Failed");
}

/** The name of the resource with its group, as in the name of its definition. */
function resourceName({ spec }: Migration): string {
  const { group = "", resource = "" } = spec?.resource ?? {};
  return `${resource}.${group}`;
}

/** Whether a migration was created before another one. */
function isBefore(one: Migration, other: Migration): boolean {
  const order = ({ metadata }: Migration) => `${metadata.creationTimestamp ?? ""} ${metadata.name ?? ""}`;
  return order(one) < order(other);
}

/** Returns the name of the migration of each resource that was created first. */
function earliest(migrations: Iterable<Migration>): readonly string[] {
  const byResource = new Map<string, Migration>();
  for (const migration of migrations) {
    const resource = resourceName(migration);
    const other = byResource.get(resource);
    if (other === undefined || isBefore(migration, other)) byResource.set(resource, migration);
  }
  return Array.from(byResource.values(), ({ metadata }) => metadata.name ?? "");
}
