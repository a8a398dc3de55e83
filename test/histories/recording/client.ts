import type { Answer, ListState, Operation, Refusal, Request, Watch, WriteRequest } from "../history.ts";
import { Connection, type Endpoint, type Reply } from "./http.ts";
import { newObject, observe, pathOf, resourceOf, type ApiObject } from "./objects.ts";
import type { Recorder, Sender } from "./recorder.ts";
import { operationOf, transactions, type TogetherRequest } from "./transaction-body.ts";
import { WorkspaceClient } from "./workspace-client.ts";

/** Options of a write. */
export interface WriteOptions {
  /** Size of the payload of the object in bytes. */
  readonly size?: number;
  /** Fields of the object besides its metadata, for an update or patch. */
  readonly fields?: object;
}

/** A watch that is running. */
export interface RunningWatch {
  readonly watch: Watch;
  close(): void;
  readonly ended: Promise<void>;
}

/** A client of one server as one user in one workspace, or outside of workspaces, whose requests are recorded. */
export interface RecordingClient {
  /** Creates, updates, patches or deletes an object. */
  write(request: WriteRequest, options?: WriteOptions): Promise<Operation>;
  /** Writes several objects in one transaction. */
  transact(requests: readonly TogetherRequest[]): Promise<Operation[]>;
  get(key: string): Promise<Operation>;
  /** Reads a page of a list; the first one, or the one after `previous`. */
  list(prefix: string, state: ListState, limit?: number, previous?: Operation): Promise<Operation>;
  /** Asks whether the user of a RoleBinding is allowed to list the ConfigMaps of its namespace. */
  review(key: string): Promise<Operation>;
  /** As the user of a RoleBinding, lists the ConfigMaps of its namespace. */
  attempt(key: string): Promise<Operation>;
  /**
   * Begins a watch.
   *
   * @param mayBreak whether its connection may break within the events of a transaction. Those of the watchers that cover everything don't:
   *   what they miss until they resume may be compacted.
   */
  watch(prefix: string, after: number, mayBreak: boolean): RunningWatch;
  /** Creates branches; undefined if there are no workspaces. */
  readonly workspaces: WorkspaceClient | undefined;
  close(): void;
}

/** A client over HTTPS. */
export class HttpClient implements RecordingClient {
  readonly workspaces: WorkspaceClient;
  private readonly connection: Connection;
  /** Path of the workspace; empty outside of workspaces. */
  private readonly root: string;
  private readonly by: Sender;
  /** Number of lines that watches have received. */
  private lines = 0;
  /** Tokens to continue lists, by the operation that read the page before. */
  private readonly continueTokens = new Map<number, string>();

  constructor(
    name: string,
    user: string,
    endpoint: Endpoint,
    private readonly recorder: Recorder,
    timeoutMs: number,
    workspace?: string,
  ) {
    this.by = { client: name, server: endpoint.name, ...(workspace !== undefined && { workspace }) };
    this.connection = new Connection(endpoint, user, timeoutMs);
    this.root = workspace === undefined ? "" : `/clusters/${workspace}`;
    this.workspaces = new WorkspaceClient(this.by, this.connection, recorder);
  }

  write(request: WriteRequest, options: WriteOptions = {}): Promise<Operation> {
    return this.perform(request, this.sendWrite.bind(this, request, options));
  }

  transact(requests: readonly TogetherRequest[]): Promise<Operation[]> {
    const operations = requests.map(operationOf);
    return this.recorder.recordTogether(this.by, requests, async () => {
      const reply = await this.send("POST", transactions, { spec: { operations } });
      return reply === undefined ? undefined : answersOf(requests, reply);
    });
  }

  get(key: string): Promise<Operation> {
    return this.perform({ verb: "get", key }, () => this.send("GET", pathOf(key)));
  }

  async list(prefix: string, state: ListState, limit?: number, previous?: Operation): Promise<Operation> {
    const query = new URLSearchParams();
    if (limit !== undefined) query.set("limit", String(limit));
    if (previous !== undefined) query.set("continue", this.continueTokens.get(previous.id)!);
    if (state.kind === "exact") {
      query.set("resourceVersion", String(state.revision));
      query.set("resourceVersionMatch", "Exact");
    }
    const request: Request = { verb: "list", prefix, state, ...(limit === undefined ? {} : { limit }) };
    let token: string | undefined;
    const operation = await this.perform(request, async () => {
      const reply = await this.send("GET", `${pathOf(prefix)}?${query}`);
      if (reply?.status === 200) token = (JSON.parse(reply.text) as ListBody).metadata.continue;
      return reply;
    });
    if (previous !== undefined) this.continueTokens.delete(previous.id);
    if (token !== undefined && token !== "") this.continueTokens.set(operation.id, token);
    return operation;
  }

  review(key: string): Promise<Operation> {
    const [, , namespace, user] = key.split("/");
    const resourceAttributes = { namespace, verb: "list", resource: "configmaps" };
    return this.perform({ verb: "review", key }, () =>
      this.send("POST", "/apis/authorization.platform.io/v1/subjectaccessreviews", {
        spec: { user, resourceAttributes },
      }),
    );
  }

  attempt(key: string): Promise<Operation> {
    const [, , namespace] = key.split("/");
    return this.perform({ verb: "review", key }, () =>
      this.send("GET", `${pathOf(`/configmaps/${namespace}/`)}?limit=1`),
    );
  }

  watch(prefix: string, after: number, mayBreak: boolean): RunningWatch {
    const watch = this.recorder.watch({ ...this.by, prefix, after });
    const path = `${this.root}${pathOf(prefix)}?watch=true&allowWatchBookmarks=true&resourceVersion=${after}`;
    const resource = resourceOf(prefix);
    let isCut = false;
    const stream = this.connection.stream(path, (text) => {
      if (isCut) return;
      const atNs = this.recorder.nowNs();
      const { type, object, code } = JSON.parse(text) as WatchLine;
      if (type === "ADDED" || type === "MODIFIED" || type === "DELETED")
        watch.frames.push({ type, object: observe(resource, object as ApiObject), atNs });
      else if (type === "BOOKMARK")
        watch.frames.push({ type, revision: Number((object as ApiObject).metadata.resourceVersion), atNs });
      else if (code === 410 || (object as { code?: number } | undefined)?.code === 410)
        watch.frames.push({ type: "GONE", atNs });
      // The connection breaks now and then after an event, perhaps within those of a transaction.
      isCut = mayBreak && watch.frames.length > 0 && ++this.lines % linesPerCut === 0;
      if (isCut) stream.close();
    });
    return { watch, ...stream };
  }

  close(): void {
    this.connection.close();
  }

  /** Sends a request to the workspace. */
  private send(
    ...[method, path, body, contentType]: Parameters<Connection["send"]>
  ): Promise<Reply | undefined> {
    return this.connection.send(method, this.root + path, body, contentType);
  }

  private perform(request: Request, send: () => Promise<Reply | undefined>): Promise<Operation> {
    return this.recorder.record(this.by, request, async () => {
      const reply = await send();
      return reply === undefined ? undefined : answerOf(request, reply);
    });
  }

  private sendWrite(request: WriteRequest, { size = 1, fields }: WriteOptions): Promise<Reply | undefined> {
    const { verb, key } = request;
    const path = pathOf(key);
    if (verb === "create") {
      const body = { ...newObject(key, request.token, size), ...fields };
      return this.send("POST", path.slice(0, path.lastIndexOf("/")), body);
    }
    const resourceVersion = request.expected === undefined ? undefined : String(request.expected);
    if (verb === "delete") {
      const body = resourceVersion === undefined ? undefined : { preconditions: { resourceVersion } };
      return this.send("DELETE", path, body);
    }
    const metadata = { name: key.split("/")[3], resourceVersion, annotations: { token: request.token } };
    return verb === "update"
      ? this.send("PUT", path, { ...newObject(key, request.token, size), metadata, ...fields })
      : this.send("PATCH", path, { metadata, ...fields }, "application/merge-patch+json");
  }
}

/** Lines of watches after which a connection breaks. */
const linesPerCut = 12;

/** The answers to the writes of a transaction; undefined if it is open whether it took effect. */
function answersOf(requests: readonly TogetherRequest[], { status, text }: Reply): Answer[] | undefined {
  if (status >= 500 && status !== 507) return undefined;
  const body = JSON.parse(text) as TransactionBody;
  if (status >= 300) {
    const failed = body.details?.causes?.[0]?.field;
    return requests.map((_, index) => ({
      outcome: "refused",
      refusal: failed === `spec.operations[${index}]` ? refusalOf(status, body) : "other",
      status,
    }));
  }
  return body.status.results.map(({ object }, index) => ({
    outcome: "object",
    object: observe(resourceOf(requests[index]!.key), object),
  }));
}

interface TransactionBody {
  readonly details?: { readonly causes?: readonly { readonly field?: string }[] };
  readonly status: { readonly results: readonly { readonly object: ApiObject }[] };
}

interface ListBody {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly ApiObject[];
}

interface WatchLine {
  readonly type?: string;
  readonly object?: object;
  /** Of a Status that answers the request itself. */
  readonly code?: number;
}

/** Reads an answer; undefined if it leaves open whether the request took effect. */
function answerOf(request: Request, { status, text }: Reply): Answer | undefined {
  if (status >= 500 && status !== 507) return undefined;
  if (request.verb === "review" && (status === 200 || status === 403))
    return { outcome: "decision", allowed: status === 200 };
  const body: unknown = JSON.parse(text);
  if (status >= 300) return { outcome: "refused", refusal: refusalOf(status, body), status };
  switch (request.verb) {
    case "review":
      return { outcome: "decision", allowed: (body as { status: { allowed: boolean } }).status.allowed };
    case "list": {
      const { metadata, items } = body as ListBody;
      const resource = resourceOf(request.prefix);
      return {
        outcome: "page",
        revision: Number(metadata.resourceVersion),
        objects: items.map((item) => observe(resource, item)),
        more: (metadata.continue ?? "") !== "",
      };
    }
    case "delete": {
      const { details, metadata } = body as { details?: { uid?: string }; metadata?: { uid?: string } };
      return { outcome: "deleted", uid: details?.uid ?? metadata?.uid ?? "" };
    }
    case "compact":
    case "branch":
      throw new TypeError(`not a request of this client: ${request.verb}`);
    default:
      return { outcome: "object", object: observe(resourceOf(request.key), body as ApiObject) };
  }
}

function refusalOf(status: number, body: unknown): Refusal {
  if (status === 404) return "missing";
  if (status === 410) return "gone";
  if (status !== 409) return "other";
  return (body as { reason?: string }).reason === "AlreadyExists" ? "exists" : "conflict";
}
