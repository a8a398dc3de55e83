import { decodeJson } from "../../base/json/decode.ts";
import { readManifestFiles, type ManifestBytes } from "../../base/manifests.ts";
import { isObject } from "../../base/json/value.ts";
import { defaultRelease, releases as allReleases, type Release } from "../../base/releases.ts";
import { StatusError } from "../../base/status-error.ts";
import { vocabularyNamed } from "../../vocabulary/vocabularies.ts";
import { OptionsError } from "../options/options-error.ts";
import { isContext, parameterKinds } from "./context.ts";
import type { ManifestObject } from "./documents.ts";
import type { ValidationReport } from "./problem.ts";
import type { PodSecurityLevel } from "./session.ts";
import { entriesOf, entriesOfFile, type DecodedDocuments, type SourceEntry } from "./sources.ts";
import { Validator, type ReferenceMode, type ValidatorOptions } from "./validator.ts";

/** Options of {@link validate}. */
export interface ValidateOptions {
  /** Release of the API, or several; `1.26` by default. */
  readonly release?: Release | readonly Release[] | undefined;
  /** Names of groups and labels in the manifests; `kubernetes` by default. */
  readonly vocabulary?: "platform" | "kubernetes" | undefined;
  /** Namespace of objects that name none; `default` by default. */
  readonly namespace?: string | undefined;
  /**
   * What decides about the objects besides themselves and isn't validated: definitions, namespaces, policies, roles and other objects, or
   * the path of a file or folder with them.
   */
  readonly context?: object | readonly object[] | string | undefined;
  /** Level of the Pod Security Standards in namespaces without labels for it; none by default. */
  readonly podSecurity?: PodSecurityLevel | undefined;
  /** The user who applies the objects; by default one who may do everything. */
  readonly user?: string | undefined;
  /** Groups of `user`, without those that authentication adds. */
  readonly groups?: readonly string[] | undefined;
  /** What references to objects that don't exist count as; `warning` by default. */
  readonly references?: ReferenceMode | undefined;
  /** What an object counts as whose kind isn't served and has no definition; `error` by default. */
  readonly unknownKinds?: "error" | "warning" | undefined;
}

/** Objects, files, or the text of manifests. */
export type ValidationInput = object | readonly object[] | string;

const choices = {
  vocabulary: ["platform", "kubernetes"],
  podSecurity: ["privileged", "baseline", "restricted"],
  references: ["warning", "error", "ignore"],
  unknownKinds: ["error", "warning"],
} as const;

/**
 * Returns the verdict of an API server on objects, without a running server: each is created in a dry run with strict field validation,
 * on a server of the release that has the definitions, namespaces, policies, quotas and classes among the objects.
 *
 * @param input an object, a list of objects, the text of YAML or JSON manifests, or the path of a file or of a folder with .yaml, .yml and
 *   .json files, with its subfolders. A text of one line that doesn't begin with `{` or `[` is a path.
 * @throws {OptionsError} for a wrong option, which it names.
 *
 * @example
 * const { accepted, objects } = await validate("manifests", { release: ["1.28", "1.33"] });
 * for (const { kind, name, problems } of objects)
 *   for (const { message, location } of problems) console.log(`${location?.file}:${location?.line}`, kind, name, message);
 */
export async function validate(
  input: ValidationInput,
  options: ValidateOptions = {},
): Promise<ValidationReport> {
  return validateEntries(validatorOptions(options), {
    entries: (decoded, contextOnly, alsoContext) => entriesIn(input, decoded, contextOnly, alsoContext),
    context: options.context === undefined ? [] : await objectsOf(options.context),
  });
}

/** The objects of a validation; they are read twice. */
export interface ValidationSources {
  /** Reads the objects that are validated. */
  readonly entries: (
    decoded: DecodedDocuments,
    contextOnly: boolean,
    alsoContext: ReadonlySet<string>,
  ) => AsyncIterable<SourceEntry>;
  /** Objects that aren't validated. */
  readonly context: readonly ManifestObject[];
}

/** Validates objects: first it reads those that decide about others, then it judges each. */
export async function validateEntries(
  options: ValidatorOptions,
  sources: ValidationSources,
): Promise<ValidationReport> {
  const decoded: DecodedDocuments = new Map();
  const context = sources.context.filter((object) => isContext(object, options.vocabulary));
  const read = async (also: ReadonlySet<string>, isWanted: (object: ManifestObject) => boolean) => {
    for await (const { object } of sources.entries(decoded, true, also))
      if (object !== undefined && isWanted(object)) context.push(object);
  };
  await read(new Set(), (object) => isContext(object, options.vocabulary));
  const parameters = parameterKinds(context);
  if (parameters.size > 0) {
    const isParameter = ({ value }: ManifestObject) =>
      parameters.has(`${String(value["apiVersion"])} ${String(value["kind"])}`);
    context.push(...sources.context.filter(isParameter));
    await read(parameters, (object) => isParameter(object) && !isContext(object, options.vocabulary));
  }
  const validator = await Validator.open(options, context);
  try {
    for (const object of sources.context) await validator.provide(object);
    for await (const entry of sources.entries(decoded, false, parameters)) {
      if (entry.object === undefined) validator.reject(entry.location, entry.fault);
      else await validator.check(entry.object);
    }
    return await validator.finish();
  } finally {
    await validator.close();
  }
}

/** Checks options. @throws {OptionsError} */
function validatorOptions(options: ValidateOptions): ValidatorOptions {
  for (const [name, allowed] of Object.entries(choices)) {
    const value: unknown = options[name as keyof typeof choices];
    if (value === undefined || (allowed as readonly unknown[]).includes(value)) continue;
    throw new OptionsError(`${name}: ${JSON.stringify(value)} is not one of ${allowed.join(", ")}`);
  }
  const { release = defaultRelease, namespace = "default", user, groups = [] } = options;
  const releases: readonly Release[] = typeof release === "string" ? [release] : release;
  for (const one of releases.length === 0 ? [""] : releases) {
    if (!(allReleases as readonly string[]).includes(one))
      throw new OptionsError(`release: ${JSON.stringify(one)} is not one of ${allReleases.join(", ")}`);
  }
  if (groups.length > 0 && user === undefined) throw new OptionsError("groups: needs the option user");
  return {
    releases: [...new Set(releases)],
    vocabulary: vocabularyNamed(options.vocabulary ?? "kubernetes"),
    namespace,
    podSecurity: options.podSecurity,
    user,
    groups,
    references: options.references ?? "warning",
    acceptsUnknownKinds: options.unknownKinds === "warning",
  };
}

async function* entriesIn(
  input: ValidationInput,
  decoded: DecodedDocuments,
  contextOnly: boolean,
  alsoContext: ReadonlySet<string> = new Set(),
): AsyncGenerator<SourceEntry> {
  const options = { contextOnly, decoded, alsoContext };
  if (typeof input !== "string") yield* objectEntries(Array.isArray(input) ? input : [input], contextOnly);
  else if (/^\s*[{[]/.test(input) || input.includes("\n"))
    yield* entriesOfFile("-", Buffer.from(input), options);
  else yield* entriesOf(filesAt(input), options);
}

/** Reads the files of a path, with those of subfolders. */
function filesAt(path: string): AsyncGenerator<ManifestBytes> {
  const readInput = () => Promise.reject(new StatusError("BadRequest", "- is not the path of a file"));
  return readManifestFiles([path], { recursive: true, readInput });
}

function* objectEntries(objects: readonly object[], contextOnly: boolean): Generator<SourceEntry> {
  for (const one of objects) {
    const { value, duplicates } = decodeJson(Buffer.from(JSON.stringify(one) ?? "null"));
    if (isObject(value) && typeof value["apiVersion"] === "string" && typeof value["kind"] === "string")
      yield { object: { value, duplicates, start: undefined, locate: undefined } };
    else if (!contextOnly)
      yield { fault: "not a manifest: apiVersion or kind is missing", location: undefined };
  }
}

async function objectsOf(context: ValidationInput): Promise<ManifestObject[]> {
  const objects: ManifestObject[] = [];
  for await (const entry of entriesIn(context, new Map(), false)) {
    if (entry.object !== undefined) objects.push(entry.object);
    else throw new OptionsError(`context: ${entry.location?.file ?? ""}: ${entry.fault}`);
  }
  return objects;
}
