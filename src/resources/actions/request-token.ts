import { labelKey } from "../../vocabulary/names.ts";
import { applies, since } from "../../base/release-rows.ts";
import { StatusError } from "../../base/status-error.ts";
import { TokenRequest } from "../../kinds/authentication/token-request.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { conflict, failedPrecondition, type Engine, type Target } from "../engine/engine.ts";
import { ownershipOfAnswer } from "../ownership/field-ownership.ts";
import { getObject } from "../reads/get.ts";
import { keyOf, resourceOf } from "../registry/registry.ts";
import { decodeEntry, uidOf } from "../objects/stored.ts";
import { credentialId, type TokenFacts, type TokenIssuer } from "../engine/token-issuer.ts";
import { admitAction, checkBody } from "../writes/write.ts";
import type { ActionOptions } from "./action.ts";

const showsUid = applies(since("1.34"));

interface Request extends ApiObject {
  spec: {
    audiences?: string[];
    expirationSeconds: number;
    boundObjectRef?: BoundObject | null;
  };
}

interface BoundObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

/** Lifetime that node agents request for pods; it identifies these requests. */
const agentSeconds = 3607;
/** Actual lifetime of such a token, one year, for programs that don't reload it. */
const extendedSeconds = 365 * 24 * 60 * 60;

/**
 * Issues a service account token (spec: conventions 5.5) for the requested audiences, lifetime and bound object. Nothing is stored.
 *
 * @returns the request with the token in its status.
 * @throws {StatusError} NotFound if the account or the bound object doesn't exist; BadRequest for an object that a token can't be bound to;
 *   Conflict if its uid differs; MethodNotAllowed if the server issues no tokens.
 */
export async function requestToken(
  engine: Engine,
  target: Target,
  body: ApiObject,
  options: ActionOptions,
): Promise<ApiObject> {
  const issuer = engine.tokens;
  if (issuer === undefined) throw new StatusError("MethodNotAllowed", "this server issues no tokens");
  const request = body as Request;
  const asResponse = { ...target, resource: resourceOf(TokenRequest, engine.vocabulary) };
  const managedFields = ownershipOfAnswer(engine, asResponse, body, options);
  const account = decodeEntry(await getObject(engine, { ...target, subresource: "" }));
  checkRequestedUid(engine, target, body, account);
  const nowMs = engine.clock.now();
  const { name, namespace } = target;
  request.metadata = {
    ...request.metadata,
    name,
    namespace,
    ...(showsUid(engine.registry) && { uid: request.metadata.uid ?? account.metadata.uid }),
    creationTimestamp: engine.timestamps.at(nowMs),
  };
  await admitAction(engine, target, body, options, () => {
    // A webhook may have changed the body. Mutating plugins see whether the client named audiences.
    checkBody(engine, asResponse, body);
    if ((request.spec.audiences ?? []).length === 0) request.spec.audiences = [...issuer.ownAudiences];
  });
  const { spec } = request;
  const boundTo = await boundObject(engine, target, spec.boundObjectRef ?? undefined);
  shorten(spec, issuer, options);
  const lifetime = lifetimeOf(spec, issuer, boundTo.boundTo);
  const issuedAt = Math.floor(nowMs / 1000);
  const id = engine.featureEnabled("ServiceAccountTokenJTI") ? engine.newUid("tokens") : undefined;
  const token = await issuer.issue({
    namespace,
    account: { name, uid: account.metadata.uid ?? "" },
    ...boundTo,
    id,
    audiences: spec.audiences ?? [],
    issuedAt,
    expiresAt: issuedAt + lifetime.seconds,
    warnAfter: lifetime.warnSeconds === undefined ? undefined : issuedAt + lifetime.warnSeconds,
  });
  if (id !== undefined) {
    const key = labelKey(engine.vocabulary.domain, "issued-credential-id", "authentication");
    options.report?.annotate(key, credentialId(id));
  }
  // The response has the requested time, so that the client renews the token by then.
  const expirationTimestamp = engine.timestamps.at(nowMs + spec.expirationSeconds * 1000);
  const metadata = { ...request.metadata, managedFields };
  return { ...request, metadata, status: { token, expirationTimestamp } };
}

/** Rejects a request for an earlier service account of the same name (release 1.34 on). */
function checkRequestedUid(engine: Engine, target: Target, body: ApiObject, account: ApiObject): void {
  if (!engine.featureEnabled("TokenRequestServiceAccountUIDValidation")) return;
  const { uid: requested = "" } = body.metadata;
  const { uid: actual = "" } = account.metadata;
  if (requested === "" || requested === actual) return;
  throw conflict(
    target,
    `the UID in the token request (${requested}) does not match the UID of the service account (${actual})`,
  );
}

/** Reads the bound object of a token request, and the node of a pod. */
async function boundObject(
  engine: Engine,
  target: Target,
  reference: BoundObject | undefined,
): Promise<Pick<TokenFacts, "boundTo" | "node">> {
  if (reference === undefined) return { boundTo: undefined };
  const { kind = "", apiVersion = "", name = "", uid = "" } = reference;
  const resources = { Pod: "pods", Secret: "secrets", Node: "nodes" } as const;
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const bindsNodes = engine.featureEnabled("ServiceAccountTokenNodeBinding");
  if (group !== "" || (kind !== "Pod" && kind !== "Secret" && !(kind === "Node" && bindsNodes))) {
    const type = JSON.stringify(`${apiVersion === "" ? "" : `${apiVersion}, `}Kind=${kind}`);
    throw new StatusError("BadRequest", `cannot bind token to object of type ${type}`);
  }
  if (name === "") throw new StatusError("BadRequest", "spec.boundObjectRef.name is required");
  const resource = engine.registry.find("", "v1", resources[kind]);
  if (resource === undefined) {
    throw new StatusError("BadRequest", `cannot bind token to a ${kind}: this server has none`);
  }
  const namespace = kind === "Node" ? "" : target.namespace;
  const bound = { resource, namespace, name, subresource: "" };
  const object = decodeEntry(await getObject(engine, bound));
  if (kind === "Pod") checkAccount(target, object);
  const actual = object.metadata.uid ?? "";
  if (uid !== "" && uid !== actual) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record (${actual}): the object was deleted and created again`;
    throw failedPrecondition(bound, why);
  }
  const node = kind === "Pod" ? await nodeOf(engine, object) : undefined;
  return { boundTo: { kind, object: { name, uid: actual } }, node };
}

/** Returns the node of a pod, without uid if there is no such Node; undefined if the release doesn't name it. */
async function nodeOf(engine: Engine, pod: ApiObject): Promise<TokenFacts["node"]> {
  const { nodeName: name = "" } = (pod["spec"] ?? {}) as { nodeName?: string };
  const resource = engine.registry.find("", "v1", "nodes");
  if (name === "" || resource === undefined || !engine.featureEnabled("ServiceAccountTokenPodNodeInfo"))
    return undefined;
  const entry = await engine.store.get(keyOf(resource, "", name));
  return { name, uid: entry === undefined ? "" : uidOf(entry) };
}

/** Checks that the pod runs as the service account of the token. */
function checkAccount({ name }: Target, pod: ApiObject): void {
  const { serviceAccountName = "" } = (pod["spec"] ?? {}) as { serviceAccountName?: string };
  if (serviceAccountName === name) return;
  const message = `cannot bind token for serviceaccount ${JSON.stringify(name)} to pod running with different serviceaccount name.`;
  throw new StatusError("BadRequest", message);
}

function shorten(spec: Request["spec"], { maxSeconds }: TokenIssuer, { warn }: ActionOptions): void {
  if (maxSeconds <= 0 || spec.expirationSeconds <= maxSeconds) return;
  warn(`requested expiration of ${spec.expirationSeconds} seconds shortened to ${maxSeconds} seconds`);
  spec.expirationSeconds = maxSeconds;
}

interface Lifetime {
  readonly seconds: number;
  readonly warnSeconds: number | undefined;
}

/** The actual lifetime of a token: longer for a pod's token whose audience is the server, with a record of its stale use. */
function lifetimeOf(spec: Request["spec"], issuer: TokenIssuer, boundTo: TokenFacts["boundTo"]): Lifetime {
  const { expirationSeconds: requested, audiences = [] } = spec;
  const forServer = audiences.length > 0 && audiences.every((one) => issuer.ownAudiences.includes(one));
  const extended =
    issuer.extendsLifetime && boundTo?.kind === "Pod" && requested === agentSeconds && forServer;
  return extended
    ? { seconds: extendedSeconds, warnSeconds: requested }
    : { seconds: requested, warnSeconds: undefined };
}
