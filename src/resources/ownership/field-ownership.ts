import { decodeTrusted } from "../../base/json/trusted.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { runPaced, type Steps } from "../../base/turns/work-pace.ts";
import { FieldSet, fieldElement } from "../../fields/apply/field-set.ts";
import {
  areValidEntries,
  decodeManagedFields,
  encodeManagedFields,
  encodeCreatorEntry,
  noManagedFields,
  type ManagedFields,
  noManagedFieldsText,
  type ManagedFieldsText,
  textOfNewFields,
} from "../../fields/apply/new-fields-text.ts";
import { managerId, type Manager } from "../../fields/apply/manager.ts";
import { updateSteps, type Versions } from "../../fields/apply/ownership.ts";
import { shapeOfStruct } from "../../fields/apply/shape.ts";
import { decode } from "../../schema/decode.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject, ManagedFieldsEntryValue, PartSubresource } from "../../schema/kind.ts";
import type { StructType } from "../../schema/types.ts";
import { kindContext, type Engine, type Target, type WriteOptions } from "../engine/engine.ts";
import { fromStored, toStored } from "../engine/conversion.ts";
import type { LiveObject } from "../objects/live-object.ts";
import type { Resource } from "../registry/registry.ts";
import type { Conversions } from "../registry/versioned-storage.ts";
import { inRequestVersion, type WriteContext } from "../input/input.ts";

/** Maximum length of a field manager's name, in characters. */
const maxManagerLength = 128;

/** All characters except letters, marks, numbers, punctuation, symbols and the space. */
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Validates the name of a field manager (spec: conventions 4.3). */
export function checkManagerName(name: string, report: FieldReport): void {
  if (name.length > maxManagerLength) report.tooLong(maxManagerLength, "characters");
  if (printable(name) !== name) report.invalid(name, "should only contain printable characters");
}

/** The default field manager: the printable characters of the program name in the `User-Agent`, or `unknown`. */
export function managerOfAgent(userAgent: string): string {
  const slash = userAgent.indexOf("/");
  const name = printable(slash < 0 ? userAgent : userAgent.slice(0, slash)).slice(0, maxManagerLength);
  return name === "" ? "unknown" : name;
}

const printableAscii = /^[ -~]*$/;

function printable(text: string): string {
  return printableAscii.test(text) ? text : text.replace(unprintable, "");
}

/** Metadata that the server sets; it has no owner. */
const serverMetadata = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "generation",
  "managedFields",
  "resourceVersion",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
];

const ignoredIdentity = [
  ["f:apiVersion", FieldSet.leaf],
  ["f:kind", FieldSet.leaf],
] as const;
const ignoredEverywhere = FieldSet.of(
  false,
  new Map([...ignoredIdentity, ["f:metadata", allOf(serverMetadata)]]),
);
const ignoredWithStatus = ignoredEverywhere.union(allOf(["status"]));
const ignoredInParts = new WeakMap<StructType, Map<string, FieldSet>>();

function allOf(names: readonly string[]): FieldSet {
  return FieldSet.of(false, new Map(names.map((name) => [fieldElement(name), FieldSet.leaf])));
}

/** The set of one field. */
function at([first, ...rest]: readonly string[]): FieldSet {
  return first === undefined ? FieldSet.leaf : FieldSet.of(false, new Map([[fieldElement(first), at(rest)]]));
}

/** Fields that a write to the target can't own: those that the server sets, and those that it can't change. */
export function ignoredFields({ resource: { kind }, subresource }: Target): FieldSet {
  const part = subresource === "" ? undefined : kind.subresources[subresource];
  if (part === undefined || part.shape !== undefined) {
    const ignored = Object.hasOwn(kind.subresources, "status") ? ignoredWithStatus : ignoredEverywhere;
    return kind.unowned === undefined ? ignored : ignored.union(allOf(kind.unowned));
  }
  let byPart = ignoredInParts.get(kind.type);
  if (byPart === undefined) ignoredInParts.set(kind.type, (byPart = new Map()));
  let ignored = byPart.get(subresource);
  if (ignored === undefined) {
    const others = changesStatus(subresource)
      ? Object.keys(kind.type.fields).filter((name) => name !== "status" && name !== "metadata")
      : ["status"];
    ignored = ignoredMetadata(part).union(allOf(others));
    for (const path of part.unowned ?? []) ignored = ignored.union(at(path));
    byPart.set(subresource, ignored);
  }
  return ignored;
}

const zeros = new WeakMap<StructType, Record<string, unknown>>();

/** The fields that every object of a kind has, even an empty one; its creator doesn't own them. */
export function zeroObject(type: StructType): Record<string, unknown> {
  let zero = zeros.get(type);
  if (zero === undefined) zeros.set(type, (zero = decode(type, {}).value));
  return zero;
}

/** The fields of type and metadata that a write to a part can't own. */
function ignoredMetadata({ keepsMetadata = [] }: PartSubresource): FieldSet {
  const metadata = keepsMetadata === "all" ? FieldSet.leaf : allOf([...serverMetadata, ...keepsMetadata]);
  return FieldSet.of(false, new Map([...ignoredIdentity, ["f:metadata", metadata]]));
}

/** Whether a subresource changes the status; others change the rest of the object. */
function changesStatus(subresource: string): boolean {
  return subresource === "status" || subresource === "approval";
}

/** The field manager of a write. @param target in the version of the request. */
export function managerOf(
  { resource: { apiVersion }, subresource }: Target,
  { fieldManager }: WriteOptions,
  operation: Manager["operation"],
): Manager {
  return { name: fieldManager, operation, apiVersion, subresource };
}

/** The versions of the target's objects, for field ownership. */
export function versionsOf({
  engine,
  target,
  conversions,
}: Pick<WriteContext, "engine" | "target" | "conversions">): Versions {
  const { registry } = engine;
  const stored = target.resource;
  const find = (version: string): Resource | undefined => {
    if (version === stored.apiVersion) return stored;
    const resource = registry.findKind(version, stored.kind.name);
    return resource?.stored.storePrefix === stored.storePrefix ? resource : undefined;
  };
  return {
    shape: (version) => {
      const resource = find(version);
      return resource && shapeOfStruct(resource.kind.type);
    },
    canonical: (object, version) => decode(find(version)!.kind.type, object).value,
    convert: (objects, from, to) => {
      const [source, result] = [find(from)!, find(to)!];
      if (conversions !== undefined) return convertByWebhook(conversions, objects, source, result);
      const context = kindContext(engine, target);
      return objects.map((object) => {
        // A missing object is missing in every version.
        if (isEmpty(object)) return {};
        return fromStored(result, toStored(source, wholeOf(source, object), context), context);
      });
    },
  };
}

/** An object with all fields that conversions rely on, which an applied configuration may omit. */
function wholeOf({ kind }: Resource, object: unknown): ApiObject {
  return decode(kind.type, object).value as ApiObject;
}

function convertByWebhook(
  conversions: Conversions,
  objects: readonly unknown[],
  source: Resource,
  result: Resource,
): MaybePromise<readonly unknown[]> {
  const wholes = objects.map((object) =>
    Object.assign(wholeOf(source, object), { kind: source.kind.name, apiVersion: source.apiVersion }),
  );
  // A missing object, or one without a name, can't be sent to a webhook.
  const isConvertible = (whole: ApiObject, index: number) =>
    !isEmpty(objects[index]) && whole.metadata?.name !== undefined;
  return andThen(conversions.prefetch(wholes.filter(isConvertible), result), () =>
    wholes.map((whole, index) => (isConvertible(whole, index) ? conversions.get(whole, result) : {})),
  );
}

/**
 * The managed fields after a write of a whole object (spec: conventions 4.10). Removes those that the client sent from the
 * object's metadata.
 *
 * @param live the object before the write; undefined for a new object.
 */
export function recordOwnership(
  write: WriteContext,
  object: ApiObject,
  live: LiveObject | undefined,
): MaybePromise<ManagedFieldsText> {
  const { engine, target, requestTarget, options } = write;
  const base = baseOf(target, object, live);
  delete object.metadata.managedFields;
  const manager = managerOf(requestTarget, options, "Update");
  const versions = versionsOf(write);
  const ignored = ignoredFields(target);
  const now = engine.timestamps.now();
  if (live === undefined && base === noManagedFields) {
    const { type } = requestTarget.resource.kind;
    const shape = shapeOfStruct(type);
    const fields = textOfNewFields(inRequestVersion(write, object), zeroObject(type), shape, ignored);
    return fields === "{}" ? noManagedFieldsText : encodeCreatorEntry(manager, now, fields);
  }
  const { type } = requestTarget.resource.kind;
  const before = live === undefined ? zeroObject(type) : inRequestVersion(write, live.object);
  const after = inRequestVersion(write, object);
  const by = { manager: managerId(manager), version: manager.apiVersion, ignored };
  const recordSteps = function* (): Steps<ManagedFieldsText> {
    const { owners, wrote } = yield* updateSteps(before, after, base.owners, versions, by);
    yield;
    return encodeManagedFields(owners, base, manager, now, wrote);
  };
  return runPaced(recordSteps(), options.pace);
}

/**
 * The managed fields of an object that is returned but not stored, such as a review: those of the request, and an entry of the sender for
 * all fields, as in the reference.
 */
export function ownershipOfAnswer(
  engine: Engine,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
): ManagedFieldsEntryValue[] {
  const { managedFields: sent = [] } = object.metadata;
  const { type } = target.resource.kind;
  const fields = textOfNewFields(object, zeroObject(type), shapeOfStruct(type), ignoredFields(target));
  const { name, ...manager } = managerOf(target, options, "Update");
  return [
    ...sent,
    {
      manager: name,
      operation: manager.operation,
      apiVersion: manager.apiVersion,
      ...(manager.subresource === "" ? {} : { subresource: manager.subresource }),
      time: engine.timestamps.now(),
      fieldsType: "FieldsV1",
      fieldsV1: decodeTrusted(Buffer.from(fields)) as Record<string, unknown>,
    },
  ];
}

/**
 * The managed fields before a write. Entries in the request replace the live ones, and a list with one empty entry clears them; without a
 * list, or with an unreadable one, the live ones are kept.
 *
 * @throws {StatusError} Invalid for readable entries with invalid values.
 */
function baseOf(target: Target, object: ApiObject, live: LiveObject | undefined): ManagedFields {
  const { managed = noManagedFields } = live ?? {};
  const sent = object.metadata.managedFields;
  if (sent === undefined || sent.length === 0) return managed;
  if (isReset(sent)) return noManagedFields;
  // Most clients send the entries that they have read.
  if (managed.stored !== undefined && JSON.stringify(sent) === managed.stored.text) return managed;
  if (!areValidEntries(sent)) return managed;
  checkEntries(target, object, sent);
  return decodeManagedFields(sent);
}

/** Maximum length of the subresource of an entry, in characters. */
const maxSubresourceLength = 256;

function checkEntries(
  { resource }: Target,
  { metadata }: ApiObject,
  entries: readonly ManagedFieldsEntryValue[],
): void {
  const report = FieldReport.start();
  for (const [index, { manager = "", subresource = "" }] of entries.entries()) {
    const entry = report.at("metadata", "managedFields", index);
    checkManagerName(manager, entry.at("manager"));
    if (subresource.length > maxSubresourceLength)
      entry.at("subresource").tooLong(maxSubresourceLength, "characters");
  }
  if (report.faults.length === 0) return;
  throw invalidError(
    { kind: resource.kind.name, group: resource.group, name: metadata.name ?? "" },
    report.faults,
  );
}

function isReset(entries: readonly ManagedFieldsEntryValue[]): boolean {
  return entries.length === 1 && Object.keys(entries[0]!).length === 0;
}

function isEmpty(object: unknown): boolean {
  return Object.keys(object as object).length === 0;
}

type Entries = ApiObject["metadata"]["managedFields"];

/**
 * Returns a warning if mutating admission has made the managed fields invalid. They have no effect: ownership was recorded before.
 *
 * @param before the managed fields before admission.
 */
export function invalidManagersWarning(before: Entries, { metadata }: ApiObject): readonly string[] {
  const { managedFields: after } = metadata;
  if (after === undefined || after === before || areValidEntries(after)) return [];
  // Entries that the client sent are not the fault of admission.
  if (before !== undefined && JSON.stringify(after) === JSON.stringify(before)) return [];
  return [
    "metadata.managedFields is invalid after mutating admission and was ignored: correct the webhook or policy that changes it",
  ];
}
