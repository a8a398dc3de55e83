import type { UserInfo } from "../../base/user-info.ts";
import { Client, type ObjectReference } from "../../resources/clients/client.ts";
import type { ClientGuard } from "../../resources/clients/client-guard.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { applyAll } from "./apply.ts";
import type { AccessAnswer, AccessOptions, ApplyOptions, WaitOptions } from "./server-client.ts";
import { actionText, explanationText } from "../../authorization/reviews/explanation-text.ts";
import type { ExplanationStatus } from "../../authorization/reviews/explanation.ts";
import { reviewedAttributes, type SelfAccessSpec } from "../../authorization/reviews/access.ts";
import { similarName } from "../../base/similar-name.ts";
import { StatusError } from "../../base/status-error.ts";
import type { HttpService } from "../../http/service.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { userNamed } from "./client-guards.ts";
import { systemClock } from "../../base/time/clock.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StoreClosedError } from "../../storage/store.ts";

/** Implements {@link ServerClient}. */
export class LibraryClient extends Client {
  /** @param caller the user of the client. @param authorize undefined if the client may do everything. */
  constructor(
    private readonly service: AccessService,
    private readonly caller: UserInfo,
    authorize?: ClientGuard,
  ) {
    super(service.engine, caller, authorize, service.reviews);
  }

  can(verb: string, resourceOrPath: string, options: AccessOptions = {}): Promise<boolean> {
    return decideAction(this.service, this.caller, verb, resourceOrPath, options);
  }

  why(verb: string, resourceOrPath: string, options: AccessOptions = {}): Promise<AccessAnswer> {
    return explainAction(this.service, this.caller, verb, resourceOrPath, options);
  }

  apply(source: object | readonly object[] | string, options: ApplyOptions = {}): Promise<ApiObject[]> {
    return applyAll(this, source, options);
  }

  waitFor(
    reference: ObjectReference,
    predicate: (object: ApiObject | undefined) => boolean,
    options?: WaitOptions,
  ): Promise<ApiObject | undefined> {
    return waitFor(this, reference, predicate, options);
  }
}

/** The dependencies of the questions. */
type AccessService = Pick<HttpService, "engine" | "authorizer" | "reviews">;

/** Decides an action; see {@link ServerClient.can}. */
async function decideAction(
  service: AccessService,
  caller: UserInfo,
  verb: string,
  resourceOrPath: string,
  options: AccessOptions,
): Promise<boolean> {
  const user = userOf(service, caller, options);
  const { spec } = await actionOf(service.engine.registry, verb, resourceOrPath, options);
  const { verdict } = await service.authorizer.authorize(reviewedAttributes(user, spec));
  return verdict === "allow";
}

/** Explains the decision on an action; see {@link ServerClient.why}. */
async function explainAction(
  service: AccessService,
  caller: UserInfo,
  verb: string,
  resourceOrPath: string,
  options: AccessOptions,
): Promise<AccessAnswer> {
  const { name, uid, groups, extra } = userOf(service, caller, options);
  const action = await actionOf(service.engine.registry, verb, resourceOrPath, options);
  const review: Record<string, unknown> = { spec: { ...action.spec, user: name, uid, groups, extra } };
  await service.reviews.get("AccessExplanation")!(review, caller);
  const status = review["status"] as ExplanationStatus;
  return { ...status, text: explanationText(status, { user: name, groups }, action.text) };
}

function userOf(
  { engine }: Pick<HttpService, "engine">,
  caller: UserInfo,
  { user, groups }: AccessOptions,
): UserInfo {
  if (user !== undefined) return userNamed(engine.vocabulary, user, groups);
  if (groups === undefined) return caller;
  throw new TypeError("the option groups needs the option user");
}

async function actionOf(
  registry: Registry,
  verb: string,
  resourceOrPath: string,
  options: AccessOptions,
): Promise<{ readonly spec: SelfAccessSpec; readonly text: string }> {
  if (typeof verb !== "string" || verb === "") throw new TypeError("a verb is a text that isn't empty");
  if (typeof resourceOrPath !== "string" || resourceOrPath === "")
    throw new TypeError(`a resource or a path is needed, not ${JSON.stringify(resourceOrPath)}`);
  if (resourceOrPath.startsWith("/")) {
    const path = resourceOrPath;
    return { spec: { nonResourceAttributes: { path, verb } }, text: `${verb} ${path}` };
  }
  const slash = resourceOrPath.indexOf("/");
  const resource = slash === -1 ? resourceOrPath : resourceOrPath.slice(0, slash);
  const { subresource = slash === -1 ? "" : resourceOrPath.slice(slash + 1), name = "" } = options;
  const { group, isClusterScoped } = await resourceType(registry, resource, options.group);
  const namespace = isClusterScoped ? "" : (options.namespace ?? "");
  const action = { verb, group, resource, subresource, namespace, name };
  return { spec: { resourceAttributes: action }, text: actionText(action, isClusterScoped) };
}

/**
 * Returns the group and scope of a resource.
 *
 * @param group undefined for the group that serves the resource.
 * @throws {StatusError} NotFound without a group if no group serves the resource, BadRequest if several do.
 */
async function resourceType(
  registry: Registry,
  resource: string,
  group: string | undefined,
): Promise<{ readonly group: string; readonly isClusterScoped: boolean }> {
  if (resource === "*") return { group: group ?? "*", isClusterScoped: false };
  await registry.sync();
  await registry.readAll();
  const versions = registry.groupVersions.filter((one) => group === undefined || one.group === group);
  const all = versions.flatMap(({ resources }) => resources);
  const matches = all.filter((one) => one.name === resource);
  const groups = [...new Set(matches.map((one) => one.group))];
  const isClusterScoped = matches.length > 0 && matches.every(({ namespaced }) => !namespaced);
  if (group !== undefined) return { group, isClusterScoped };
  if (groups.length === 1) return { group: groups[0]!, isClusterScoped };
  const quoted = JSON.stringify(resource);
  if (groups.length > 1) {
    const list = groups.map((one) => JSON.stringify(one)).join(" and ");
    throw new StatusError("BadRequest", `the groups ${list} have a resource ${quoted}: set the option group`);
  }
  const similar = similarName(
    resource,
    all.map(({ name }) => name),
  );
  throw new StatusError(
    "NotFound",
    `this server has no resource ${quoted}` +
      (similar === undefined ? "" : ` (did you mean ${JSON.stringify(similar)}?)`) +
      ": set the option group for a resource that it doesn't serve",
  );
}

/** Less than the time limit that common test runners have for a test, so that this error is reported. */
const defaultTimeoutMs = 4000;
/** Maximum number of characters of the last state in an error. */
const maxStateLength = 600;
/** The errors with which a watch ends for good; after any other the objects are listed again. */
const finalReasons: ReadonlySet<string> = new Set([
  "Forbidden",
  "NotFound",
  "MethodNotAllowed",
  "BadRequest",
]);

/** Waits for a state of an object; see {@link ServerClient.waitFor}. */
export function waitFor(
  client: Pick<Client, "list" | "watch">,
  reference: ObjectReference,
  predicate: (object: ApiObject | undefined) => boolean,
  { timeoutMs = defaultTimeoutMs }: WaitOptions = {},
): Promise<ApiObject | undefined> {
  if (typeof predicate !== "function")
    return Promise.reject(new TypeError(`a predicate is needed, not ${JSON.stringify(predicate)}`));
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0))
    return Promise.reject(new TypeError(`timeoutMs must be at least 0, not ${JSON.stringify(timeoutMs)}`));
  return new Promise((resolve, reject) => {
    new Wait(client, reference, predicate, { timeoutMs, resolve, reject }).start();
  });
}

interface WaitOutcome {
  readonly timeoutMs: number;
  readonly resolve: (object: ApiObject | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** One call of {@link waitFor}. */
class Wait {
  private isOver = false;
  private last: ApiObject | undefined;
  private isListed = false;
  private watch: { close(): void } | undefined;
  private readonly timer;

  constructor(
    private readonly client: Pick<Client, "list" | "watch">,
    private readonly reference: ObjectReference,
    private readonly predicate: (object: ApiObject | undefined) => boolean,
    private readonly outcome: WaitOutcome,
  ) {
    this.timer = systemClock.setTimer(() => this.fail(this.timeoutError()), outcome.timeoutMs);
  }

  start(): void {
    this.listAndWatch().catch((error: unknown) => this.fail(error));
  }

  private async listAndWatch(): Promise<void> {
    const { apiVersion, kind, name, namespace } = this.reference;
    if (typeof name !== "string" || name === "")
      throw new StatusError("BadRequest", `${kind}: a name is needed, not ${JSON.stringify(name)}`);
    const selected = {
      apiVersion,
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: `metadata.name=${name}`,
    };
    const { items, resourceVersion } = await this.client.list(selected);
    this.isListed = true;
    this.check(items[0]);
    if (this.isOver) return;
    this.watch = this.client.watch(
      { ...selected, resourceVersion },
      ({ type, object }) => this.check(type === "DELETED" ? undefined : object),
      (error) => this.watchEnded(error),
    );
    // The predicate may have been satisfied, or the time may have elapsed, within the call.
    if (this.isOver) this.watch.close();
  }

  private watchEnded(error: Error): void {
    if (this.isOver) return;
    if (error instanceof StoreClosedError) {
      this.fail(new StatusError("ServiceUnavailable", "the server was closed during waitFor"));
    } else if (error instanceof StatusError && finalReasons.has(error.reason)) this.fail(error);
    else this.start();
  }

  private check(object: ApiObject | undefined): void {
    if (this.isOver) return;
    this.last = object;
    try {
      if (!this.predicate(object)) return;
    } catch (error) {
      return this.fail(error);
    }
    this.finish();
    this.outcome.resolve(object);
  }

  private fail(error: unknown): void {
    if (this.isOver) return;
    this.finish();
    this.outcome.reject(error);
  }

  private finish(): void {
    this.isOver = true;
    this.timer.cancel();
    this.watch?.close();
  }

  private timeoutError(): StatusError {
    const { kind, name, namespace } = this.reference;
    const subject = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
    const state = this.isListed ? shortState(this.last) : "it was not read in this time";
    return new StatusError(
      "Timeout",
      `${subject} did not meet the condition within ${this.outcome.timeoutMs} ms; ${state}`,
    );
  }
}

/** Describes the last state of an object: its status and metadata before the rest, cut off after some hundred characters. */
function shortState(object: ApiObject | undefined): string {
  if (object === undefined) return "it doesn't exist";
  const { apiVersion: _apiVersion, kind: _kind, metadata, status, ...rest } = object;
  const { managedFields: _managedFields, name: _name, namespace: _namespace, uid: _uid, ...shown } = metadata;
  const parts = { ...(status === undefined ? {} : { status }), metadata: shown, ...rest };
  const text = encodeJson(parts as unknown as JsonValue);
  return `its last state is ${text.length > maxStateLength ? `${text.slice(0, maxStateLength)}…` : text}`;
}
