import { deepEqual, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { Release } from "../../base/releases.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { ManifestObject } from "./documents.ts";
import type { Finding } from "./problem.ts";
import type { Session } from "./session.ts";

/** A change with the releases that have it. */
export interface ReleaseChange {
  readonly finding: Finding;
  readonly releases: Release[];
}

/**
 * Returns how later releases store an object in another way than the first one: defaults that differ, and fields of the manifest that only
 * some releases keep. Objects that a release rejects are not compared.
 */
export async function changesBetween(
  [first, ...later]: readonly Session[],
  object: ManifestObject,
  { tokenVolumePrefix }: Pick<Vocabulary, "tokenVolumePrefix">,
): Promise<ReleaseChange[]> {
  const before = await first?.resultOf(object);
  if (before === undefined) return [];
  const changes = new Map<string, ReleaseChange>();
  for (const session of later) {
    const after = await session.resultOf(object);
    if (after === undefined) continue;
    const forms = [before, after].map((one) => comparable(one, tokenVolumePrefix)) as [
      JsonObject,
      JsonObject,
    ];
    for (const finding of differences(object.value, ...forms)) {
      const key = `${finding.field} ${finding.message}`;
      const change = changes.get(key) ?? { finding, releases: [] };
      change.releases.push(session.release);
      changes.set(key, change);
    }
  }
  return [...changes.values()];
}

/** Members of metadata that a server sets on every object. */
const ownMetadata = new Set([
  "uid",
  "creationTimestamp",
  "managedFields",
  "resourceVersion",
  "generation",
  "selfLink",
]);
/** Members of a Service that a server chooses. */
const allocated = new Set(["clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"]);

/** Returns an object without its status and what a server sets or chooses; members that are null count as absent. */
function comparable(object: JsonObject, volumePrefix: string): JsonObject {
  const { status: _status, ...rest } = object;
  const isGenerated = isObject(rest["metadata"]) && rest["metadata"]["generateName"] !== undefined;
  const copy = (value: JsonValue, name: string): JsonValue => {
    if (typeof value === "string") return value.startsWith(volumePrefix) ? volumePrefix : value;
    if (Array.isArray(value)) return value.map((one) => copy(one, name));
    if (!isObject(value)) return value;
    const members = Object.entries(value).filter(
      ([member, one]) =>
        one !== null &&
        !(name === "metadata" && (ownMetadata.has(member) || (isGenerated && member === "name"))) &&
        !(object["kind"] === "Service" && allocated.has(member)),
    );
    return Object.fromEntries(members.map(([member, one]) => [member, copy(one, member)]));
  };
  return copy(rest, "") as JsonObject;
}

function differences(manifest: JsonObject, before: JsonObject, after: JsonObject): Finding[] {
  const findings: Finding[] = [];
  compare(manifest, before, after, "", findings);
  return findings;
}

function compare(
  manifest: JsonValue | undefined,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
  findings: Finding[],
): void {
  if (before !== undefined && after !== undefined && deepEqual(before, after)) return;
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const below = path === "" ? name : `${path}.${name}`;
      compare(isObject(manifest) ? manifest[name] : undefined, before[name], after[name], below, findings);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [at, one] of before.entries())
      compare(Array.isArray(manifest) ? manifest[at] : undefined, one, after[at], `${path}[${at}]`, findings);
    return;
  }
  findings.push({
    severity: "warning",
    rule: "change",
    field: path,
    message: changeText(manifest, before, after),
  });
}

function changeText(
  manifest: JsonValue | undefined,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): string {
  const isSet = manifest !== undefined;
  if (after === undefined)
    return isSet ? "the field is dropped" : `the default ${shown(before)} is no longer filled in`;
  if (before === undefined)
    return isSet ? "the field takes effect; it was dropped" : `the default ${shown(after)} is filled in`;
  return `the ${isSet ? "stored value" : "default"} is ${shown(after)}; it was ${shown(before)}`;
}

/** Returns a value as text, of limited length. */
function shown(value: JsonValue | undefined): string {
  const text =
    JSON.stringify(value, (_name, one: unknown) => (typeof one === "bigint" ? String(one) : one)) ?? "";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
