import {
  kindOfType,
  typeMeta,
  type ApiObject,
  type Conversion,
  type Kind,
  type KindMembers,
  type ObjectConverter,
} from "../../schema/kind.ts";
import type { Forgettables, Made } from "../../base/forgettable.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { anyObject, readSchema, schemaCost, type SchemaNode } from "../../schema/custom/schema-node.ts";
import { defaultMember } from "../../schema/custom/fill.ts";
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

/** A stored definition that is to be read. */
export interface DefinitionSource {
  /** Its schemas aren't looked at. */
  readonly outline: Definition;
  /** Of the write that made it so. */
  readonly revision: number;
  readonly schemas: ReadSchema;
}

/** What the kinds of definitions are made with. */
export interface CustomKindServices {
  /** With what webhooks are asked to convert objects. */
  readonly conversions: ConversionServices;
  /** Keeps the schemas that were used lately, as they were read. */
  readonly schemas: Forgettables;
}

/**
 * Reads the schema of a version, by its name; undefined where it has none. Nobody keeps what it gives: schemas are nearly all
 * of a definition, and most kinds of a server are never written.
 */
export type ReadSchema = (version: string) => object | undefined;

/** The kinds that a definition describes; from then on they are like built-in ones. */
export function customKinds(
  { outline: definition, revision: since, schemas: read }: DefinitionSource,
  vocabulary: Vocabulary,
  services: CustomKindServices,
): CustomKinds {
  const versions = definition.spec.versions ?? [];
  const storage = versions.find((version) => version.storage)!;
  const converter = converterOf(definition, services.conversions, () => stored);
  const kindIn = (version: Version): Kind => {
    const schema = () => read(version.name);
    const parsed = services.schemas.value(() => parse(schema(), vocabulary));
    return customKind(definition, version, { vocabulary, converter, since, schema, parsed });
  };
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
  services: ConversionServices,
  stored: () => Kind,
): ObjectConverter | undefined {
  const { strategy, webhook } = spec.conversion ?? {};
  if (strategy !== "Webhook" || (spec.versions ?? []).length < 2) return undefined;
  const { clientConfig = {}, conversionReviewVersions } = webhook ?? {};
  const known = {
    definition: metadata.name ?? "",
    clientConfig,
    reviewVersions: conversionReviewVersions ?? [],
  };
  return new WebhookConverter(known as ConversionWebhook, services, stored);
}

interface KindParts {
  readonly vocabulary: Vocabulary;
  readonly converter: ObjectConverter | undefined;
  readonly since: number;
  readonly schema: () => object | undefined;
  readonly parsed: () => ParsedSchema;
}

/** In the order in which the reference lists those of custom kinds. */
const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"] as const;

function customKind(
  { metadata, spec }: Definition,
  version: Version,
  { vocabulary, converter, since, schema, parsed }: KindParts,
): Kind {
  const { names, scope } = spec;
  const group: Group = { base: spec.group, suffixed: false };
  const type = openStruct(
    { group, version: version.name },
    names.kind,
    "",
    { ...typeMeta, metadata: field(1, ObjectMeta, "Metadata of the object.").emitEmpty() },
    () => parsed().node,
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
    // What describes it stands in its schema.
    doc: "",
    ...(names.shortNames && { shortNames: names.shortNames }),
    ...(names.categories && { categories: names.categories }),
    allowUnconditionalUpdate: false,
    anyFinalizer: true,
    // What is on its way out takes no new objects.
    verbs: metadata.deletionTimestamp === undefined ? verbs : verbs.filter((verb) => verb !== "create"),
    generationOf: hasStatus ? allButStatus : allButMetadata,
    columns: customColumns(
      (version.additionalPrinterColumns ?? []) as readonly ColumnDefinition[],
      vocabulary.behavior,
    ),
    custom: {
      since,
      schema,
      listKind: names.listKind ?? `${names.kind}List`,
      converter,
      deprecation: deprecationOf(spec.group, version, names.kind),
    },
    validateLast: (object, live, report, { enabled }) =>
      enabled("CustomResourceValidationExpressions")
        ? checkExpressions(parsed().rules, object, live, report)
        : undefined,
    subresources: paths === undefined ? {} : { scale: customScale(paths) },
    ...(paths && { validate: (object, report) => checkReplicas(object, paths, report) }),
    ...(hasStatus && {
      status: { initial: () => defaultMember(parsed().node, "status"), keepsMetadata: "all" },
    }),
  };
  return kindOfType(members, type);
}

/** A schema, read. */
class ParsedSchema {
  private found: { readonly rules: RuleNode | undefined } | undefined;

  constructor(readonly node: SchemaNode) {}

  /** Its expressions, compiled when the first object is checked. */
  get rules(): RuleNode | undefined {
    return (this.found ??= { rules: rulesOf(this.node) }).rules;
  }
}

function parse(schema: object | undefined, { schemaExtensionPrefix }: Vocabulary): Made<ParsedSchema> {
  const node = schema === undefined ? anyObject : readSchema(schema, schemaExtensionPrefix);
  return { value: new ParsedSchema(node), cost: schemaCost(schema) };
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
