import type { Resource } from "../../../resources/registry.ts";
import type { Kind, Verb } from "../../../schema/kind.ts";
import { hasBinaryForm } from "../../../schema/protobuf/numbered.ts";
import type { Definitions } from "../../../schema/openapi/definitions.ts";
import type { SchemaObject } from "../../../schema/openapi/schema-object.ts";
import { StatusType } from "../../../schema/status-type.ts";
import { DeleteOptionsBody } from "../../../kinds/meta/delete-options.ts";
import { applyType, patchTypes } from "../../request/media-types.ts";
import {
  deleteParameters,
  forceParameter,
  listParameters,
  parameterObject,
  watchParameters,
  writeParameters,
  type Parameter,
} from "./parameters.ts";

/** Where an operation stands: its resource type, and what the path names. */
export interface Place {
  readonly resource: Resource;
  /** What the operation takes and answers: the resource's own kind, or that of a subresource. */
  readonly kind: Kind;
  /** Name of the kind of a connection's parameters; undefined for everything but connections. */
  readonly connection: string | undefined;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Whether the path goes on behind the subresource. */
  readonly withPath?: boolean;
  /** Whether the path names a namespace; a namespaced list without one is over all namespaces. */
  readonly inNamespace: boolean;
}

/** An operation before it takes a dialect's form. */
interface Outline {
  readonly method: "delete" | "get" | "patch" | "post" | "put";
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

/** The operation of a verb at a place, and the HTTP method under which it stands; undefined where there is none. */
export function operationOf(
  verb: Verb,
  place: Place,
  definitions: Definitions,
): { readonly method: string; readonly operation: object } | undefined {
  const outline = outlineOf(verb, place, definitions);
  if (outline === undefined) return undefined;
  return { method: outline.method, operation: render(outline, place, definitions) };
}

function outlineOf(verb: Verb, place: Place, definitions: Definitions): Outline | undefined {
  const { kind } = place;
  if (place.connection !== undefined) return connection(verb, place);
  const object = definitions.kind(kind);
  const body = { schema: object, types: anyType, required: true };
  const changed = { 200: object, 201: object };
  switch (verb) {
    case "get":
      return outline("get", "get", place, "read", { answers: { 200: object } });
    case "list": {
      const parameters = [...listParameters, ...watchParameters];
      return outline("get", "list", place, "list", { parameters, answers: { 200: definitions.list(kind) } });
    }
    case "create": {
      const answers = { ...changed, 202: object };
      return outline("post", "post", place, "create", { parameters: writeParameters, body, answers });
    }
    case "update":
      return outline("put", "put", place, "replace", { parameters: writeParameters, body, answers: changed });
    case "patch":
      return outline("patch", "patch", place, "patch", { ...patchParts(definitions), answers: changed });
    case "delete":
    case "deletecollection":
      return deletion(verb, place, definitions);
    case "watch":
      return undefined;
  }
}

function patchParts(definitions: Definitions): Pick<Outline, "body" | "parameters"> {
  const types = [...Object.keys(patchTypes), applyType];
  return {
    parameters: [...writeParameters, forceParameter],
    body: { schema: definitions.patch(), types, required: true },
  };
}

function deletion(verb: "delete" | "deletecollection", place: Place, definitions: Definitions): Outline {
  const { kind } = place;
  const options = definitions.shared(DeleteOptionsBody, [
    { group: "", kind: "DeleteOptions", version: "v1" },
  ]);
  const status = definitions.shared(StatusType, [{ group: "", kind: "Status", version: "v1" }]);
  const body = { schema: options, types: anyType, required: false };
  if (verb === "deletecollection") {
    const parameters = [...deleteParameters, ...listParameters];
    return outline("delete", verb, place, "deleteCollection", { parameters, body, answers: { 200: status } });
  }
  const gone = kind.returnsDeletedObject ? definitions.kind(kind) : status;
  const answers = { 200: gone, 202: gone };
  return outline("delete", verb, place, "delete", { parameters: deleteParameters, body, answers });
}

/** A connection answers with whatever is at its other end. */
function connection(verb: Verb, place: Place): Outline | undefined {
  const methods = { get: "get", create: "post", update: "put", patch: "patch", delete: "delete" } as const;
  const method = verb in methods ? methods[verb as keyof typeof methods] : undefined;
  if (method === undefined) return undefined;
  const text = { 200: { type: "string" } } as const;
  // What only shows something of the object is read like the object.
  if (place.connection === place.kind.name) return outline("get", "get", place, "read", { answers: text });
  return outline(method, "connect", place, `connect${capital(method)}`, { answers: text });
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

/** As the field's generators expect: `readCoreV1NamespacedConfigMap`, `listCoreV1ConfigMapForAllNamespaces`. */
function operationId(word: string, { resource, subresource, inNamespace, withPath }: Place): string {
  const { kind, namespaced } = resource;
  const collection = word === "deleteCollection" ? "Collection" : "";
  const start = collection === "" ? word : "delete";
  const scope = namespaced && inNamespace ? "Namespaced" : "";
  const all = namespaced && !inNamespace ? "ForAllNamespaces" : "";
  const version = `${groupWords(kind.group.base)}${capital(kind.version)}`;
  return `${start}${version}${collection}${scope}${kind.name}${capital(subresource)}${withPath === true ? "WithPath" : ""}${all}`;
}

function groupWords(base: string): string {
  return (base === "" ? "core" : base).split(/[.-]/).map(capital).join("");
}

/** The tag of a group version's operations: `rbacAuthorization_v1`. */
function tagOf({ kind }: Resource): string {
  const words = groupWords(kind.group.base);
  return `${words[0]!.toLowerCase()}${words.slice(1)}_${kind.version}`;
}

function capital(word: string): string {
  return word === "" ? "" : word[0]!.toUpperCase() + word.slice(1);
}

function render(outline: Outline, { resource, kind, connection }: Place, definitions: Definitions): object {
  const { dialect } = definitions;
  const parameters = outline.parameters.map((one) => parameterObject(one, dialect));
  const head = { description: outline.does, operationId: outline.id, tags: [tagOf(resource)] };
  const marks = {
    [definitions.extension("action")]: outline.action,
    [definitions.extension("group-version-kind")]:
      connection === undefined ? definitions.kindOf(kind) : { ...definitions.kindOf(kind), kind: connection },
  };
  const types = typesOf(outline, hasBinaryForm(kind.type) ? definitions.protobufMediaType : undefined);
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

/** The media types of an operation's answers. */
function typesOf({ action }: Outline, binary: string | undefined): readonly string[] {
  if (action === "connect") return anyType;
  const types = ["application/json", "application/yaml", ...(binary === undefined ? [] : [binary])];
  if (action !== "list") return types;
  const watched = binary === undefined ? [] : [`${binary};stream=watch`];
  return [...types, "application/json;stream=watch", ...watched];
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
