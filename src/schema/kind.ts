import { deepClone, type JsonValue } from "../base/json/value.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Cause } from "../base/status-error.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { ApiObject, ObjectMetaValue } from "./api-object.ts";
import type { Column, RowCondition } from "./columns.ts";
import type { KindContext } from "./context.ts";
import type { FieldReport } from "./faults.ts";
import type { NameForm } from "./object-meta-rules.ts";
import { structsIn } from "./structs.ts";
import { field, string, type Fields, type Group, type StaticFields, type StructType } from "./types.ts";

export type {
  ApiObject,
  ManagedFieldsEntryValue,
  ObjectMetaValue,
  OwnerReferenceValue,
} from "./api-object.ts";
export type { Group } from "./types.ts";

/** The group's full name: `rbac.authorization.platform.io`. */
export function groupName(group: Group, vocabulary: Vocabulary): string {
  return group.suffixed ? `${group.base}.${vocabulary.groupSuffix}` : group.base;
}

/** A kind's object as its own functions see it. */
export type ObjectOf<F extends Fields> = StaticFields<F> & {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetaValue;
};

/** A subresource of an object (spec: conventions 4.1). */
export type Subresource<O = ApiObject> =
  PartSubresource<O> | ViewSubresource<O> | ActionSubresource | ConnectSubresource;

/** Members of metadata that a write to a part of the object may leave as they are. */
export type KeptMetadata = "labels" | "annotations" | "finalizers" | "ownerReferences" | "deletionTimestamp";

/** A part of the object that is written by itself, such as `status`. */
export interface PartSubresource<O = ApiObject> {
  readonly shape?: undefined;
  readonly verbs: readonly Verb[];
  /**
   * Members of metadata that a write to the part doesn't change; `all` but managed fields. Absent: the write's metadata
   * replaces that of the live object, as in a write of the whole object.
   */
  readonly keepsMetadata?: "all" | readonly KeptMetadata[];
  /** Paths of members that no writer of the part owns, though the write may change them. */
  readonly unowned?: readonly (readonly string[])[];
  /** Takes over from `written` into the copy of the live object what the part may change beside metadata, nothing else. */
  readonly merge: (copy: O, written: O, context: KindContext) => void;
}

/**
 * The `status` subresource, with verbs get, patch and update. An update of the object itself leaves the status as it is; it
 * is written through the subresource only, which changes nothing else but metadata.
 */
export interface StatusSpec<O = ApiObject> {
  /** The status of a new object, whatever its creator sent; absent where the creator's stays. */
  readonly initial?: (copy: O, context: KindContext) => StatusOf<O>;
  /** As for {@link PartSubresource}. */
  readonly keepsMetadata?: "all" | readonly KeptMetadata[];
  /** As for {@link PartSubresource}. */
  readonly unowned?: readonly (readonly string[])[];
  /** The status that a write through the subresource gives; that of `written` unless declared. */
  readonly write?: (written: O, live: O, context: KindContext) => StatusOf<O>;
}

type StatusOf<O> = O extends { status?: infer S } ? S | undefined : unknown;

/** Another kind that shows a part of the object and changes it, such as `scale`. */
export interface ViewSubresource<O = ApiObject> {
  readonly shape: "view";
  readonly verbs: readonly Verb[];
  readonly kind: () => Kind;
  /** The view's fields beside apiVersion, kind and metadata. */
  readonly read: (object: O) => Record<string, unknown>;
  /** Takes over what the written view says into the copy of the live object. */
  readonly write: (copy: O, view: ApiObject) => void;
  /** The fields that it changes, for managed fields: the path of each in the view and in the object. */
  readonly fields: readonly { readonly view: readonly string[]; readonly object: readonly string[] }[];
}

/** An action on the object, such as `eviction`; `resources/actions/` has the implementations. */
export interface ActionSubresource {
  readonly shape: "action";
  readonly verbs: readonly Verb[];
  /** Kind of the body that asks for it, and of the answer. */
  readonly kind: () => Kind;
  /** Older versions in which the body has the same fields, and which clients still write. */
  readonly olderVersions?: readonly string[];
}

/** A connection to what the object stands for, such as `proxy` or `exec`. */
export interface ConnectSubresource {
  readonly shape: "connect";
  readonly verbs: readonly Verb[];
  /** Name of the kind whose fields are the query parameters. */
  readonly optionsKind: string;
}

/**
 * How a version that isn't stored becomes the one that is, and back (spec: conventions 9). Both functions get an object
 * they may take apart; apiVersion and kind of the result are set by the caller.
 */
export interface Conversion {
  // A kind with a conversion and a `validate` of its own is checked by its own rules, else by those of the stored one.
  /** The kind in its stored version. */
  readonly stored: () => Kind;
  readonly toStored: (object: ApiObject, context: KindContext) => ApiObject;
  readonly fromStored: (object: ApiObject, context: KindContext) => ApiObject;
  /** What this version's selectable fields are called in the stored one, where that differs. */
  readonly selectableNames?: Readonly<Record<string, string>>;
}

/**
 * What this server makes of the objects of a kind beyond storing and serving them, each a sentence without its full stop.
 * `docs/enforcement.md` is made from these.
 */
export interface KindEffect {
  /** Which requests the server decides by the objects, and how. */
  readonly enforced?: string;
  /** What the server or its controllers do because of them. */
  readonly acts?: string;
  /** What the objects promise and nothing enforces here; a create says so in a warning. */
  readonly unenforced?: string;
}

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** In the order in which discovery lists them. */
const allVerbs: readonly Verb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/**
 * Everything about one kind in one version. The line of a field has what concerns that field; the rest is here.
 * All functions are pure; objects given to them are canonical (see `decode.ts`), and only those named "copy" may be
 * changed.
 */
export interface KindMembers<O> {
  readonly group: Group;
  readonly version: string;
  readonly name: string;
  /** Name in paths, plural: `rolebindings`. */
  readonly resource: string;
  readonly singular: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly doc: string;
  /** Absent for a kind that the server only stores and serves, for other programs to act on. */
  readonly effect?: KindEffect;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Defaults to all. A kind with only `create` is virtual: its objects are never stored. */
  readonly verbs?: readonly Verb[];
  /** Its objects aren't stored: the server works them out when it is asked for them. It has `get` and `list` only. */
  readonly computed?: boolean;
  /** False for versions that must be turned on by runtime configuration (spec: conventions 9.1). */
  readonly servedByDefault?: boolean;
  /** PUT on a missing object creates it (spec: conventions 4.2). */
  readonly createOnUpdate?: boolean;
  /** DELETE answers with the deleted object instead of a Status, as kube-apiserver does for some kinds. */
  readonly returnsDeletedObject?: boolean;
  /** Field selectors beyond metadata.name and metadata.namespace, with the text that each compares. */
  readonly selectable?: Readonly<Record<string, (object: O) => string>>;
  /** `metadata.generation` starts at 1 and grows when this part changes; kinds without it have no generation. */
  readonly generationOf?: (object: O) => unknown;
  /** Fills in defaults that need more than a field's own line. Changes the copy it is given. */
  readonly fillDefaults?: (copy: O, context: KindContext) => void;
  /** Resets what a creator may not set. Changes the copy. */
  readonly prepareCreate?: ((copy: O, context: KindContext) => void) | undefined;
  /** Members that no writer owns, as every update of the main resource resets them. */
  readonly unowned?: readonly string[] | undefined;
  /** Resets what an update of the main resource may not change. Changes the copy. */
  readonly prepareUpdate?: (copy: O, live: O, context: KindContext) => void;
  /**
   * Whether `metadata.name` is a path segment (roles), a DNS subdomain (most kinds), a label (namespaces), or a label that
   * doesn't begin with a digit (services).
   */
  readonly nameForm?: NameForm;
  /** A new object without a name gets one, as the reference gives to limit ranges. */
  readonly getsName?: boolean;
  readonly validate?: (object: O, report: FieldReport, context: KindContext) => void;
  /** Rules for new objects only, beyond those of `validate`. */
  readonly validateCreate?: (object: O, report: FieldReport, context: KindContext) => void;
  readonly validateUpdate?: (object: O, live: O, report: FieldReport, context: KindContext) => void;
  /**
   * Rules that are checked behind all others: the report has the faults that those found. Rules that take long give others
   * their turn.
   *
   * @param live what the object replaces; undefined for a new one.
   */
  readonly validateLast?: (
    object: O,
    live: O | undefined,
    report: FieldReport,
    context: KindContext,
  ) => MaybePromise<void>;
  /** Messages that go out as Warning headers on a successful write. */
  readonly warnings?: (object: O, context: KindContext, live: O | undefined) => readonly string[];
  /** Whether finalizers beyond `metadata.finalizers`, as those in the spec of a Namespace, are done. */
  readonly isFinalized?: (object: O) => boolean;
  /**
   * How many seconds a deletion waits for the object to end well, from what was asked for (undefined: nothing). Kinds
   * without it are deleted at once.
   */
  readonly gracePeriodSeconds?: (object: O, asked: number | bigint | undefined) => number | bigint;
  /**
   * What a deletion without a propagation policy does with the dependents; deletes them unless declared. Where it is
   * `Unsupported`, as nothing can depend on such objects, policies are ignored.
   */
  readonly defaultGarbageCollectionPolicy?: "DeleteDependents" | "OrphanDependents" | "Unsupported";
  /** Warns who deletes an object of the kind without a propagation policy. */
  readonly orphanWarning?: string;
  /** Changes the copy when its deletion is asked for the first time; may add finalizers that hold it. */
  readonly beginDelete?: (copy: O, context: KindContext) => void;
  /** Changes the copy when a deletion starts and the object stays for finalizers. */
  readonly prepareDelete?: (copy: O) => void;
  /** Its `status` subresource, where it has one; beside `subresources`. */
  readonly status?: StatusSpec<O>;
  readonly subresources?: Readonly<Record<string, Subresource<O>>>;
  /** The faults of an object as callers are told them, where the reference checks the object in another form. */
  readonly shownFaults?: (faults: readonly Cause[], object: O) => readonly Cause[];
  /** A create of this virtual kind is the same as a create of this subresource of the named object. */
  readonly subresourceAlias?: { readonly resource: string; readonly subresource: string };
  /** Its finalizers may be names without a domain, which those of other kinds may not. */
  readonly anyFinalizer?: boolean;
  /** Names of some fields have marks that depend on the vocabulary; see `spelling.ts`. */
  readonly hasMarkedFields?: boolean;
  /** Whether an update may leave out the resource version; true unless declared. */
  readonly allowUnconditionalUpdate?: boolean;
  /** Annotations that stand for a field: only the whole object shows them, not its metadata alone. */
  readonly fieldAnnotations?: readonly string[];
  /** Columns of its table; kinds without get the default table. */
  readonly columns?: readonly Column<O>[];
  /** A condition of the object's row, by which people's tools tell finished objects (spec: conventions 2.4). */
  readonly rowConditions?: (object: O) => readonly RowCondition[];
  /** For a version that isn't stored itself. */
  readonly conversion?: Conversion;
  /** Of a kind that is defined by a CustomResourceDefinition. */
  readonly custom?: CustomKindFacts;
}

/** What sets a custom kind apart from those that are declared in the program. */
export interface CustomKindFacts {
  /** Name of the kind of its lists. */
  readonly listKind: string;
  /** Revision of the definition: objects that were written before may differ from what its schema makes of them. */
  readonly since: number;
  /** Reads the schema of its objects, as the definition has it; undefined where it has none. It is large, and not kept. */
  readonly schema: () => object | undefined;
  /** The warning to callers of the version; empty where it isn't deprecated. */
  readonly deprecation: string;
}

/** What {@link kind} puts in for members that a declaration leaves out. */
const memberDefaults = {
  servedByDefault: true,
  createOnUpdate: false,
  returnsDeletedObject: false,
  defaultGarbageCollectionPolicy: "DeleteDependents",
  anyFinalizer: false,
  hasMarkedFields: false,
  allowUnconditionalUpdate: true,
  nameForm: "subdomain",
  verbs: allVerbs,
  selectable: {},
  subresources: {},
} satisfies Partial<KindMembers<ApiObject>>;

/** The declaration of a kind. */
export type KindSpec<F extends Fields> = KindMembers<ObjectOf<NoInfer<F>>> & {
  /** Fields beside apiVersion and kind. */
  readonly fields: F | (() => F);
};

/** A declared kind, as the generic engine sees it. */
export type Kind = Omit<KindMembers<ApiObject>, keyof typeof memberDefaults | "status"> &
  Required<Pick<KindMembers<ApiObject>, keyof typeof memberDefaults>> & { readonly type: StructType };

declare const objectType: unique symbol;
/** A kind that remembers the static type of its objects. */
export type KindOf<F extends Fields> = Kind & { readonly [objectType]?: ObjectOf<F> };

/** The TypeScript type of a kind's objects. */
export type ObjectFor<K> = K extends { readonly [objectType]?: infer O } ? NonNullable<O> : never;

/** The members that name the kind of an object. */
export const typeMeta = {
  kind: field(undefined, string, "Name of the object's kind.").emitEmpty(),
  apiVersion: field(undefined, string, "Group and version of the object's kind.").emitEmpty(),
};

/** Declares a kind. */
function kind<F extends Fields>(spec: KindSpec<F>): KindOf<F> {
  const { fields, ...rest } = spec;
  const type = structsIn({ group: spec.group, version: spec.version }).struct(spec.name, spec.doc, () => ({
    ...typeMeta,
    ...(typeof fields === "function" ? fields() : fields),
  }));
  return kindOfType(rest as unknown as KindMembers<ApiObject>, type) as KindOf<F>;
}

/** A kind whose type was made elsewhere, as that of a custom kind; with what its members leave out. */
export function kindOfType({ status, ...rest }: KindMembers<ApiObject>, type: StructType): Kind {
  const members = status === undefined ? rest : withStatus(rest, status);
  return { ...memberDefaults, ...members, type } as Kind;
}

/** The members of a kind with a `status` subresource, completed by its strategy functions and the subresource. */
function withStatus(members: KindMembers<ApiObject>, status: StatusSpec): KindMembers<ApiObject> {
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
      // A copy: admission is shown the live object beside the new one, and must not change it.
      copy["status"] = deepClone(live["status"] as JsonValue);
      prepareUpdate?.(copy, live, context);
    },
    subresources: { ...subresources, status: part },
  };
}

/** What a kind of a known group version still says about itself. */
type LocalSpec<F extends Fields> = Omit<KindSpec<F>, "group" | "version">;

/** A kind with its names in its static type, so that the types of objects can be found by them. */
export type NamedKind<F extends Fields, G extends Group, V extends string, N extends string> = KindOf<F> & {
  readonly group: G;
  readonly version: V;
  readonly name: N;
};

/** The words with which the kinds and structs of one group version are declared. */
export interface Declarations<G extends Group, V extends string> extends ReturnType<typeof structsIn> {
  readonly kind: <const N extends string, F extends Fields>(
    spec: LocalSpec<F> & { readonly name: N },
  ) => NamedKind<F, G, V, N>;
}

/** See {@link Declarations}. */
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
