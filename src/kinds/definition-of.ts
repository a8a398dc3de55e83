import { groupVersion } from "../vocabulary/names.ts";
import { groupName, type Kind, type Subresource } from "../schema/kind.ts";
import { SchemaFault, structuralSchema, type StructuralSchema } from "../schema/custom/structural-schema.ts";
import { kubernetes } from "../vocabulary/kubernetes.ts";
import { platform } from "../vocabulary/platform.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { ObjectsOf } from "./typed-objects.ts";

/** Options of {@link definitionOf}. */
export interface DefinitionOptions {
  /** Vocabulary of the definition; default `platform`. */
  readonly vocabulary?: "platform" | "kubernetes";
  /**
   * `spec.conversion` of the definition. Required if a declared version has conversion functions, because a manifest
   * can't contain them.
   */
  readonly conversion?: Readonly<Record<string, unknown>>;
}

declare const definedObjects: unique symbol;

/**
 * A CustomResourceDefinition (v1) without status.
 *
 * @typeParam Objects the types of its objects, by `apiVersion kind`, for `withTypesOf` of a client.
 */
export interface DefinitionManifest<Objects = object> {
  /** Has the types only; no manifest has this member. */
  readonly [definedObjects]?: Objects;
  readonly apiVersion: string;
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly plural: string;
      readonly singular: string;
      readonly kind: string;
      readonly listKind: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly conversion?: Readonly<Record<string, unknown>>;
    readonly versions: readonly DefinitionVersion[];
  };
}

/** One version of a {@link DefinitionManifest}. */
export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources?: Readonly<Record<string, unknown>>;
  readonly additionalPrinterColumns?: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Returns the CustomResourceDefinition of a declared kind. A server with the definition serves the same objects as a server with
 * the kind (spec: conventions 4.8), except for parts of the declaration that are functions, which a definition can't contain:
 * `validate`, `check`, field selectors, and columns without a `jsonPath`.
 *
 * @param kinds the kind, or its declarations in several versions; the one without a `conversion` is the stored one.
 * @throws {TypeError} the kinds aren't versions of one resource, or a definition can't express a declaration; the message names the field.
 *
 * @example
 * writeFileSync("orders.yaml", stringify(definitionOf(Order)));
 */
export function definitionOf<const Kinds extends Kind | readonly Kind[]>(
  kinds: Kinds,
  options: DefinitionOptions = {},
): DefinitionManifest<ObjectsOf<VersionsIn<Kinds>>> {
  const vocabulary = options.vocabulary === "kubernetes" ? kubernetes : platform;
  const versions = versionsIn(kinds);
  const stored = storedOf(versions, options);
  const { name, resource, singular, scope, shortNames = [], categories = [] } = stored;
  const group = groupName(stored.group, vocabulary);
  return {
    apiVersion: groupVersion(vocabulary.groupSuffix, "apiextensions", "v1"),
    kind: "CustomResourceDefinition",
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      scope,
      names: {
        plural: resource,
        singular,
        kind: name,
        listKind: `${name}List`,
        ...(shortNames.length > 0 && { shortNames }),
        ...(categories.length > 0 && { categories }),
      },
      ...(options.conversion && { conversion: options.conversion }),
      versions: versions.map((one) => versionOf(one, one === stored, vocabulary)),
    },
  };
}

/** The kinds of an argument that is a list or a single kind. */
type VersionsIn<Kinds> = Kinds extends readonly Kind[]
  ? Kinds
  : Kinds extends Kind
    ? readonly [Kinds]
    : readonly [];

function versionsIn(kinds: Kind | readonly Kind[]): readonly Kind[] {
  return "name" in kinds ? [kinds] : kinds;
}

/** Returns the kind in the stored version. */
function storedOf(versions: readonly Kind[], { conversion }: DefinitionOptions): Kind {
  const [stored, another] = versions.filter((one) => one.conversion === undefined);
  if (stored === undefined || another !== undefined) {
    throw new TypeError("definitionOf: exactly one of the kinds must have no conversion: the stored version");
  }
  for (const one of versions) {
    const same = (["name", "resource", "singular", "scope"] as const).every(
      (key) => one[key] === stored[key],
    );
    if (!same || one.group.base !== stored.group.base) {
      throw new TypeError(`definitionOf: ${one.name} ${one.version} is no version of ${stored.name}`);
    }
    if (one.conversion !== undefined && conversion === undefined) {
      throw new TypeError(
        `definitionOf: ${one.name} ${one.version} is converted by functions; the option conversion says how the definition does it`,
      );
    }
  }
  const names = new Set(versions.map(({ version }) => version));
  if (names.size < versions.length)
    throw new TypeError(`definitionOf: a version of ${stored.name} is given twice`);
  return stored;
}

function versionOf(kind: Kind, storage: boolean, vocabulary: Vocabulary): DefinitionVersion {
  const subresources = subresourcesOf(kind);
  const columns = columnsOf(kind);
  return {
    name: kind.version,
    served: kind.servedByDefault,
    storage,
    schema: { openAPIV3Schema: schemaOf(kind, vocabulary) },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    ...(columns.length > 0 && { additionalPrinterColumns: columns }),
  };
}

function schemaOf({ name, version, type }: Kind, vocabulary: Vocabulary): StructuralSchema {
  try {
    return structuralSchema(type, vocabulary);
  } catch (error) {
    if (error instanceof SchemaFault)
      throw new TypeError(`definitionOf: ${name} ${version}: ${error.message}`, { cause: error });
    throw error;
  }
}

function subresourcesOf({ subresources }: Kind): Record<string, unknown> {
  const served: Record<string, unknown> = {};
  const { status, scale } = subresources as Readonly<Record<string, Subresource | undefined>>;
  if (status !== undefined && status.shape === undefined) served["status"] = {};
  if (scale?.shape === "view") {
    const pathOf = (...view: readonly string[]): string | undefined => {
      const entry = scale.fields.find((one) => one.view.join(".") === view.join("."));
      return entry && `.${entry.object.join(".")}`;
    };
    const selector = pathOf("status", "selector");
    served["scale"] = {
      specReplicasPath: pathOf("spec", "replicas") ?? ".spec.replicas",
      statusReplicasPath: pathOf("status", "replicas") ?? ".status.replicas",
      ...(selector !== undefined && { labelSelectorPath: selector }),
    };
  }
  return served;
}

/** Returns the columns except the name, which every table has. */
function columnsOf({ columns = [] }: Kind): Readonly<Record<string, unknown>>[] {
  return columns.flatMap(({ name, type, doc, priority, jsonPath, definedType }) =>
    jsonPath === undefined
      ? []
      : [
          {
            name,
            type: definedType ?? type,
            description: doc,
            jsonPath,
            ...(priority !== undefined && { priority }),
          },
        ],
  );
}
