import { webSocketAuthorization } from "../authentication/websocket-token.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { groupHint } from "../vocabulary/other-vocabulary.ts";
import { StatusError } from "../base/status-error.ts";
import type { AuthenticationResult } from "../authentication/authenticator.ts";
import type { UserInfo } from "../base/user-info.ts";
import { RevisionCompactedError, StoreError } from "../storage/store.ts";
import type { Resource } from "../resources/registry.ts";
import { storeFailure } from "../resources/resource-version.ts";
import { lifeCycleOf } from "../kinds/life-cycles.ts";
import { attributesOf, forbidden } from "./access.ts";
import { auditIdOf } from "./audit/audit-id.ts";
import type { AuditTrail } from "./audit/trail.ts";
import { deprecationOf } from "./deprecation.ts";
import type { Exchange } from "./exchange.ts";
import { awaitClient, releaseWhenTaken } from "./limits/yield-seat.ts";
import type { Course } from "./metrics/request-metrics.ts";
import { refuseAmbiguousHost } from "./host.ts";
import { impersonate } from "./impersonation.ts";
import { readFacts, type RequestFacts, type ResourceFacts } from "./request-facts.ts";
import { sendFailure } from "./respond.ts";
import type { Admitted, HttpService } from "./service.ts";
import { serveResource } from "./verbs/serve-resource.ts";

/**
 * The way of a request, stage by stage, in the order in which they run. Each stage either hands on or leaves by
 * throwing a StatusError, which `fail` answers. `docs/lifecycle.md` tells the same in prose.
 */
export function handle(service: HttpService, plain: Exchange): void {
  plain.auditId = auditIdOf(plain);
  const exchange = service.audit === undefined ? plain : service.audit.accompany(plain);
  const course = service.metrics.begin(exchange);
  const end = () => {
    releaseWhenTaken(service, course);
    if (course.waitedForRoom) exchange.connection.unsent!.answered();
    service.metrics.end(course);
    const { reader } = exchange;
    if (course.flow !== undefined && reader !== undefined)
      service.reading.answered(course.flow, course.startMs, reader);
    course.trail?.ended();
  };
  const failed = (error: unknown) => {
    try {
      fail(service, exchange, error);
    } finally {
      end();
    }
  };
  const ends = { destroy: () => exchange.breakOff() };
  const settled = (task: () => void) => service.guard.run("answer", task, ends);
  try {
    const done = run(service, exchange, course);
    if (done instanceof Promise) {
      done.then(
        () => settled(end),
        (error: unknown) => settled(() => failed(error)),
      );
    } else end();
  } catch (error) {
    failed(error);
  }
}

function run(service: HttpService, exchange: Exchange, course: Course): MaybePromise<void> {
  // 1. Request facts: what is asked, from method and path alone, and that its host is clear. Exit: 400.
  const facts = readFacts(exchange.method, exchange.url);
  course.trail?.asked(facts);
  refuseAmbiguousHost(exchange);
  const resource = resourceOf(service, facts);
  if (isServed(service, facts, resource)) {
    course.facts = facts;
    course.resource = resource;
    // Whatever is answered about a deprecated version says that it is.
    if (facts.kind === "resource") announce(service, exchange, facts, resource!);
  }
  // 2. Authentication: who asks. Exit: 401.
  return andThen(authenticate(service, exchange), (caller) =>
    // 3. Audit, where there is one: records that the request has come, and from here on what becomes of it. Exit: 500.
    andThen(course.trail?.received(caller), () =>
      // 4. Impersonation: as whom, when they ask for it and may. Exit: 400, 403.
      andThen(impersonate(service, exchange, caller), (user) => {
        course.trail?.impersonates(user);
        course.flow = user.name;
        exchange.caller = user.name;
        // 5. Limits: is there room for them. Exit: 429.
        return andThen(service.limits.enter(course, facts, user), () =>
          // 6. Their turn, among the requests that arrive together.
          service.turns.run(user.name, () =>
            // A client that leaves much of its answers untaken gets no further one before it takes some.
            andThen(takesAnswers(service, exchange, course), () =>
              // 7. Authorization: may they. Exit: 403.
              andThen(authorize(service, facts, user, course.trail), () =>
                dispatch(service, { exchange, facts, user }, resource),
              ),
            ),
          ),
        );
      }),
    ),
  );
}

/** Waits until the connection has room for another answer. */
function takesAnswers(service: HttpService, { connection }: Exchange, course: Course): MaybePromise<void> {
  const room = connection.unsent?.room();
  if (room === undefined) return undefined;
  course.waitedForRoom = true;
  return awaitClient(service, course, room);
}

/** The resource type that is asked for; undefined for another path, and where there is none. */
function resourceOf({ engine }: HttpService, facts: RequestFacts): Resource | undefined {
  if (facts.kind === "path") return undefined;
  return engine.registry.find(facts.group, facts.version, facts.resource);
}

/** Whether there is what is asked for; what clients make up must not fill the metrics. */
function isServed({ paths }: HttpService, facts: RequestFacts, resource: Resource | undefined): boolean {
  if (facts.kind === "path") return paths.find(facts.path) !== undefined;
  if (resource === undefined) return false;
  return facts.subresource === "" || Object.hasOwn(resource.kind.subresources, facts.subresource);
}

/** Has the answer say that the version is deprecated, where it is (spec: conventions 9.2). */
function announce(service: HttpService, exchange: Exchange, facts: ResourceFacts, resource: Resource): void {
  const warning = deprecationOf(resource, service.engine.vocabulary);
  if (warning === "") return;
  service.metrics.deprecated(resource, facts.subresource);
  const { group, version, name } = resource.kind;
  exchange.audit?.deprecated(lifeCycleOf(group, version, name)?.removed);
  exchange.addHeaders(["Warning", `299 - ${JSON.stringify(warning)}`]);
}

/** 8. The resource's verb (decode, admission, store: see `verbs/`), or a path of the server's own. Exit: any. */
function dispatch(
  service: HttpService,
  { exchange, facts, user }: Admitted,
  resource: Resource | undefined,
): MaybePromise<void> {
  if (facts.kind === "resource") return serveResource(service, { exchange, facts, user }, resource);
  const handler = service.paths.find(facts.path);
  if (handler === undefined) {
    // `/apis/GROUP` and what lies below it.
    const hint = groupHint(facts.path.split("/", 3)[2] ?? "", service.engine.vocabulary);
    throw new StatusError("NotFound", `the server could not find the requested resource${hint}`);
  }
  if (exchange.method !== "GET" && exchange.method !== "HEAD") {
    throw new StatusError(
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
  }
  return handler({ exchange, facts, user }) ?? undefined;
}

/** Recognises the caller; on the same connection with the same header, by what was found before. */
function authenticate(service: HttpService, exchange: Exchange): MaybePromise<UserInfo> {
  const authorization = exchange.header("authorization") ?? webSocketToken(service, exchange);
  const { identity } = exchange.connection;
  if (identity !== undefined && identity.authorization === authorization) {
    service.callers.again(identity.requests);
    return identity.user;
  }
  return askMethods(service, exchange, authorization);
}

/** What a WebSocket client says that can set no headers. */
function webSocketToken({ engine, callers }: HttpService, exchange: Exchange): string | undefined {
  if (exchange.header("upgrade")?.toLowerCase() !== "websocket") return undefined;
  try {
    return webSocketAuthorization(exchange.header("sec-websocket-protocol") ?? "", engine.vocabulary);
  } catch (error) {
    callers.refused(error, callers.begin());
    throw error;
  }
}

function askMethods(
  { authenticator, callers }: HttpService,
  { connection, rawHeaders }: Exchange,
  authorization: string | undefined,
): MaybePromise<UserInfo> {
  const { certificate, certificateChain, certificateError, remoteAddress } = connection;
  const startMs = callers.begin();
  const recognized = (result: AuthenticationResult | undefined): UserInfo => {
    if (result === undefined) throw new StatusError("Unauthorized", "Unauthorized");
    const requests = callers.recognized(result.user.name, startMs);
    if (result.cacheable) connection.identity = { authorization, user: result.user, requests };
    return result.user;
  };
  const failed = (error: unknown): never => {
    callers.refused(error, startMs);
    throw error;
  };
  try {
    const credentials = {
      authorization,
      certificate,
      certificateChain,
      certificateError,
      remoteAddress,
      connection,
      rawHeaders,
    };
    const answer = authenticator.authenticate(credentials);
    return answer instanceof Promise ? answer.then(recognized).catch(failed) : recognized(answer);
  } catch (error) {
    return failed(error);
  }
}

function authorize(
  service: HttpService,
  facts: RequestFacts,
  user: UserInfo,
  trail: AuditTrail | undefined,
): MaybePromise<void> {
  const attributes = attributesOf(facts, user);
  return andThen(service.authorizer.authorize(attributes), (decision) => {
    trail?.decided(decision);
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
  });
}

/** Answers a failure. An unexpected exception is a bug: the server logs it with its stack and answers 500 without details. */
function fail(service: HttpService, exchange: Exchange, thrown: unknown): void {
  const error = thrown instanceof StoreError ? storeFailure(thrown) : thrown;
  const request = { method: exchange.method, path: exchange.url.split("?", 1)[0]! };
  if (!(error instanceof StatusError)) {
    service.log.defect(error, request);
    exchange.audit?.panicked(error);
  } else if (error.cause !== undefined) service.log.unavailable(error.cause, request);
  if (exchange.answered) {
    const reason = error instanceof RevisionCompactedError ? "history gone" : "answer failed midway";
    service.log.cutOff(reason, request);
    exchange.breakOff();
    return;
  }
  const told =
    error instanceof StatusError ? error : new StatusError("InternalError", "internal error; see the log");
  sendFailure(exchange, service.engine.vocabulary, told);
}
