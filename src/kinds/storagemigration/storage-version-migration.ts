import { since } from "../../base/release-rows.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import type { Conversion, Declarations, ObjectFor } from "../../schema/kind.ts";
import { removedIn } from "../../schema/added-fields.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string, time, type LaterFields } from "../../schema/types.ts";
import { nameColumn } from "../columns.ts";
import type { storagemigration } from "../groups.ts";
import { Condition } from "../meta/condition.ts";
import { GroupResource } from "../meta/group-resource.ts";
import { sameFields } from "../same-fields.ts";
import {
  checkMigrationStatus,
  checkSpec,
  checkSpecChange,
  type MigrationSpec,
  type MigrationStatus,
} from "./migration-rules.ts";

const specOf = ({ spec }: { readonly spec?: unknown }) => (spec ?? {}) as MigrationSpec;
const statusOf = ({ status }: { readonly status?: unknown }) => (status ?? {}) as MigrationStatus;

const resourceDoc = "Resource to migrate; immutable.";
const conditionsDoc = "Conditions of the migration: Running, Succeeded or Failed.";
const tokenDoc = "Continuation token of the next chunk of objects.";
const revision = field(
  2,
  string,
  "Resource version of the collection when the migration started; newer objects need no migration.",
);

/** As in the reference, its format isn't `name`. */
const { format: _, ...nameColumnWithoutFormat } = nameColumn;

/** The members of the kind that all versions have. */
const members = {
  name: "StorageVersionMigration",
  resource: "storageversionmigrations",
  singular: "storageversionmigration",
  scope: "Cluster",
  allowUnconditionalUpdate: false,
  gate: "StorageVersionMigrator",
  doc: "Rewrites all stored objects of a resource in its current storage version.",
  effect: { acts: "the controller `storage-version-migrator-controller` stores the objects again" },
  status: { initial: () => ({}), keepsMetadata: "all" },
} as const;

/** Declares StorageVersionMigration in v1 or v1beta1, which have the same fields. */
function declareMigration<const V extends string>(
  { kind, struct }: Declarations<typeof storagemigration, V>,
  version: { readonly servedByDefault: boolean; readonly conversion?: Conversion },
) {
  const spec = struct(
    "StorageVersionMigrationSpec",
    "Resource to migrate.",
    { resource: field(1, GroupResource, resourceDoc).declaredRequired() },
    {
      // The stored form of v1alpha1 has it.
      later: (): LaterFields => ({
        continueToken: [since("1.30", field(undefined, string, tokenDoc)), removedIn("1.35")],
      }),
    },
  );
  const status = struct("StorageVersionMigrationStatus", "Observed progress of the migration.", {
    conditions: field(1, list(Condition), conditionsDoc).mapBy("type").patchMerge("type"),
    resourceVersion: revision,
  });
  return kind({
    ...members,
    ...version,
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the migration.").emitEmpty(),
      spec: field(2, spec, "Resource to migrate.").emitEmpty(),
      status: field(3, status, "Observed progress of the migration.").emitEmpty(),
    },
    validateCreate(migration, report, context) {
      checkSpec(specOf(migration), report.at("spec"), context);
    },
    validateUpdate(migration, live, report, context) {
      if (context.subresource !== "") {
        return checkMigrationStatus(statusOf(migration), statusOf(live), report.at("status"), context);
      }
      checkSpec(specOf(migration), report.at("spec"), context);
      checkSpecChange(specOf(migration), specOf(live), report, context);
    },
    columns: [
      nameColumnWithoutFormat,
      {
        name: "Resource",
        type: "string",
        doc: "Resource to migrate.",
        cell: (one) => resourceText(specOf(one)),
      },
      {
        name: "Status",
        type: "string",
        doc: "Type of the last condition that is true.",
        cell: (one) => stateOf(one),
      },
    ],
  });
}

function resourceText({
  resource: { group = "", resource = "" } = { group: "", resource: "" },
}: MigrationSpec) {
  return group === "" ? resource : `${resource}.${group}`;
}

const states = new Set(["Running", "Succeeded", "Failed"]);

function stateOf(migration: { readonly status?: unknown }): string {
  const { conditions = [] } = statusOf(migration);
  return conditions.findLast(({ type, status }) => status === "True" && states.has(type))?.type ?? "Unknown";
}

/** Release 1.37 and later; the stored version. */
export const StorageVersionMigrationV1 = declareMigration(v1, { servedByDefault: true });
export type StorageVersionMigrationV1 = ObjectFor<typeof StorageVersionMigrationV1>;

/** Release 1.35 and later. */
export const StorageVersionMigrationV1beta1 = declareMigration(v1beta1, {
  servedByDefault: false,
  conversion: sameFields(() => StorageVersionMigrationV1),
});
export type StorageVersionMigrationV1beta1 = ObjectFor<typeof StorageVersionMigrationV1beta1>;

const GroupVersionResource = v1alpha1.struct("GroupVersionResource", "A group, version and resource.", {
  group: field(1, string, "API group of the resource."),
  version: field(2, string, "API version of the resource."),
  resource: field(3, string, "Name of the resource."),
});

const MigrationCondition = v1alpha1.struct("MigrationCondition", "A condition of a migration.", {
  type: field(1, string, "Type of the condition: Running, Succeeded or Failed.").declaredRequired(),
  status: field(2, string, "Status of the condition: True, False or Unknown.").declaredRequired(),
  lastUpdateTime: field(3, time, "Time of the last update of the condition.").emitEmpty(),
  reason: field(4, string, "Machine-readable reason in CamelCase."),
  message: field(5, string, "Human-readable details."),
});

const SpecV1alpha1 = v1alpha1.struct("StorageVersionMigrationSpec", "Resource to migrate.", {
  resource: field(1, GroupVersionResource, resourceDoc).declaredRequired(),
  continueToken: field(2, string, tokenDoc),
});

const StatusV1alpha1 = v1alpha1.struct(
  "StorageVersionMigrationStatus",
  "Observed progress of the migration.",
  {
    conditions: field(1, list(MigrationCondition), conditionsDoc).mapBy("type").patchMerge("type"),
    resourceVersion: revision,
  },
);

/** Returns an object whose conditions have another name for their time. */
function withTimes<O extends object>(object: O, from: string, to: string): O {
  const { conditions, ...status } = ((object as { status?: object }).status ?? {}) as {
    readonly conditions?: readonly Readonly<Record<string, unknown>>[];
  };
  if (conditions === undefined) return object;
  const renamed = conditions.map(({ [from]: at, ...rest }) => ({
    ...rest,
    ...(at !== undefined && { [to]: at }),
  }));
  return { ...object, status: { ...status, conditions: renamed } };
}

/** Releases 1.30 to 1.34. */
export const StorageVersionMigrationV1alpha1 = v1alpha1.kind({
  ...members,
  servedByDefault: false,
  conversion: {
    stored: () => StorageVersionMigrationV1,
    toStored: (object) => withTimes(object, "lastUpdateTime", "lastTransitionTime"),
    fromStored: (object) => withTimes(object, "lastTransitionTime", "lastUpdateTime"),
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the migration.").emitEmpty(),
    spec: field(2, SpecV1alpha1, "Resource to migrate.").emitEmpty(),
    status: field(3, StatusV1alpha1, "Observed progress of the migration.").emitEmpty(),
  },
  columns: [
    nameColumnWithoutFormat,
    {
      name: "Resource",
      type: "string",
      doc: "Resource to migrate.",
      cell({ spec }) {
        const { group = "", version = "", resource = "" } = spec?.resource ?? {};
        return `${resource}.${version}.${group}`;
      },
    },
  ],
});
export type StorageVersionMigrationV1alpha1 = ObjectFor<typeof StorageVersionMigrationV1alpha1>;
