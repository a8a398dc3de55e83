import type { Resource } from "../../../resources/registry/registry.ts";
import type { Definitions } from "../../../schema/openapi/definitions.ts";
import type { Kind, Subresource, Verb } from "../../../schema/kind.ts";
import { operationsOf, watchPathOperation, type Place } from "./operations.ts";
import {
  connectionParameters,
  listParametersOf,
  nameParameter,
  namespaceParameter,
  parameterObject,
  prettyParameter,
  restParameter,
  watchParameters,
  type Parameter,
} from "./parameters.ts";

export type PathItem = Record<string, unknown>;

/**
 * Returns the paths of a resource type with their operations.
 *
 * @param base path of its group version: `/apis/apps/v1`.
 * @param definitions receives the definitions to which the operations refer.
 */
export function resourcePaths(
  base: string,
  resource: Resource,
  definitions: Definitions,
): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  const { kind, name, namespaced } = resource;
  const scope = namespaced ? `${base}/namespaces/{namespace}/${name}` : `${base}/${name}`;
  const place = { resource, kind, connection: undefined, subresource: "", inNamespace: namespaced };
  const add = (path: string, verbs: readonly Verb[], at: Place) => {
    const item = pathItem(
      path,
      verbs.filter((verb) => kind.verbs.includes(verb) || at.subresource !== ""),
      at,
      definitions,
    );
    if (item !== undefined) paths[path] = item;
  };
  if (kind.custom === undefined && kind.verbs.includes("watch"))
    Object.assign(paths, watchPaths(base, place, definitions));
  add(scope, ["list", "create", "deletecollection"], place);
  add(`${scope}/{name}`, ["get", "update", "patch", "delete"], place);
  if (namespaced) add(`${base}/${name}`, ["list"], { ...place, inNamespace: false });
  for (const [subresource, declared] of Object.entries(kind.subresources)) {
    const path = `${scope}/{name}/${subresource}`;
    const at = { ...place, subresource, ...shownAt(kind, declared) };
    add(path, declared.verbs, at);
    if (subresource === "proxy") add(`${path}/{path}`, declared.verbs, { ...at, withPath: true });
  }
  return paths;
}

/** Returns the deprecated watch paths. */
function watchPaths(base: string, place: Place, definitions: Definitions): Record<string, PathItem> {
  const { name, namespaced } = place.resource;
  const scope = namespaced ? `${base}/watch/namespaces/{namespace}/${name}` : `${base}/watch/${name}`;
  const item = (path: string, ofOne: boolean, at: Place) => {
    const operations = { get: watchPathOperation(at, ofOne, definitions) };
    const queryParameters = [...listParametersOf(definitions), ...watchParameters, prettyParameter];
    return [path, withParameters(operations, path, queryParameters, at, definitions)] as const;
  };
  return Object.fromEntries([
    item(scope, false, place),
    item(`${scope}/{name}`, true, place),
    ...(namespaced ? [item(`${base}/watch/${name}`, false, { ...place, inNamespace: false })] : []),
  ]);
}

/** Returns the kind of a subresource's bodies. */
function shownAt(kind: Kind, subresource: Subresource): Pick<Place, "kind" | "connection"> {
  switch (subresource.shape) {
    case "view":
    case "action":
      return { kind: subresource.kind(), connection: undefined };
    case "connect":
      return { kind, connection: subresource.optionsKind };
    case undefined:
      return { kind, connection: undefined };
  }
}

function pathItem(
  path: string,
  verbs: readonly Verb[],
  place: Place,
  definitions: Definitions,
): PathItem | undefined {
  const item: PathItem = {};
  for (const verb of verbs) Object.assign(item, operationsOf(verb, place, definitions));
  if (Object.keys(item).length === 0) return undefined;
  const queryParameters =
    place.connection === undefined ? [prettyParameter] : (connectionParameters[place.subresource] ?? []);
  return withParameters(item, path, queryParameters, place, definitions);
}

/** @param queryParameters query parameters of every operation. */
function withParameters(
  item: PathItem,
  path: string,
  queryParameters: readonly Parameter[],
  place: Place,
  { dialect }: Definitions,
): PathItem {
  const parameters = [
    ...(path.includes("{name}") ? [nameParameter(place.resource.kind.name)] : []),
    ...(path.includes("{namespace}") ? [namespaceParameter] : []),
    ...(path.includes("{path}") ? [restParameter] : []),
    ...queryParameters,
  ];
  return { ...item, parameters: parameters.map((one) => parameterObject(one, dialect)) };
}
