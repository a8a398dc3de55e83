import type { Resource } from "../../../resources/registry/registry.ts";
import type { Kind, Verb } from "../../../schema/kind.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { hasProtobufEncoding } from "../../../schema/protobuf/numbered.ts";
import type { Definitions } from "../../../schema/openapi/definitions.ts";
import type { SchemaObject } from "../../../schema/openapi/schema-object.ts";
import { StatusType, WatchEventType } from "../../../schema/status-type.ts";
import { structInRelease } from "../../../schema/kind-in-release.ts";
import { DeleteOptionsBody } from "../../../kinds/meta/delete-options.ts";
import { patchTypesOf } from "../../request/media-types.ts";
import {
  deleteParametersOf,
  forceParameter,
  listParametersOf,
  parameterObject,
  furtherListParameters,
  watchParameters,
  writeParameters,
  type Parameter,
} from "./parameters.ts";

/** Position of an operation: its resource type, and the parameters of the path. */
export interface Place {
  readonly resource: Resource;
  /** The kind of request and response bodies: that of the resource or of a subresource. */
  readonly kind: Kind;
  /** Kind of a connection's options; undefined for other operations. */
  readonly connection: string | undefined;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Whether further path segments follow the subresource. */
  readonly withPath?: boolean;
  /** Whether the path contains a namespace; without one, a list of a namespaced resource contains all namespaces. */
  readonly inNamespace: boolean;
}

/** HTTP methods of connections, by the verb of their authorization. */
const connectMethods = {
  get: ["get", "head"],
  create: ["post"],
  update: ["put"],
  patch: ["patch"],
  delete: ["delete"],
} as const;

/** An operation, independent of the dialect. */
interface Outline {
  readonly method: "delete" | "get" | "head" | "patch" | "post" | "put";
  readonly action: string;
  readonly id: string;
  readonly does: string;
  readonly parameters: readonly Parameter[];
  readonly body?: {
    readonly schema: SchemaObject;
    readonly types: readonly string[];
    readonly required: boolean;
  };
  readonly answers: Readonly<Record<number, SchemaObject>>;
}

const anyType = ["*/*"] as const;
const phrases: Readonly<Record<number, string>> = { 200: "OK", 201: "Created", 202: "Accepted" };

/** Returns the operations of a verb by HTTP method. */
export function operationsOf(verb: Verb, place: Place, definitions: Definitions): Record<string, object> {
  const outlines =
    place.connection === undefined ? [outlineOf(verb, place, definitions)] : connections(verb, place);
  return Object.fromEntries(
    outlines.flatMap((one) =>
      one === undefined ? [] : [[one.method, render(one, place, definitions)] as const],
    ),
  );
}

/**
 * Returns the operation of a deprecated watch path (spec: conventions 4.6, as the reference).
 *
 * @param ofOne whether the path names an object.
 */
export function watchPathOperation(place: Place, ofOne: boolean, definitions: Definitions): object {
  const answers = {
    200: definitions.shared(WatchEventType, [{ group: "", kind: "WatchEvent", version: "v1" }]),
  };
  const { kind } = place.resource;
  const parts = ofOne
    ? { action: "watch", id: operationId("watch", place), does: `watch an object of kind ${kind.name}` }
    : {
        action: "watchlist",
        id: operationId("watch", place, "List"),
        does: `watch objects of kind ${kind.name}`,
      };
  const instead = "deprecated: a list with the parameter watch does the same";
  const outlined = {
    ...parts,
    does: `${parts.does}. ${instead}`,
    method: "get" as const,
    parameters: [],
    answers,
  };
  return render(outlined, place, definitions);
}

function outlineOf(verb: Verb, place: Place, definitions: Definitions): Outline | undefined {
  const { kind } = place;
  const object = definitions.kind(kind);
  const body = { schema: object, types: anyType, required: true };
  const changed = { 200: object, 201: object };
  switch (verb) {
    case "get":
      return outline("get", "get", place, "read", { answers: { 200: object } });
    case "list": {
      const parameters = [...listParametersOf(definitions), ...furtherListParameters, ...watchParameters];
      return outline("get", "list", place, "list", { parameters, answers: { 200: definitions.list(kind) } });
    }
    case "create": {
      const answers = { ...changed, 202: object };
      return outline("post", "post", place, "create", { parameters: writeParameters, body, answers });
    }
    case "update":
      return outline("put", "put", place, "replace", { parameters: writeParameters, body, answers: changed });
    case "patch":
      return outline("patch", "patch", place, "patch", {
        ...patchParts(place, definitions),
        answers: changed,
      });
    case "delete":
    case "deletecollection":
      return deletion(verb, place, definitions);
    case "watch":
      return undefined;
  }
}

function patchParts({ resource }: Place, definitions: Definitions): Pick<Outline, "body" | "parameters"> {
  const types = patchTypesOf(resource.kind.custom !== undefined, definitions.vocabulary);
  return {
    parameters: [...writeParameters, forceParameter],
    body: { schema: definitions.patch(), types, required: true },
  };
}

function deletion(verb: "delete" | "deletecollection", place: Place, definitions: Definitions): Outline {
  const { kind } = place;
  const options = definitions.shared(structInRelease(DeleteOptionsBody, definitions.release), [
    { group: "", kind: "DeleteOptions", version: "v1" },
  ]);
  const status = definitions.shared(StatusType, [{ group: "", kind: "Status", version: "v1" }]);
  const body = { schema: options, types: anyType, required: false };
  if (verb === "deletecollection") {
    const parameters = [...deleteParametersOf(definitions), ...listParametersOf(definitions)];
    return outline("delete", verb, place, "deleteCollection", { parameters, body, answers: { 200: status } });
  }
  const gone = kind.returnsDeletedObject ? definitions.kind(kind) : status;
  const answers = { 200: gone, 202: gone };
  return outline("delete", verb, place, "delete", {
    parameters: deleteParametersOf(definitions),
    body,
    answers,
  });
}

/** The response of a connection is that of its target, so it has no schema. */
function connections(verb: Verb, place: Place): Outline[] {
  const answers = { 200: { type: "string" } } as const;
  if (isText(place)) return [outline("get", "get", place, "read", { answers })];
  const methods = verb in connectMethods ? connectMethods[verb as keyof typeof connectMethods] : [];
  const { resource, subresource } = place;
  return methods
    .filter((method) => method !== "head" || subresource === "proxy")
    .map((method) => ({
      method,
      action: "connect",
      id: operationId("connect", place, "", capital(method)),
      does: `connect ${method.toUpperCase()} requests to ${subresource} of ${resource.kind.name}`,
      parameters: [],
      answers,
    }));
}

/** Returns true if a connection returns text about the object, such as a log; its operation is that of a read. */
function isText({ connection, kind }: Place): boolean {
  return connection === kind.name;
}

function outline(
  method: Outline["method"],
  action: string,
  place: Place,
  word: string,
  parts: Partial<Pick<Outline, "parameters" | "body">> & Pick<Outline, "answers">,
): Outline {
  const { resource, subresource } = place;
  const what = subresource === "" ? "" : `${subresource} of `;
  const object = action === "list" || action === "deletecollection" ? "objects" : "an object";
  const does = `${word.replace("Collection", "")} ${what}${object} of kind ${resource.kind.name}`;
  return { method, action, id: operationId(word, place), does, parameters: [], ...parts };
}

/**
 * Returns the operation id that client generators expect: `readCoreV1NamespacedConfigMap`,
 * `listCoreV1ConfigMapForAllNamespaces`.
 */
function operationId(
  word: string,
  { resource, subresource, inNamespace, withPath }: Place,
  many = "",
  method = "",
): string {
  const { kind, namespaced } = resource;
  const collection = word === "deleteCollection" ? "Collection" : "";
  const start = collection === "" ? word : "delete";
  const scope = namespaced && inNamespace ? "Namespaced" : "";
  const all = namespaced && !inNamespace ? "ForAllNamespaces" : "";
  const version = `${groupWords(kind.group.base)}${capital(kind.version)}`;
  const path = withPath === true ? "WithPath" : "";
  return `${start}${version}${method}${collection}${scope}${kind.name}${many}${capital(subresource)}${path}${all}`;
}

function groupWords(base: string): string {
  return (base === "" ? "core" : base).split(/[.-]/).map(capital).join("");
}

/** Returns the tag of a group version's operations: `rbacAuthorization_v1`. */
function tagOf({ kind }: Resource): string {
  const words = groupWords(kind.group.base);
  return `${words[0]!.toLowerCase()}${words.slice(1)}_${kind.version}`;
}

function capital(word: string): string {
  return word === "" ? "" : word[0]!.toUpperCase() + word.slice(1);
}

function render(outline: Outline, place: Place, definitions: Definitions): object {
  const { resource, kind, connection } = place;
  const { dialect } = definitions;
  const parameters = outline.parameters.map((one) => parameterObject(one, dialect));
  const head = { description: outline.does, operationId: outline.id, tags: [tagOf(resource)] };
  const marks = {
    [definitions.extension("action")]: outline.action,
    [definitions.extension("group-version-kind")]:
      connection === undefined ? definitions.kindOf(kind) : { ...definitions.kindOf(kind), kind: connection },
  };
  // The type of a custom kind isn't accessed, because that would parse its schema.
  const isBinary = kind.custom === undefined && hasProtobufEncoding(kind.type);
  const answered = typesOf(outline, isBinary, definitions.vocabulary);
  const types = connection !== undefined && isText(place) ? ["text/plain", ...answered] : answered;
  if (dialect === "v3") return { ...head, ...bodyAndAnswers(outline, parameters, types), ...marks };
  const { body } = outline;
  const bodyObject =
    body === undefined
      ? []
      : [{ name: "body", in: "body", ...requiredMark(body.required), schema: body.schema }];
  return {
    ...head,
    consumes: body?.types ?? anyType,
    produces: types,
    schemes: ["https"],
    parameters: [...bodyObject, ...parameters],
    responses: answersOf(outline, (schema) => ({ schema })),
    ...marks,
  };
}

/** Returns the media types of an operation's responses. */
function typesOf(
  { action }: Outline,
  isBinary: boolean,
  { protobufMediaType, cborMediaType }: Vocabulary,
): readonly string[] {
  if (action === "connect") return anyType;
  const cbor = cborMediaType === undefined ? [] : [cborMediaType];
  const types = ["application/json", "application/yaml", ...(isBinary ? [protobufMediaType] : []), ...cbor];
  if (action !== "list" && !action.startsWith("watch")) return types;
  const watched = isBinary ? [`${protobufMediaType};stream=watch`] : [];
  return [...types, "application/json;stream=watch", ...watched, ...cbor.map((type) => `${type}-seq`)];
}

function bodyAndAnswers(
  { body, ...outline }: Outline,
  parameters: object[],
  types: readonly string[],
): object {
  const content = (schema: SchemaObject, mediaTypes: readonly string[]) => ({
    content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])),
  });
  const requestBody =
    body === undefined
      ? {}
      : { requestBody: { ...content(body.schema, body.types), ...requiredMark(body.required) } };
  return { parameters, ...requestBody, responses: answersOf(outline, (schema) => content(schema, types)) };
}

function answersOf({ answers }: Pick<Outline, "answers">, form: (schema: SchemaObject) => object): object {
  const good = Object.entries(answers).map(([code, schema]) => {
    return [code, { description: phrases[Number(code)]!, ...form(schema) }] as const;
  });
  return Object.fromEntries([...good, ["401", { description: "Unauthorized" }]]);
}

function requiredMark(required: boolean): object {
  return required ? { required } : {};
}
