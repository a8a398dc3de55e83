import {
  allVerbs,
  kindOfType,
  typeMeta,
  type ApiObject,
  type Conversion,
  type Kind,
  type KindMembers,
  type ObjectConverter,
} from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { anyObject, readSchema, type SchemaNode } from "../../schema/custom/schema-node.ts";
import { openStruct } from "../../schema/structs.ts";
import { field, type Group } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { CustomResourceDefinition } from "../apiextensions/custom-resource-definition.ts";
import { checkExpressions } from "./rule-run.ts";
import { rulesOf, type RuleNode } from "./rule-tree.ts";
import { customColumns, type ColumnDefinition } from "./columns.ts";
import { WebhookConverter, type ConversionServices, type ConversionWebhook } from "./webhook-converter.ts";
import { checkReplicas, customScale, type ScalePaths } from "./custom-scale.ts";

type Definition = CustomResourceDefinition;
type Version = NonNullable<Definition["spec"]["versions"]>[number];

/** The kinds of one definition. */
export interface CustomKinds {
  /** As which the objects are stored. */
  readonly stored: Kind;
  /** By the names of the versions, served or not. */
  readonly versions: ReadonlyMap<string, Kind>;
}

/**
 * The kinds that a definition describes; from then on they are like built-in ones.
 *
 * @param services with what its webhook is asked; without them the kinds can't be converted by a webhook.
 */
export function customKinds(
  definition: Definition,
  vocabulary: Vocabulary,
  services?: ConversionServices,
): CustomKinds {
  const versions = definition.spec.versions ?? [];
  const storage = versions.find((version) => version.storage)!;
  const converter = converterOf(definition, services, () => stored);
  const kindIn = (version: Version): Kind => customKind(definition, version, vocabulary, converter);
  const stored = kindIn(storage);
  // What a webhook converts is in the version of the request for all that a verb does; see `converted-engine.ts`.
  if (converter !== undefined) {
    const kinds = versions.map((one) => [one.name, one === storage ? stored : kindIn(one)] as const);
    return { stored, versions: new Map(kinds) };
  }
  // Objects that were stored as another version are so until they are written again: each is looked at when it is read.
  const isMixed = (definition.status?.storedVersions ?? []).length > 1;
  const kindOf = (version: Version): Kind =>
    version === storage && !isMixed ? stored : { ...kindIn(version), conversion: unchanged(stored) };
  return { stored, versions: new Map(versions.map((version) => [version.name, kindOf(version)])) };
}

/** The converter of the definition's webhook; undefined where the versions differ by their names and schemas only. */
function converterOf(
  { metadata, spec }: Definition,
  services: ConversionServices | undefined,
  stored: () => Kind,
): ObjectConverter | undefined {
  const { strategy, webhook } = spec.conversion ?? {};
  if (services === undefined || strategy !== "Webhook" || (spec.versions ?? []).length < 2) return undefined;
  const { clientConfig = {}, conversionReviewVersions } = webhook ?? {};
  const known = {
    definition: metadata.name ?? "",
    clientConfig,
    reviewVersions: conversionReviewVersions ?? [],
  };
  return new WebhookConverter(known as ConversionWebhook, services, stored);
}

function customKind(
  { metadata, spec }: Definition,
  version: Version,
  vocabulary: Vocabulary,
  converter: ObjectConverter | undefined,
): Kind {
  const { names, scope } = spec;
  const group: Group = { base: spec.group, suffixed: false };
  const schema = schemaOf(version, vocabulary);
  const expressions = expressionsOf(schema);
  const type = openStruct(
    { group, version: version.name },
    names.kind,
    descriptionOf(version),
    { ...typeMeta, metadata: field(1, ObjectMeta, "Metadata of the object.").emitEmpty() },
    schema,
  );
  const hasStatus = version.subresources?.status !== undefined;
  const paths = version.subresources?.scale as ScalePaths | undefined;
  const members: KindMembers<ApiObject> = {
    group,
    version: version.name,
    name: names.kind,
    resource: names.plural,
    singular: names.singular ?? "",
    scope: scope as "Namespaced" | "Cluster",
    doc: descriptionOf(version),
    ...(names.shortNames && { shortNames: names.shortNames }),
    ...(names.categories && { categories: names.categories }),
    allowUnconditionalUpdate: false,
    // What is on its way out takes no new objects.
    ...(metadata.deletionTimestamp !== undefined && { verbs: allVerbs.filter((verb) => verb !== "create") }),
    generationOf: hasStatus ? allButStatus : allButMetadata,
    columns: customColumns((version.additionalPrinterColumns ?? []) as readonly ColumnDefinition[]),
    custom: {
      schema: version.schema?.openAPIV3Schema as unknown as object | undefined,
      listKind: names.listKind ?? `${names.kind}List`,
      converter,
      deprecation: deprecationOf(spec.group, version, names.kind),
    },
    validateLast: (object, live, report, { enabled }) =>
      enabled("CustomResourceValidationExpressions")
        ? checkExpressions(expressions(), object, live, report)
        : undefined,
    subresources: paths === undefined ? {} : { scale: customScale(paths) },
    ...(paths && { validate: (object, report) => checkReplicas(object, paths, report) }),
    ...(hasStatus && { status: { initial: () => undefined, keepsMetadata: "all" } }),
  };
  return kindOfType(members, type);
}

function descriptionOf({ schema }: Version): string {
  return (schema?.openAPIV3Schema as unknown as { description?: string } | undefined)?.description ?? "";
}

/** The schema of the objects; read when it is first needed, as most kinds of a server are never written. */
function schemaOf({ schema }: Version, { schemaExtensionPrefix }: Vocabulary): () => SchemaNode {
  const text = schema?.openAPIV3Schema as unknown as object | undefined;
  let node: SchemaNode | undefined;
  return () => (node ??= text === undefined ? anyObject : readSchema(text, schemaExtensionPrefix));
}

/** The expressions of a schema, compiled when the first object is checked, and gone with the kind. */
function expressionsOf(schema: () => SchemaNode): () => RuleNode | undefined {
  let found: { readonly rules: RuleNode | undefined } | undefined;
  return () => (found ??= { rules: rulesOf(schema()) }).rules;
}

/** What a change of the object is a new generation by; a kind without the subresource `status` has no status of the server's. */
function allButMetadata(object: ApiObject): unknown {
  return { ...object, metadata: undefined };
}

function allButStatus(object: ApiObject): unknown {
  return { ...object, metadata: undefined, status: undefined };
}

function deprecationOf(group: string, version: Version, name: string): string {
  if (version.deprecated !== true) return "";
  return version.deprecationWarning ?? `${group}/${version.name} ${name} is deprecated`;
}

/** Versions of a kind that differ by their name only (the strategy `None`). */
function unchanged(stored: Kind): Conversion {
  return { stored: () => stored, toStored: (object) => object, fromStored: (object) => object };
}
