import { StatusError } from "../../base/status-error.ts";
import { deleteCollection } from "../../resources/writes/delete-collection.ts";
import { deleteObject, propagationPolicy, type DeleteOptions } from "../../resources/writes/delete.ts";
import { deleteUnreadable, unsafeOption } from "../../resources/writes/unsafe-delete.ts";
import { groupAnnotation } from "../../vocabulary/names.ts";
import { applies, since } from "../../base/release-rows.ts";
import { structInRelease } from "../../schema/kind-in-release.ts";
import { asksFor, forbidden } from "../request/attributes.ts";
import { reportOf, type ResourceContext } from "../request/context.ts";
import { decode, TypeFault } from "../../schema/decode.ts";
import { FieldReport } from "../../schema/faults.ts";
import { DeleteOptionsBody } from "../../kinds/meta/delete-options.ts";
import { inputFormat, parse, readBytes } from "./body.ts";
import { refuseHistoryParameters } from "./past.ts";
import { writerOf } from "./writer.ts";
import {
  integerParameter,
  invalidOptions,
  isDryRun,
  listParameters,
  refuseListParameters,
} from "../request/parameters.ts";
import { sendStatus } from "../answers/respond.ts";
import { isTrue } from "../request/facts.ts";
import type { HttpService } from "../service.ts";
import { successStatus } from "../answers/status.ts";
import { listMeta } from "../encodings/encoding.ts";
import { encodingOf, sendObject } from "./answer.ts";

const allowsUnsafeDryRun = applies(since("1.37"));

/**
 * DELETE of one object. Responds with a Status if it is deleted, and with the object if finalizers or a grace period keep it: 200, or
 * 202 if the client sent `orphanDependents=false` (rulings: 200, 201, 202).
 */
export async function serveDelete(service: HttpService, request: ResourceContext): Promise<void> {
  const encoding = encodingOf(service, request);
  const { target } = request;
  const { options, stays, unsafe } = await deleteOptions(service, request);
  if (unsafe) return serveUnsafeDelete(service, request, options.dryRun);
  const result = await deleteObject(service.engine, target, options);
  if (!result.gone) return sendObject(service, request, encoding, stays, result.body);
  if (target.resource.kind.returnsDeletedObject)
    return sendObject(service, request, encoding, 200, result.body);
  const { group, name: kind } = target.resource;
  const status = successStatus({ name: target.name, group, kind, uid: result.uid });
  sendStatus(request, service.engine.vocabulary, 200, status);
}

/** DELETE of an object that can't be read, which needs a right of its own. */
async function serveUnsafeDelete(
  service: HttpService,
  request: ResourceContext,
  dryRun: boolean,
): Promise<void> {
  const { authorizer, engine } = service;
  const { facts, user, target } = request;
  const { groupSuffix } = engine.vocabulary;
  reportOf(request).annotate(
    groupAnnotation(groupSuffix, "unsafe-delete-ignore-read-error", "apiserver"),
    "",
  );
  const attributes = asksFor(facts, user, "unsafe-delete-ignore-read-errors");
  const decision = await authorizer.authorize(attributes);
  if (decision.verdict !== "allow") throw forbidden(attributes, decision);
  await deleteUnreadable(engine, target, dryRun);
  const { group, name: kind } = target.resource;
  sendStatus(request, engine.vocabulary, 200, successStatus({ name: target.name, group, kind }));
}

/** DELETE of a collection. */
export async function serveDeleteCollection(service: HttpService, request: ResourceContext): Promise<void> {
  const { target, facts } = request;
  refuseListParameters(facts.query, "deletecollection");
  refuseHistoryParameters(facts, "deletecollection", "at", "deleted");
  const { list } = listParameters(target.resource, facts.query, service.engine);
  const { options, unsafe } = await deleteOptions(service, request);
  if (unsafe) {
    const report = FieldReport.start();
    report
      .at(unsafeOption)
      .invalid(true, "is not allowed with DELETECOLLECTION, try again after removing the option");
    throw invalidOptions("DeleteOptions", report.faults);
  }
  if (options.uid !== undefined || options.resourceVersion !== undefined) {
    throw new StatusError("BadRequest", "preconditions can't be used when a collection is deleted");
  }
  const end = await deleteCollection(service.engine, target, list, options);
  const { group, name: kind } = target.resource;
  sendStatus(
    request,
    service.engine.vocabulary,
    200,
    successStatus({ group, kind }, listMeta({ ...end, shard: undefined })),
  );
}

/**
 * The options of a deletion, from the body or else the query (spec: conventions 4.3), and the response status if the object is kept.
 */
async function deleteOptions(
  service: HttpService,
  request: ResourceContext,
): Promise<{
  readonly options: DeleteOptions;
  readonly stays: 200 | 202;
  /** Whether only an object that can't be read is deleted. */
  readonly unsafe: boolean;
}> {
  const { facts, exchange } = request;
  const { query } = facts;
  const body = await readOptions(service, request);
  const report = FieldReport.start();
  const dryRun = isDryRun([...query.all("dryRun"), ...(body?.dryRun ?? [])], report);
  const grace = body?.gracePeriodSeconds ?? integerParameter(query, "gracePeriodSeconds");
  const policy = body?.propagationPolicy ?? query.get("propagationPolicy");
  const orphan = body?.orphanDependents ?? orphanParameter(query.get("orphanDependents"));
  if (policy !== undefined && orphan !== undefined) {
    report
      .at("propagationPolicy")
      .invalid(policy, "orphanDependents and deletionPropagation cannot be both set");
  }
  const unsafe = isUnsafe(service, body, query);
  if (unsafe) {
    refuseWithUnsafe(report, {
      dryRun: dryRun && !allowsUnsafeDryRun(service.engine.registry),
      propagationPolicy: policy !== undefined,
      orphanDependents: orphan !== undefined,
      gracePeriodSeconds: grace !== undefined,
      preconditions: body?.preconditions !== undefined,
    });
  }
  if (report.faults.length > 0) throw invalidOptions("DeleteOptions", report.faults);
  const options = {
    ...writerOf(service, request),
    dryRun,
    fieldManager: (exchange.header("user-agent") ?? "").split("/", 1)[0]!,
    gracePeriodSeconds: grace,
    propagationPolicy: policy !== undefined ? propagationPolicy(policy) : policyOf(orphan),
    uid: body?.preconditions?.uid,
    resourceVersion: body?.preconditions?.resourceVersion,
  };
  return { options, stays: orphan === false ? 202 : 200, unsafe };
}

/** Whether the request deletes an object that can't be read. */
function isUnsafe(
  { engine }: HttpService,
  body: RequestedDeletion | undefined,
  query: ResourceContext["facts"]["query"],
): boolean {
  const requested = body === undefined ? isTrue(query.get(unsafeOption)) : body[unsafeOption] === true;
  return requested && engine.featureEnabled("AllowUnsafeMalformedObjectDeletion");
}

/** Reports the options that can't be combined with {@link unsafeOption}. */
function refuseWithUnsafe(report: FieldReport, others: Readonly<Record<string, boolean>>): void {
  for (const [name, isSet] of Object.entries(others))
    if (isSet) report.at(unsafeOption).invalid(true, `cannot be set together with .${name}`);
}

/** The policy of the older option `orphanDependents`; undefined without it. */
function policyOf(orphan: boolean | undefined): "Orphan" | "Background" | undefined {
  if (orphan === undefined) return undefined;
  return orphan ? "Orphan" : "Background";
}

function orphanParameter(text: string | undefined): boolean | undefined {
  return text === undefined || text === "" ? undefined : isTrue(text);
}

type RequestedDeletion = DeleteOptionsBody & { readonly [unsafeOption]?: boolean };

/** The options in the body; undefined without a body. */
async function readOptions(
  service: HttpService,
  request: ResourceContext,
): Promise<RequestedDeletion | undefined> {
  const bytes = await readBytes(service, request);
  if (bytes.length === 0) return undefined;
  const { registry } = service.engine;
  const { value } = await parse(bytes, inputFormat(request.exchange, registry), registry);
  request.audit?.requestBody(value);
  const kind = (value as { kind?: unknown } | null)?.kind;
  if (typeof kind === "string" && kind !== "" && kind !== "DeleteOptions") {
    throw new StatusError(
      "BadRequest",
      `the body of a deletion is of kind DeleteOptions, not ${JSON.stringify(kind)}`,
    );
  }
  try {
    return decode(structInRelease(DeleteOptionsBody, registry.release), value).value as RequestedDeletion;
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    throw new StatusError("BadRequest", `DeleteOptions can't be read: ${error.message}`);
  }
}
