import { apiVersionOf } from "../../base/object-errors.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { actionOf } from "../../resources/actions/actions.ts";
import type { Engine, Target } from "../../resources/engine/engine.ts";
import { readObject, addWarnings } from "../../resources/input/input.ts";
import { matchNamespace } from "../../resources/input/metadata.ts";
import { resourceOf, type Resource } from "../../resources/registry/registry.ts";
import { checkBody } from "../../resources/writes/write.ts";
import { TokenRequest } from "../../kinds/authentication/token-request.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ActionSubresource, ApiObject } from "../../schema/kind.ts";
import { readDocument } from "./body.ts";
import { writerOf } from "./writer.ts";
import { writeParameters } from "../request/parameters.ts";
import { sendStatus } from "../answers/respond.ts";
import type { HttpService } from "../service.ts";
import { doneStatus } from "../answers/status.ts";
import { bodyOf, encodingOf, sendObject } from "./answer.ts";
import type { ResourceContext } from "../request/context.ts";

/** Changes the version of a body in an older, equivalent version to the current one. */
function inCurrentVersion(
  value: JsonValue,
  { group, apiVersion }: Resource,
  { olderVersions = [] }: ActionSubresource,
): JsonValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const older = olderVersions.map((version) => apiVersionOf(group, version));
  return older.includes(value["apiVersion"] as string) ? { ...value, apiVersion } : value;
}

/** POST of an action on an object, such as `eviction`. */
export async function serveAction(
  service: HttpService,
  request: ResourceContext,
  subresource: ActionSubresource,
): Promise<void> {
  const { engine } = service;
  const { exchange, facts, target } = request;
  const resource = resourceOf(subresource.kind(), engine.vocabulary);
  const encoding = encodingOf(service, request, resource);
  const parameters = writeParameters(facts.query, "CreateOptions", exchange.header("user-agent") ?? "");
  const { value: sent, duplicates } = await readDocument(service, request);
  const value = inCurrentVersion(sent, resource, subresource);
  const bodyTarget = { ...target, resource };
  const { object, warnings } = readObject(engine, bodyTarget, value, duplicates, parameters.fieldValidation);
  const writer = writerOf(service, request);
  addWarnings(writer.report, warnings);
  matchNamespace(target, object.metadata);
  // Without a name in the path, the body names the object.
  const about = target.name === "" ? objectOf(engine, target, object) : sameName(target, object, resource);
  checkBody(engine, bodyTarget, object);
  const warn = (text: string) => writer.report.warn(text);
  const result = await actionOf(about)(engine, about, object, {
    ...writer,
    ...parameters,
    warn,
  });
  if (result === undefined) {
    return sendStatus(request, engine.vocabulary, 201, doneStatus(201));
  }
  return sendObject(service, request, encoding, 201, bodyOf(result));
}

/** The body must name the object of the path; only a TokenRequest may omit the name. */
function sameName(target: Target, { kind, metadata: { name = "" } }: ApiObject, { group }: Resource): Target {
  const isToken = kind === TokenRequest.name;
  if (name === target.name || (isToken && name === "")) return target;
  if (!isToken) throw new StatusError("BadRequest", `name in URL does not match name in ${kind} object`);
  const report = FieldReport.start();
  report.at("metadata", "name").invalid(name, "must match the service account name");
  throw invalidError({ kind, group, name: target.name }, report.faults);
}

/** The object that the body of an action on a collection names. */
function objectOf(engine: Engine, target: Target, { metadata }: ApiObject): Target {
  const { kind } = target.resource;
  const { resource: name, subresource } = kind.subresourceAlias!;
  const resource = engine.registry.find(target.resource.group, kind.version, name);
  if ((metadata.name ?? "") === "") throw new StatusError("BadRequest", "metadata.name is required");
  if (resource === undefined) throw new StatusError("NotFound", `this server has no ${name}`);
  return { ...target, resource, name: metadata.name!, subresource };
}
