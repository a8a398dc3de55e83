import { decodeTrusted } from "../../base/json/trusted.ts";
import { groupHint } from "../../vocabulary/other-vocabulary.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { ApiObject, ObjectMetaValue, Verb } from "../../schema/kind.ts";
import type { JsonDocument } from "../../base/json/exact.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { Revision } from "../../storage/store.ts";
import { applyObject, type ApplyOptions } from "../writes/apply.ts";
import { createObject } from "../writes/create.ts";
import { deleteObject, type DeleteOptions } from "../writes/delete.ts";
import { type Engine, type Target, type WriteResult } from "../engine/engine.ts";
import { engineInVersion } from "../engine/conversion.ts";
import { getObject } from "../reads/get.ts";
import { readObject } from "../input/input.ts";
import { hasOwnRight, historySubresource, isGuardedPast } from "../reads/history.ts";
import { versionsOf, type VersionOf } from "./object-history.ts";
import { listObjects } from "../reads/list.ts";
import { patchObject, type PatchKind } from "../writes/patch.ts";
import { isStored, keyOf, resourceOf, type Resource } from "../registry/registry.ts";
import { everything, parseSelection } from "../objects/selection.ts";
import { asBuffer, decodeEntry } from "../objects/stored.ts";
import { updateObject } from "../writes/update.ts";
import { bodyOf, watchObjects, type WatchObserver } from "../reads/watch.ts";
import { Transaction } from "../../kinds/transactions/transaction.ts";
import { inTransaction } from "../transactions/transaction.ts";
import { answerReview, type ReviewHandler } from "../writes/review.ts";
import type { ClientGuard, ClientSelectors } from "./client-guard.ts";

/** Names an object by apiVersion, kind, name and namespace. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** Names a collection: of one namespace, or of all. */
export interface CollectionReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The objects of a list, and the resource version from which a watch continues it. */
export interface ObjectList<O> {
  readonly items: O[];
  readonly resourceVersion: string;
}

/** A change of an object; for `DELETED` the object has its last state. */
export interface WatchEvent<O> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: O;
}

/** An object in a write; the server fills in the other fields. */
export type NewObject = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetaValue | { name?: string; [field: string]: unknown };
} & Record<string, unknown>;

/**
 * The API without a socket, for controllers. Requests pass validation and admission; there is no authentication, and authorization only for
 * the clients of `server.as()`. It has the methods of {@link TypedClient} without the types of the kinds.
 *
 * Every method throws the {@link StatusError} that the API would answer with.
 */
export class Client {
  /** @internal The server creates it. */
  constructor(
    private readonly engine: Engine,
    private readonly user: UserInfo,
    private readonly guard?: ClientGuard,
    /** Handlers of reviews, by kind name; without them reviews can't be created. */
    private readonly reviews: ReadonlyMap<string, ReviewHandler> = new Map(),
  ) {}

  /**
   * @internal Runs work with an engine whose writes are committed together, or not at all; see `ServerClient.transaction`.
   *
   * It doesn't depend on whether the API version is served.
   *
   * @throws {StatusError} the errors of the work, and those of `inTransaction`.
   */
  protected async runTransaction<T>(dryRun: boolean, work: (engine: Engine) => Promise<T>): Promise<T> {
    const resource = resourceOf(Transaction, this.engine.vocabulary);
    const target = { resource, namespace: "", name: "", subresource: "" };
    const run = async (engine: Engine) => (await inTransaction(engine, dryRun, work)).value;
    return this.run("create", target, run);
  }

  /** Runs a request through the guard, if the client has one. */
  private run<T>(
    verb: Verb,
    target: Target,
    call: (engine: Engine) => Promise<T>,
    selectors: ClientSelectors = {},
  ): Promise<T> {
    const { engine, guard } = this;
    return guard === undefined ? call(engine) : guard.run({ verb, target, selectors }, engine, call);
  }

  async get<O extends ApiObject = ApiObject>(reference: ObjectReference): Promise<O> {
    const target = this.named(reference);
    return decodeEntry(await this.run("get", target, async (engine) => getObject(engine, target))) as O;
  }

  /** As {@link Client.get}; undefined if it doesn't exist. */
  async find<O extends ApiObject = ApiObject>(reference: ObjectReference): Promise<O | undefined> {
    const { apiVersion, kind, name, namespace = "" } = reference;
    const resource = this.engine.registry.findKind(apiVersion, kind);
    if (resource === undefined) return undefined;
    const target = { resource, name, namespace: resource.namespaced ? namespace : "", subresource: "" };
    const key = keyOf(resource, target.namespace, name);
    const read = async (engine: Engine) => engineInVersion(engine, resource).store.get(key);
    const entry = await this.run("get", target, read);
    return entry === undefined ? undefined : (decodeEntry(entry) as O);
  }

  async list<O extends ApiObject = ApiObject>(reference: CollectionReference): Promise<ObjectList<O>> {
    const target = this.target({ ...reference, name: "" });
    return this.run("list", target, (engine) => listPages<O>(engine, target, reference), reference);
  }

  async create<O extends ApiObject = ApiObject>(object: NewObject): Promise<O> {
    return parse<O>((await this.write(object)).body);
  }

  /** As {@link Client.create}, without decoding the stored object. */
  async add(object: NewObject): Promise<void> {
    await this.write(object);
  }

  private async write(object: NewObject): Promise<Pick<WriteResult, "body">> {
    const target = { ...this.targetOf(object, "create"), name: "" };
    return this.run("create", target, async (engine) => {
      const input = this.read(target, object);
      const handler = this.reviewHandler(target.resource);
      if (handler === undefined) return createObject(engine, target, input, this.options());
      await answerReview(engine, target, input, this.options(), handler);
      return { body: Buffer.from(encodeJson(input as JsonValue)) };
    });
  }

  async update<O extends ApiObject = ApiObject>(object: NewObject, subresource = ""): Promise<O> {
    return parse<O>((await this.replace(object, subresource)).body);
  }

  /** @internal As {@link Client.update}; returns the stored object encoded. */
  async replace(object: NewObject, subresource: string): Promise<Pick<WriteResult, "body">> {
    const target = { ...this.targetOf(object), subresource };
    const read = () => this.read(target, object);
    return this.run("update", target, (engine) =>
      updateObject(engine, target, read, this.options(), () => this.guard?.mayCreate(target)),
    );
  }

  async patch<O extends ApiObject = ApiObject>(
    reference: ObjectReference,
    patch: unknown,
    kind: PatchKind = "merge",
  ): Promise<O> {
    const document = { value: patch as JsonValue, duplicates: [] };
    const options = { ...this.options(), fieldValidation: "Strict" as const, verb: "patch" };
    const target = this.named(reference);
    const result = await this.run("patch", target, (engine) =>
      patchObject(engine, target, kind, document, options),
    );
    return parse<O>(result.body);
  }

  /**
   * @internal Applies a configuration (server-side apply); see `ServerClient.apply`.
   *
   * @param namespace that of an object which names none and whose kind has namespaces.
   */
  async applyObject<O extends ApiObject = ApiObject>(
    document: JsonDocument,
    {
      namespace,
      ...options
    }: Pick<ApplyOptions, "dryRun" | "fieldManager" | "force"> & { namespace: string },
  ): Promise<O> {
    await this.engine.registry.sync();
    const named = this.targetOf(document.value as NewObject);
    const { resource } = named;
    if (named.name === "")
      throw new StatusError("BadRequest", `${resource.kind.name}: metadata.name is needed to apply`);
    const target = resource.namespaced && named.namespace === "" ? { ...named, namespace } : named;
    const body = { bytes: undefined, document: () => document };
    const all = { ...options, user: this.user, fieldValidation: "Strict" as const, verb: "apply" };
    const mayCreate = () => this.guard?.mayCreate(target);
    const result = await this.run("patch", target, (engine) =>
      applyObject(engine, target, body, all, mayCreate),
    );
    return parse<O>(result.body);
  }

  /** Deletes an object; false if it is terminating because of finalizers or a grace period. */
  async delete(
    reference: ObjectReference,
    only: { uid?: string; resourceVersion?: string } = {},
    propagationPolicy?: DeleteOptions["propagationPolicy"],
  ): Promise<boolean> {
    const options: DeleteOptions = {
      ...this.options(),
      gracePeriodSeconds: undefined,
      propagationPolicy,
      uid: only.uid,
      resourceVersion: only.resourceVersion,
    };
    const target = this.named(reference);
    const remove = (engine: Engine) => deleteObject(engine, target, options);
    return (await this.run("delete", target, remove)).gone;
  }

  /** @internal As {@link Client.delete}, for a resource type that may not be served. */
  async deleteOf(
    resource: Resource,
    names: { readonly name: string; readonly namespace: string },
    { uid }: { uid: string },
  ): Promise<boolean> {
    const options = { ...this.options(), gracePeriodSeconds: undefined, propagationPolicy: undefined };
    const target = { resource, ...names, subresource: "" };
    return (await deleteObject(this.engine, target, { ...options, uid, resourceVersion: undefined })).gone;
  }

  /**
   * Calls the listener for each change after a resource version (that of a list), in order, until `close` is called. The listener must not
   * throw; `ended` is called if the watch ends, for example because its history was compacted or the user may not watch.
   */
  watch<O extends ApiObject = ApiObject>(
    reference: CollectionReference & { readonly resourceVersion: string },
    listener: (event: WatchEvent<O>) => void,
    ended?: (error: Error) => void,
  ): { close(): void } {
    const target = this.target({ ...reference, name: "" });
    const { labelSelector = "", fieldSelector = "" } = reference;
    if (!/^\d+$/.test(reference.resourceVersion))
      throw new StatusError("BadRequest", "a watch needs the resourceVersion of a list");
    const plain = labelSelector === "" && fieldSelector === "";
    const selection = plain ? everything : parseSelection(target.resource, labelSelector, fieldSelector);
    const after = Number(reference.resourceVersion) as Revision;
    const observer: WatchObserver = {
      changes: (changes) => {
        for (const change of changes) listener({ type: change.type, object: parse<O>(bodyOf(change)) });
      },
      ended: ended ?? (() => undefined),
    };
    const start = (engine: Engine) => watchObjects(engine, target, selection, { after }, observer);
    if (this.guard === undefined) return start(this.engine);
    const startIfAllowed = async (engine: Engine) => {
      if (await isGuardedPast(engine, target.resource, after))
        await this.run("watch", { ...target, subresource: historySubresource }, async () => undefined);
      return start(engine);
    };
    return this.guardedWatch(target, startIfAllowed, ended, reference);
  }

  /** Starts a watch when the guard allows it; otherwise calls `ended`, or prints a warning if there is no such listener. */
  private guardedWatch(
    target: Target,
    start: (engine: Engine) => Promise<{ close(): void }>,
    ended: ((error: Error) => void) | undefined,
    selectors: ClientSelectors,
  ): { close(): void } {
    let isClosed = false;
    let open: { close(): void } | undefined;
    const begin = async (engine: Engine) => {
      if (!isClosed) open = await start(engine);
      // It may have been closed meanwhile.
      if (isClosed) open?.close();
    };
    this.run("watch", target, begin, selectors).catch((error: unknown) => {
      if (isClosed) return;
      if (ended === undefined) process.emitWarning(error as Error);
      else ended(error as Error);
    });
    return {
      close() {
        isClosed = true;
        open?.close();
      },
    };
  }

  /** @internal See `ServerClient.history`. */
  protected async *readHistory<O extends ApiObject>(
    reference: ObjectReference,
    contents: boolean,
  ): AsyncGenerator<VersionOf<O>, void> {
    const target = this.named(reference);
    const open = async (engine: Engine) => engine;
    const engine = await this.run("get", target, open);
    if (hasOwnRight(target.resource))
      await this.run("get", { ...target, subresource: historySubresource }, open);
    yield* versionsOf<O>(engine, target, contents);
  }

  private targetOf(object: NewObject, verb?: "create"): Target {
    if (!isRecord(object)) throw new StatusError("BadRequest", `an object is needed, not ${sortOf(object)}`);
    const { apiVersion, kind, metadata } = object;
    const { name, namespace } = isRecord(metadata) ? metadata : {};
    return this.target({ apiVersion, kind, name: textOf(name), namespace: textOf(namespace) }, verb);
  }

  private read(target: Target, object: NewObject): ApiObject {
    return readObject(this.engine, target, object, [], "Strict").object;
  }

  /** The target of a reference to an object. */
  private named(reference: ObjectReference): Target {
    const target = this.target(reference);
    if (typeof reference.name === "string" && reference.name !== "") return target;
    throw new StatusError("BadRequest", `${reference.kind}: a name is needed, not ${sortOf(reference.name)}`);
  }

  private target(reference: ObjectReference, verb?: "create"): Target {
    if (!isRecord(reference))
      throw new StatusError("BadRequest", `a reference is needed, not ${sortOf(reference)}`);
    const { apiVersion, kind, name, namespace = "" } = reference;
    const resource = this.resource(apiVersion, kind);
    const isReview = verb === "create" && this.reviewHandler(resource) !== undefined;
    if (!isStored(resource) && !isReview) throw this.notStored(resource);
    return { resource, name, namespace: resource.namespaced ? namespace : "", subresource: "" };
  }

  private resource(apiVersion: string, kind: string): Resource {
    for (const [field, value] of Object.entries({ apiVersion, kind })) {
      if (typeof value === "string") continue;
      throw new StatusError("BadRequest", `${field} must be a text, not ${sortOf(value)}`);
    }
    const resource = this.engine.registry.findKind(apiVersion, kind);
    if (resource === undefined) {
      throw new StatusError(
        "NotFound",
        `this server has no kind ${JSON.stringify(kind)} in ${JSON.stringify(apiVersion)}` +
          groupHint(apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/"))), this.engine.vocabulary),
      );
    }
    return resource;
  }

  /** The handler of a review; undefined for other resource types. */
  private reviewHandler(resource: Resource): ReviewHandler | undefined {
    return isStored(resource) ? undefined : this.reviews.get(resource.kind.name);
  }

  private notStored(resource: Resource): StatusError {
    const { name } = resource.kind;
    const message =
      this.reviewHandler(resource) === undefined
        ? `${name} is answered over HTTP only: the server stores none`
        : `${name} can only be created: the server answers and stores none`;
    return new StatusError("MethodNotAllowed", message);
  }

  private options(): { user: UserInfo; dryRun: boolean; fieldManager: string } {
    return { user: this.user, dryRun: false, fieldManager: "plinth" };
  }
}

async function listPages<O extends ApiObject>(
  engine: Engine,
  target: Target,
  { labelSelector = "", fieldSelector = "" }: CollectionReference,
): Promise<ObjectList<O>> {
  const selection = parseSelection(target.resource, labelSelector, fieldSelector);
  const pages = listObjects(engine, target, { read: { mode: "latest" }, limit: 0, selection });
  const items: O[] = [];
  for (;;) {
    const step = await pages.next();
    if (step.done === true) return { items, resourceVersion: String(step.value.revision) };
    for (const entry of step.value.entries) items.push(decodeEntry(entry) as O);
  }
}

function parse<O>(body: Uint8Array): O {
  return decodeTrusted(asBuffer(body)) as O;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text, or an empty one for values of other types, which decoding rejects. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The type of a value, for messages. */
function sortOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}
