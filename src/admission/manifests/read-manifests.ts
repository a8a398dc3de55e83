import type { JsonDocument } from "../../base/json/exact.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { readObject } from "../../resources/input/input.ts";
import { checkMetadata } from "../../resources/input/metadata.ts";
import { kindContext, type InputEngine, type Target } from "../../resources/engine/engine.ts";
import { staticSuffix } from "../../kinds/admissionregistration/static-names.ts";
import { resourceOf, type Resource } from "../../resources/registry/registry.ts";
import { checkFields } from "../../schema/check.ts";
import { ConfigurationError, assertNoFaults } from "../../schema/configuration.ts";
import { FieldReport } from "../../schema/faults.ts";
import { kindInRelease } from "../../schema/kind-in-release.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { PolicyPrograms } from "../policies/environment.ts";
import { expressionFaults } from "../policies/expression-check.ts";

/** A document of a manifest file. */
export interface ManifestDocument {
  readonly file: string;
  readonly document: JsonDocument;
}

/** Dependencies of {@link readManifests}. */
export interface ManifestReader {
  readonly engine: InputEngine;
  readonly programs: PolicyPrograms;
}

/** The objects of the manifests of a plugin, in their stored versions, by the names of their kinds. */
export type ManifestObjects = ReadonlyMap<string, readonly ApiObject[]>;

/**
 * Reads the objects of manifests, with their defaults. Lists (`List` of `v1`, and those of the kinds) have several.
 *
 * @param kinds the allowed kinds.
 * @throws {ConfigurationError} for an object that the API would refuse, or that can't be configured in files; the message names file,
 *   object and field.
 */
export async function readManifests(
  documents: readonly ManifestDocument[],
  kinds: readonly Kind[],
  reader: ManifestReader,
): Promise<ManifestObjects> {
  const { registry, vocabulary } = reader.engine;
  const resources = kinds.map((kind) => resourceOf(kindInRelease(kind, registry.release), vocabulary));
  const objects = new Map(resources.map(({ kind }) => [kind.name, [] as ApiObject[]]));
  const files = new Map<string, string>();
  const yieldIfDue = createYielder();
  for (const { file, document } of documents) {
    const [duplicate] = document.duplicates;
    if (duplicate !== undefined)
      throw new ConfigurationError(`${file}: ${duplicate}: the field occurs twice`);
    for (const { value, type } of itemsOf(document.value, resources, file)) {
      const { resource, object } = await readOne(value, type ?? typeOf(value, resources, file), file, reader);
      const { name = "" } = object.metadata;
      const key = `${resource.kind.name} ${JSON.stringify(name)}`;
      const other = files.get(key);
      if (other !== undefined) throw new ConfigurationError(`${file}: ${key} is also in ${other}`);
      files.set(key, file);
      objects.get(resource.kind.name)!.push(object);
      await yieldIfDue();
    }
  }
  return objects;
}

interface Item {
  readonly value: JsonValue;
  /** The type of the items of a typed list, which may omit it. */
  readonly type?: Resource;
}

/** The objects of a document: itself, or the items of a list. */
function* itemsOf(value: JsonValue, resources: readonly Resource[], file: string): Iterable<Item> {
  const { kind, apiVersion, items } = value as Partial<Record<string, JsonValue>>;
  const type = resources.find((one) => one.apiVersion === apiVersion && `${one.kind.name}List` === kind);
  const isList = type !== undefined || (kind === "List" && apiVersion === "v1");
  if (!isList) return yield { value };
  if (!Array.isArray(items)) throw new ConfigurationError(`${file}: items: must be a list`);
  for (const item of items) yield type === undefined ? { value: item } : { value: item, type };
}

/** Finds the type of an object. */
function typeOf(value: JsonValue, resources: readonly Resource[], file: string): Resource {
  const { kind, apiVersion } = (value ?? {}) as Partial<Record<string, JsonValue>>;
  const type = resources.find((one) => one.apiVersion === apiVersion && one.kind.name === kind);
  if (type !== undefined) return type;
  const allowed = resources.map((one) => `${one.kind.name} of ${one.apiVersion}`).join(", ");
  throw new ConfigurationError(
    `${file}: kind and apiVersion: found ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}, allowed are ${allowed}`,
  );
}

/** Reads and checks an object. */
async function readOne(
  value: JsonValue,
  resource: Resource,
  file: string,
  { engine, programs }: ManifestReader,
): Promise<{ readonly resource: Resource; readonly object: ApiObject }> {
  const { vocabulary, registry } = engine;
  const target: Target = { resource, namespace: "", name: "", subresource: "" };
  const name = nameIn(value);
  try {
    const { object } = readObject(engine, target, value, [], "Strict");
    const report = FieldReport.start(registry.release);
    checkMetadata(target, object.metadata, engine, report.at("metadata"));
    if (!name.endsWith(staticSuffix(vocabulary))) {
      report.at("metadata", "name").invalid(name, `must end with ${staticSuffix(vocabulary)}`);
    }
    const { kind } = resource.stored;
    const context = kindContext(engine, target);
    kind.validate?.(object, report, context);
    checkFields(kind.type, object, report, context);
    await report.finish();
    await kind.validateLast?.(object, undefined, report, context);
    checkStatic(object, report, vocabulary);
    assertNoFaults(report);
    assertNoFaults(await expressionFaults(object, resource, programs));
    return { resource, object };
  } catch (error) {
    if (!(error instanceof ConfigurationError) && !(error instanceof StatusError)) throw error;
    throw new ConfigurationError(`${file}: ${resource.kind.name} ${JSON.stringify(name)}: ${error.message}`, {
      cause: error,
    });
  }
}

function nameIn(value: JsonValue): string {
  const { metadata } = (value ?? {}) as { readonly metadata?: { readonly name?: unknown } | null };
  return typeof metadata?.name === "string" ? metadata.name : "";
}

interface StaticWebhook {
  readonly clientConfig?: { readonly service?: unknown; readonly url?: string };
}

/** The members that objects in files can't have, as what they name is in the store. */
function checkStatic(object: ApiObject, report: FieldReport, vocabulary: Vocabulary): void {
  const { webhooks = [], spec = {} } = object as unknown as {
    readonly webhooks?: readonly StaticWebhook[];
    readonly spec?: {
      readonly paramKind?: unknown;
      readonly paramRef?: unknown;
      readonly policyName?: string;
    };
  };
  for (const [index, { clientConfig = {} }] of webhooks.entries()) {
    const at = report.at("webhooks", index, "clientConfig");
    if (clientConfig.service !== undefined && clientConfig.service !== null)
      at.at("service").forbidden("a webhook in a file needs a url: services are not in files");
    else if ((clientConfig.url ?? "") === "") at.at("url").required("for a webhook in a file");
  }
  for (const field of ["paramKind", "paramRef"] as const) {
    const value = spec[field];
    if (value !== undefined && value !== null)
      report.at("spec", field).forbidden("policies and bindings in files have no parameters");
  }
  const { policyName = "" } = spec;
  if (policyName !== "" && !policyName.endsWith(staticSuffix(vocabulary))) {
    report
      .at("spec", "policyName")
      .invalid(policyName, `must be a policy in the files: end with ${staticSuffix(vocabulary)}`);
  }
}

/**
 * Checks that the policies of bindings are in the files too.
 *
 * @throws {ConfigurationError} for another policy.
 */
export function checkBindings(policies: readonly ApiObject[], bindings: readonly ApiObject[]): void {
  const names = new Set(policies.map(({ metadata }) => metadata.name));
  for (const { kind, metadata, spec } of bindings as readonly (ApiObject & {
    readonly spec?: { readonly policyName?: string };
  })[]) {
    const policy = spec?.policyName ?? "";
    if (names.has(policy)) continue;
    throw new ConfigurationError(
      `${kind} ${JSON.stringify(metadata.name)}: spec.policyName: there is no policy ${JSON.stringify(policy)} in the files`,
    );
  }
}
