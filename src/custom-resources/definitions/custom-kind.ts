import { defaultRelease } from "../../base/releases.ts";
import {
  kindOfType,
  typeMeta,
  type ApiObject,
  type Conversion,
  type Kind,
  type KindMembers,
} from "../../schema/kind.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { defaultMember } from "../../schema/custom/fill.ts";
import { openStruct } from "../../schema/structs.ts";
import { field, type Group } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { selectablePath } from "../../kinds/apiextensions/selectable-fields.ts";
import { checkExpressions } from "../../kinds/apiextensions/rule-run.ts";
import { customColumns, type ColumnDefinition } from "./columns.ts";
import type { ObjectConverter } from "../conversion/object-converter.ts";
import { unchangedConverter } from "../conversion/unchanged-converter.ts";
import {
  WebhookConverter,
  type ConversionServices,
  type ConversionWebhook,
} from "../conversion/webhook-converter.ts";
import { anySchema, type ParsedSchema, type SharedSchema } from "./shared-schema.ts";
import { checkScale, customScale, valueAt, type ScalePaths } from "./scale.ts";
import { qualifiedNameFaults } from "../../base/names.ts";
import { applies, byRelease, since } from "../../base/release-rows.ts";
import { comparePriority } from "../../base/version-priority.ts";
import { isQualifiedFinalizer } from "../../kinds/checks/finalizers.ts";
import type { KindContext } from "../../schema/context.ts";

type Definition = CustomResourceDefinition;
type Version = NonNullable<Definition["spec"]["versions"]>[number];

/** The kinds of one definition. */
export interface CustomKinds {
  /** The kind of the storage version. */
  readonly stored: Kind;
  /** By version name, served or not. */
  readonly versions: ReadonlyMap<string, Kind>;
  /** Undefined if the objects are the same in all versions but for the apiVersion. */
  readonly converter: ObjectConverter | undefined;
}

/** A stored CustomResourceDefinition. */
export interface DefinitionSource {
  /** The definition without its schemas. */
  readonly outline: Definition;
  /** Revision of its last write. */
  readonly revision: number;
  /** By the name of the version; versions without a schema are absent. */
  readonly schemas: ReadonlyMap<string, SharedSchema>;
}

/** Dependencies of custom kinds. */
export interface CustomKindServices {
  readonly conversions: ConversionServices;
}

/** Creates the kinds of a definition, one for each version. */
export function customKinds(
  { outline: definition, revision: since, schemas }: DefinitionSource,
  vocabulary: Vocabulary,
  services: CustomKindServices,
): CustomKinds {
  const versions = definition.spec.versions ?? [];
  const storage = versions.find((version) => version.storage)!;
  const converter = converterOf(definition, schemas, services.conversions);
  const replacement = replacementOf(definition.spec);
  const kindIn = (version: Version): Kind => {
    const schema = schemas.get(version.name);
    const parsed = () => schema?.parsed(vocabulary.schemaExtensionPrefix) ?? anySchema;
    return customKind(definition, version, {
      vocabulary,
      since,
      schema: () => schema?.read(),
      parsed,
      replacement,
    });
  };
  const stored = kindIn(storage);
  // The store converts, so the kinds have no conversion functions (`converting-store.ts`).
  if (converter !== undefined) {
    const kinds = versions.map((one) => [one.name, one === storage ? stored : kindIn(one)] as const);
    return { stored, versions: new Map(kinds), converter };
  }
  // Objects that were stored in another version have its apiVersion until they are written again.
  const isMixed = (definition.status?.storedVersions ?? []).length > 1;
  const kindOf = (version: Version): Kind =>
    version === storage && !isMixed ? stored : { ...kindIn(version), conversion: unchanged(stored) };
  return { stored, versions: new Map(versions.map((version) => [version.name, kindOf(version)])), converter };
}

/** The converter of the definition; undefined if its objects are the same in all versions but for the apiVersion. */
function converterOf(
  { metadata, spec }: Definition,
  schemas: DefinitionSource["schemas"],
  services: ConversionServices,
): ObjectConverter | undefined {
  const versions = spec.versions ?? [];
  if (versions.length < 2) return undefined;
  const { strategy, webhook } = spec.conversion ?? {};
  if (strategy !== "Webhook") {
    const forms = versions.map((version) => formOf(version, schemas.get(version.name)));
    return forms.every((form) => form === forms[0]) ? undefined : unchangedConverter;
  }
  const { clientConfig = {}, conversionReviewVersions } = webhook ?? {};
  const conversion = {
    definition: metadata.name ?? "",
    clientConfig,
    reviewVersions: conversionReviewVersions ?? [],
  };
  return new WebhookConverter(conversion as ConversionWebhook, services);
}

/** A text that is equal for versions that read, validate and update objects in the same way. */
function formOf({ subresources, selectableFields }: Version, schema: SharedSchema | undefined): string {
  return JSON.stringify([schema?.digest, subresources, selectableFields]);
}

interface KindParts {
  readonly vocabulary: Vocabulary;
  readonly since: number;
  readonly schema: () => object | undefined;
  readonly parsed: () => ParsedSchema;
  /** The version to use instead of deprecated ones. */
  readonly replacement: string | undefined;
}

/** Verbs in the order of the reference's discovery. */
const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"] as const;

function customKind(
  { metadata, spec }: Definition,
  version: Version,
  { vocabulary, since, schema, parsed, replacement }: KindParts,
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
    // The description is in the schema.
    doc: "",
    ...(names.shortNames && { shortNames: names.shortNames }),
    ...(names.categories && { categories: names.categories }),
    allowUnconditionalUpdate: false,
    anyFinalizer: true,
    // A terminating definition allows no new objects.
    verbs: metadata.deletionTimestamp === undefined ? verbs : verbs.filter((verb) => verb !== "create"),
    generationOf: hasStatus ? allButStatus : allButMetadata,
    selectable: selectableFields(version),
    warnings: finalizerWarnings,
    columns: customColumns(
      (version.additionalPrinterColumns ?? []) as readonly ColumnDefinition[],
      vocabulary.behavior,
    ),
    custom: {
      since,
      schema,
      listKind: names.listKind ?? `${names.kind}List`,
      deprecation: deprecationOf(spec, version, replacement),
    },
    validateLast: (object, live, report, { enabled, release = defaultRelease }) =>
      enabled("CustomResourceValidationExpressions")
        ? checkExpressions(
            parsed().rulesIn(release),
            object,
            live,
            report,
            enabled("CRDValidationRatcheting"),
          )
        : undefined,
    subresources: paths === undefined ? {} : { scale: customScale(paths) },
    ...(paths && { validate: (object, report) => checkScale(object, paths, report) }),
    ...(hasStatus && {
      status: { initial: () => defaultMember(parsed().node, "status"), keepsMetadata: "all" },
    }),
  };
  return kindOfType(members, type);
}

/** The selectable fields of a version, by their names in field selectors, such as `spec.color`. */
function selectableFields({
  selectableFields = [],
}: Version): NonNullable<KindMembers<ApiObject>["selectable"]> {
  const paths = selectableFields.flatMap(({ jsonPath }) => {
    const path = selectablePath(jsonPath);
    return path === undefined ? [] : [path];
  });
  return Object.fromEntries(
    paths.map((path) => [path.join("."), (object: ApiObject) => scalarText(valueAt(object, path))]),
  );
}

function scalarText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : typeof value === "object" ? "" : String(value ?? "");
}

/** The members whose changes increment the generation; without the subresource `status` that includes a member `status`. */
function allButMetadata(object: ApiObject): unknown {
  return { ...object, metadata: undefined };
}

function allButStatus(object: ApiObject): unknown {
  return { ...object, metadata: undefined, status: undefined };
}

/** The conversion of versions that differ in name and schema only (strategy `None`). */
function unchanged(stored: Kind): Conversion {
  return { stored: () => stored, toStored: (object) => object, fromStored: (object) => object };
}

type Spec = CustomResourceDefinition["spec"];
type WarnedVersion = NonNullable<Spec["versions"]>[number];

/** Returns the version to use instead of deprecated ones; undefined if all served versions are deprecated. */
function replacementOf({ versions = [] }: Spec): string | undefined {
  let replacement: string | undefined;
  for (const { name, served, deprecated } of versions) {
    if (!served || deprecated === true) continue;
    if (replacement === undefined || comparePriority(name, replacement) < 0) replacement = name;
  }
  return replacement;
}

/**
 * Returns the warning of requests in a version; empty if the version isn't deprecated.
 *
 * @param replacement that of {@link replacementOf}; not named if the deprecated version is preferred to it.
 */
function deprecationOf(
  { group, names: { kind } }: Spec,
  version: WarnedVersion,
  replacement: string | undefined,
): string {
  if (version.deprecated !== true) return "";
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const text = `${group}/${version.name} ${kind} is deprecated`;
  const isPreferred = replacement !== undefined && comparePriority(replacement, version.name) < 0;
  return isPreferred ? `${text}; use ${group}/${replacement} ${kind}` : text;
}

const warnsOfFinalizers = applies(since("1.29"));
const pathHintOf = byRelease("", since("1.32", " including a path (/)"));

/** Returns the warnings for finalizers that a write adds. */
function finalizerWarnings(
  object: ApiObject,
  context: KindContext,
  live: ApiObject | undefined,
): readonly string[] {
  if (!warnsOfFinalizers(context)) return [];
  const { vocabulary } = context;
  const before = new Set(live?.metadata.finalizers);
  const added = new Set(object.metadata.finalizers?.filter((name) => !before.has(name)));
  const pathHint = pathHintOf(context);
  return [...added].toSorted().flatMap((name) => {
    const prefix = `metadata.finalizers: ${JSON.stringify(name)}: `;
    const faults = qualifiedNameFaults(name).map((fault) => prefix + fault);
    if (isQualifiedFinalizer(name, vocabulary)) return faults;
    const hint = name.includes(".") ? pathHint : "";
    const advice = `prefer a domain-qualified finalizer name${hint} to avoid accidental conflicts with other finalizer writers`;
    return [...faults, prefix + advice];
  });
}
