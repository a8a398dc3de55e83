import { apiGroup } from "../vocabulary/names.ts";
import { deepClone, type JsonValue } from "../base/json/value.ts";
import { defaultRelease, type Release } from "../base/releases.ts";
import type { Released } from "../base/release-rows.ts";
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { Cause } from "../base/status-error.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { ApiObject, ObjectMetaValue } from "./api-object.ts";
import type { Column, RowCondition } from "./columns.ts";
import type { KindContext } from "./context.ts";
import type { FieldReport } from "./faults.ts";
import type { CustomKindFacts } from "./custom-kind-facts.ts";
import { hasRows, resolveMembers, type ResolvedMembers as MembersInRelease } from "./members-in-release.ts";
import type { NameForm } from "./object-meta-rules.ts";
import type { Rules } from "./rules.ts";
import { structsIn } from "./structs.ts";
import type { KindEffect } from "./kind-effect.ts";
import type { ConnectSubresource, PartSubresource, StatusSpec, Verb } from "./subresources.ts";
import {
  field,
  string,
  type Fields,
  type Group,
  type LaterFields,
  type StaticFields,
  type StructType,
} from "./types.ts";

export type {
  ApiObject,
  ManagedFieldsEntryValue,
  ObjectMetaValue,
  OwnerReferenceValue,
} from "./api-object.ts";
export type { ConnectSubresource, PartSubresource, StatusSpec, Verb } from "./subresources.ts";
export type { KindEffect } from "./kind-effect.ts";
export type { Group } from "./types.ts";

/** Returns the full name of a group: `rbac.authorization.platform.io`. */
export function groupName(group: Group, vocabulary: Vocabulary): string {
  return group.suffixed ? apiGroup(vocabulary.groupSuffix, group.base) : group.base;
}

/** The type of the objects in the functions of a kind declaration. */
export type ObjectOf<F extends Fields> = StaticFields<F> & {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetaValue;
};

/** A subresource of an object (spec: conventions 4.1). */
export type Subresource<O = ApiObject> =
  PartSubresource<O> | ViewSubresource<O> | ActionSubresource | ConnectSubresource;

/** A subresource of another kind that reads and writes a part of the object, such as `scale`. */
export interface ViewSubresource<O = ApiObject> {
  readonly shape: "view";
  readonly verbs: readonly Verb[];
  readonly kind: () => Kind;
  /** Returns the fields of the view, without apiVersion, kind and metadata. */
  readonly read: (object: O) => Record<string, unknown>;
  /**
   * Checks that a get can show the object; absent if it always can.
   *
   * @throws {StatusError} InternalError: the object lacks a field of the view.
   */
  readonly checkShown?: (object: O) => void;
  /** Returns the fields of the view that a write starts from; absent if they are those of `read`. */
  readonly basis?: (object: O) => Record<string, unknown>;
  /**
   * Copies the fields of the written view to the copy of the live object.
   *
   * @throws {StatusError} BadRequest: the view lacks a field that the object lacks too.
   */
  readonly write: (copy: O, view: ApiObject) => void;
  /** The written fields, for managed fields: the path of each in the view and in the object. */
  readonly fields: readonly { readonly view: readonly string[]; readonly object: readonly string[] }[];
}

/** An action on the object, such as `eviction`; `resources/actions/` has the implementations. */
export interface ActionSubresource {
  readonly shape: "action";
  readonly verbs: readonly Verb[];
  /** Kind of the request and response body. */
  readonly kind: () => Kind;
  /** Older versions with the same fields that are accepted in the request body. */
  readonly olderVersions?: readonly string[];
}

/**
 * Conversion between a version and the storage version (spec: conventions 9). Both functions may modify their argument. The
 * caller sets apiVersion and kind of the result. Such a kind is validated by its own `validate`, else by that of the storage version.
 */
export interface Conversion {
  /** Returns the kind in its storage version. */
  readonly stored: () => Kind;
  readonly toStored: (object: ApiObject, context: KindContext) => ApiObject;
  readonly fromStored: (object: ApiObject, context: KindContext) => ApiObject;
  /** Names of selectable fields in the storage version, if they differ. */
  readonly selectableNames?: Readonly<Record<string, string>>;
}

// prettier-ignore
const allVerbs: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/**
 * The declaration of a kind in one version, except its fields. All functions are pure. Their objects have only
 * declared fields, without nulls and empty values; only a parameter with the name `copy` may be modified. What only some releases
 * have is a row. The members are in groups by the time of their use.
 */
export interface KindMembers<O> {
  // Names and paths.
  readonly group: Group;
  readonly version: string;
  readonly name: string;
  /** Plural name, as in paths: `rolebindings`. */
  readonly resource: string;
  /** Name of the collection in the store, if other objects are stored under that of the resource in other releases. */
  readonly collection?: string;
  readonly singular: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly doc: string;
  /** Absent for a kind that the server only stores and serves. */
  readonly effect?: KindEffect;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Format of `metadata.name`; a DNS subdomain by default. */
  readonly nameForm?: NameForm;
  /** The format of `metadata.name` where a feature gate is enabled. */
  readonly gatedNameForm?: { readonly gate: string; readonly form: NameForm };
  /** A create of this virtual kind is equivalent to a create of this subresource of the object with the same name. */
  readonly subresourceAlias?: { readonly resource: string; readonly subresource: string };
  /** Whether field names have a prefix that depends on the vocabulary, such as `x-kubernetes-`; see `kind-in-vocabulary.ts`. */
  readonly hasPrefixedFields?: boolean;

  // What is served.
  /** Defaults to all. A kind with only `create` is virtual: its objects are never stored. */
  readonly verbs?: readonly Verb[];
  /** The objects aren't stored; the server computes them per request. Such a kind has only `get` and `list`. */
  readonly computed?: boolean;
  /** False for versions that must be enabled by `--runtime-config` (spec: conventions 9.1). */
  readonly servedByDefault?: boolean;
  /** Feature gate without which it isn't served. */
  readonly gate?: string;
  readonly subresources?: Readonly<Record<string, Released<Subresource<O>>>>;
  /** Selectable fields besides metadata.name and metadata.namespace; each function returns the value to compare. */
  readonly selectable?: Readonly<Record<string, Released<(object: O) => string>>>;
  /** For a version other than the storage version. */
  readonly conversion?: Conversion;
  /** For a kind that is defined by a CustomResourceDefinition. */
  readonly custom?: CustomKindFacts;
  /** The declaration of which this kind is a copy with other fields; see {@link declarationOf}. */
  readonly declaration?: Kind;

  // When an object is read: defaults and ownership.
  /** Sets defaults that depend on several fields. */
  readonly fillDefaults?: Rules<(copy: O, context: KindContext) => void>;
  /** Fields that are excluded from field ownership, because every update of the main resource resets them. */
  readonly unowned?: readonly string[] | undefined;
  /** Annotations that represent a field. They are omitted from PartialObjectMetadata. */
  readonly fieldAnnotations?: readonly string[];

  // At every create and update: rules and warnings.
  readonly validate?: Rules<(object: O, report: FieldReport, context: KindContext) => void>;
  /**
   * Rules that are checked after all others; the report already has their faults. Slow rules yield to the event loop.
   *
   * @param live the stored object; undefined for a create.
   */
  readonly validateLast?: (
    object: O,
    live: O | undefined,
    report: FieldReport,
    context: KindContext,
  ) => MaybePromise<void>;
  /** Converts the faults for the response, if Kubernetes validates the object in another form. */
  readonly convertFaults?: (faults: readonly Cause[], object: O) => readonly Cause[];
  /** Returns messages for Warning headers of a successful write. */
  readonly warnings?: Rules<(object: O, context: KindContext, live: O | undefined) => readonly string[]>;
  /** Whether finalizers may be names without a domain. */
  readonly anyFinalizer?: boolean;

  // At a create.
  /** Resets fields that a create may not set. */
  readonly prepareCreate?: Rules<(copy: O, context: KindContext) => void> | undefined;
  /** Additional rules for new objects. */
  readonly validateCreate?: Rules<(object: O, report: FieldReport, context: KindContext) => void>;
  /** Whether the server generates the name of a new object without a name, as Kubernetes does for limit ranges. */
  readonly generatesName?: boolean;

  // At an update.
  /** Resets fields that an update of the main resource may not change. */
  readonly prepareUpdate?: Rules<(copy: O, live: O, context: KindContext) => void>;
  readonly validateUpdate?: Rules<(object: O, live: O, report: FieldReport, context: KindContext) => void>;
  /** The part whose changes increment `metadata.generation`, which starts at 1. Absent: no generation. */
  readonly generationOf?: Released<(object: O) => unknown>;
  /** PUT on a missing object creates it (spec: conventions 4.2). */
  readonly createOnUpdate?: boolean;
  /** Whether an update may omit the resource version; the default is true. */
  readonly allowUnconditionalUpdate?: boolean;

  // At a deletion.
  /**
   * Returns the grace period of a deletion in seconds, from the requested one (undefined if none). Kinds without this function are
   * deleted immediately.
   */
  readonly gracePeriodSeconds?: (object: O, requested: number | bigint | undefined) => number | bigint;
  /** Modifies the copy at the first delete request; may add finalizers. */
  readonly beginDelete?: (copy: O, context: KindContext) => void;
  /** Modifies the copy when a deletion starts and finalizers keep the object. */
  readonly prepareDelete?: (copy: O) => void;
  /** Whether finalizers outside of `metadata.finalizers`, such as `spec.finalizers` of a Namespace, are empty. */
  readonly isFinalized?: (object: O) => boolean;
  /** What a deletion without propagation policy does with dependents; default: delete them. `Unsupported` ignores propagation policies. */
  readonly defaultGarbageCollectionPolicy?: "DeleteDependents" | "OrphanDependents" | "Unsupported";
  /** Warning for a deletion without propagation policy. */
  readonly orphanWarning?: string;
  /** DELETE returns the deleted object instead of a Status, as kube-apiserver does for some kinds. */
  readonly returnsDeletedObject?: boolean;

  // At a write of the status.
  /** The `status` subresource, in addition to `subresources`. */
  readonly status?: Released<StatusSpec<O>>;

  // In tables.
  /** Table columns; kinds without them have the default table. */
  readonly columns?: readonly Released<Column<O>>[];
  /** Returns the conditions of the table row, such as Completed (spec: conventions 2.4). */
  readonly rowConditions?: (object: O) => readonly RowCondition[];
}

/** Defaults for omitted members of a declaration. */
const memberDefaults = {
  servedByDefault: true,
  createOnUpdate: false,
  returnsDeletedObject: false,
  defaultGarbageCollectionPolicy: "DeleteDependents",
  anyFinalizer: false,
  hasPrefixedFields: false,
  allowUnconditionalUpdate: true,
  nameForm: "subdomain",
  verbs: allVerbs,
  selectable: {},
  subresources: {},
} satisfies Partial<KindMembers<ApiObject>>;

/** The declaration of a kind. */
export type KindSpec<F extends Fields> = KindMembers<ObjectOf<NoInfer<F>>> & {
  /** Fields in addition to apiVersion and kind. */
  readonly fields: F | (() => F);
  /** See {@link StructRules.later}; for the fields of the kind itself. */
  readonly later?: () => LaterFields;
};

/** The members of a kind with rows, in one release. */
type ResolvedMembers = MembersInRelease<KindMembers<ApiObject>>;

/** The members of a kind that have no rows. */
type PlainMembers = Omit<KindMembers<ApiObject>, keyof ResolvedMembers | "status">;

/** The members of a kind that have a default and no rows. */
type DefaultedName = Exclude<keyof typeof memberDefaults, keyof ResolvedMembers>;

/**
 * A kind in a release, without the static type of its objects: its members are those of {@link KindMembers}, with defaults and without rows.
 * A declared kind is that of the default release.
 */
export type Kind = Omit<PlainMembers, DefaultedName> &
  Required<Pick<PlainMembers, DefaultedName>> &
  ResolvedMembers &
  KindParts;

interface KindParts {
  readonly type: StructType;
  /** The declared members; only if some have rows. */
  readonly released?: KindMembers<ApiObject>;
}

/**
 * Returns the declared constant of a kind. A server may have a copy of it, with the fields of its release and vocabulary, so
 * compare `declarationOf(resource.kind)` with a constant such as `Pod`, never the kind itself.
 */
export function declarationOf(kind: Kind): Kind {
  return kind.declaration ?? kind;
}

declare const objectType: unique symbol;
/** A kind with the static type of its objects. */
export type KindOf<F extends Fields> = Kind & { readonly [objectType]?: ObjectOf<F> };

/** The TypeScript type of a kind's objects. */
export type ObjectFor<K> = K extends { readonly [objectType]?: infer O } ? NonNullable<O> : never;

/** The fields `kind` and `apiVersion` of an object. */
export const typeMeta = {
  kind: field(undefined, string, "Kind of the object.").emitEmpty(),
  apiVersion: field(undefined, string, "API group and version of the object.").emitEmpty(),
};

/** Declares a kind. */
function kind<F extends Fields>(spec: KindSpec<F>): KindOf<F> {
  const { fields, later, ...rest } = spec;
  const allFields = () => ({ ...typeMeta, ...(typeof fields === "function" ? fields() : fields) });
  const { struct } = structsIn({ group: spec.group, version: spec.version });
  const type = struct(spec.name, spec.doc, allFields, later && { later });
  return kindOfType(rest as unknown as KindMembers<ApiObject>, type) as KindOf<F>;
}

/** Creates a kind from a type, such as that of a custom kind, and adds the defaults of omitted members. */
export function kindOfType(members: KindMembers<ApiObject>, type: StructType): Kind {
  return {
    ...membersOfRelease(members, defaultRelease),
    ...(hasRows(members) && { released: members }),
    type,
  };
}

/** Returns the members of a kind in a release, with the defaults of omitted ones. */
export function membersOfRelease(members: KindMembers<ApiObject>, release: Release): Omit<Kind, "type"> {
  const { status, ...rest } = resolveMembers(members, release);
  const withPart = status === undefined ? rest : withStatus(rest, status);
  return { ...memberDefaults, ...withPart } as Omit<Kind, "type">;
}

/** Adds the `status` subresource and its strategy functions to the members of a kind. */
function withStatus<M extends Partial<ResolvedMembers>>(members: M, status: StatusSpec): M {
  const { initial, keepsMetadata, unowned, write } = status;
  const { prepareCreate, prepareUpdate, subresources } = members;
  const part: PartSubresource = {
    verbs: ["get", "patch", "update"],
    ...(keepsMetadata && { keepsMetadata }),
    ...(unowned && { unowned }),
    merge(copy, written, context) {
      copy["status"] = write === undefined ? written["status"] : write(written, copy, context);
    },
  };
  return {
    ...members,
    prepareCreate(copy, context) {
      if (initial !== undefined) copy["status"] = initial(copy, context);
      prepareCreate?.(copy, context);
    },
    prepareUpdate(copy, live, context) {
      // A copy, because admission gets both objects and may modify the new one.
      copy["status"] = deepClone(live["status"] as JsonValue);
      prepareUpdate?.(copy, live, context);
    },
    subresources: { ...subresources, status: part },
  };
}

/** A kind declaration without group and version. */
type LocalSpec<F extends Fields> = Omit<KindSpec<F>, "group" | "version">;

/**
 * A kind with the type of its objects, and group, version and name, in its static type.
 *
 * @public The published types of the built-in kinds are written in terms of it.
 */
export type TypedKind<O, G extends Group, V extends string, N extends string> = Kind & {
  readonly [objectType]?: O;
  readonly group: G;
  readonly version: V;
  readonly name: N;
};

/** The {@link TypedKind} of a declaration with these fields. */
export type NamedKind<F extends Fields, G extends Group, V extends string, N extends string> = TypedKind<
  ObjectOf<F>,
  G,
  V,
  N
>;

/** Functions that declare the kinds and structs of a group version. */
export interface Declarations<G extends Group, V extends string> extends ReturnType<typeof structsIn> {
  /** Declares a kind by its {@link KindMembers}, without group and version, and its `fields`. */
  readonly kind: <const N extends string, F extends Fields>(
    spec: LocalSpec<F> & { readonly name: N },
  ) => NamedKind<F, G, V, N>;
}

/** Returns the functions that declare kinds and structs of a group version. */
export function declarationsIn<G extends Group, const V extends string>(
  group: G,
  version: V,
): Declarations<G, V> {
  return {
    ...structsIn({ group, version }),
    kind: <const N extends string, F extends Fields>(spec: LocalSpec<F> & { readonly name: N }) =>
      kind<F>({ group, version, ...spec }) as NamedKind<F, G, V, N>,
  };
}
