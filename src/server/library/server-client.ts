import type { ExplanationStatus } from "../../authorization/reviews/explanation.ts";
import type { VersionOf } from "../../resources/clients/object-history.ts";
import type { ObjectAt, OneOf, TypedClient } from "../../resources/clients/typed-client.ts";
import type { DefinitionManifest } from "../../kinds/definition-of.ts";
import type { Undo } from "../../kinds/all.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type {
  WorkspaceDiffOptions,
  WorkspaceDiffResult,
  WorkspaceMergeOptions,
  WorkspaceMergeResult,
  WorkspaceRebaseOptions,
} from "./workspace-results.ts";

/** What an action is about, and who performs it; see {@link ServerClient.can}. */
export interface AccessOptions {
  /** Full name of the API group. By default the group that serves the resource; `""` is the core group. */
  readonly group?: string | undefined;
  /** By default the cluster, or all namespaces. Ignored for a resource without namespaces. */
  readonly namespace?: string | undefined;
  /** Name of the object; by default any. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  /** Name of the user; by default the user of the client. */
  readonly user?: string | undefined;
  /** Groups of `user`, without those that authentication adds. */
  readonly groups?: readonly string[] | undefined;
}

/** Why an action is allowed or not: the status of an AccessExplanation, and its text. */
export interface AccessAnswer extends ExplanationStatus {
  /** The explanation in lines, as `plinth auth why` prints it. */
  readonly text: string;
}

/** Options of {@link ServerClient.apply}. */
export interface ApplyOptions {
  /** Name of the field manager; `plinth` by default. */
  readonly fieldManager?: string | undefined;
  /** Takes over fields that other managers own; false by default, which is a Conflict. */
  readonly force?: boolean | undefined;
  /** Runs all checks and stores nothing; false by default. */
  readonly dryRun?: boolean | undefined;
  /** Namespace of objects that name none and whose kind has namespaces; `default` by default. */
  readonly namespace?: string | undefined;
}

/** Options of {@link ServerClient.transaction}. */
export interface TransactionOptions {
  /** Runs all checks and stores nothing; false by default. */
  readonly dryRun?: boolean | undefined;
}

/** The client in a transaction: it sees what the transaction has written, which no other client does before it is committed. */
export type TransactionClient<Objects> = Pick<
  ServerClient<Objects>,
  "get" | "find" | "create" | "update" | "patch" | "apply" | "delete"
>;

/** What a user or field manager did in an interval; see {@link ServerClient.undo}. */
export interface ChangeSet {
  /** Name of the user; any by default, if `manager` is set. */
  readonly user?: string | undefined;
  /** Name of the field manager; any by default, if `user` is set. */
  readonly manager?: string | undefined;
  /** Time of the first write; a text is in RFC 3339 form. */
  readonly from: Date | string;
  /** Time of the last write, to the second; now by default. */
  readonly to?: Date | string | undefined;
  /** Resources such as `configmaps` and `deployments.apps`; all whose history is kept by default. */
  readonly resources?: readonly string[] | undefined;
  /** Namespace of the objects; by default all, and cluster-scoped objects. */
  readonly namespace?: string | undefined;
}

type UndoStatus = NonNullable<Undo["status"]>;

/** What an undo did, or would do: the status of an Undo. */
export interface UndoResult extends UndoStatus {
  /** Summary in a sentence. */
  readonly message: string;
  /** The objects of the change, each with what is done and the changed fields. */
  readonly objects: NonNullable<UndoStatus["objects"]>;
}

/** Options of {@link ServerClient.undo}. */
export interface UndoOptions {
  /** Computes what would be done, runs all checks and stores nothing; conflicts are in the result. False by default. */
  readonly dryRun?: boolean | undefined;
}

/** Options of {@link ServerClient.history}. */
export interface HistoryOptions {
  /** Whether each version has the object; false by default. */
  readonly contents?: boolean | undefined;
}

/** Options of {@link ServerClient.waitFor}. */
export interface WaitOptions {
  /** Time limit in milliseconds of the machine's clock, also with a clock of the program's own; 4000 by default. */
  readonly timeoutMs?: number | undefined;
}

/** Options of {@link ServerTools.kubeconfigFile}. */
export interface KubeconfigOptions {
  /** Name of the user; by default the administrator, with the token of this run. */
  readonly user?: string | undefined;
  /** Groups of `user`, without those that authentication adds. */
  readonly groups?: readonly string[] | undefined;
  /** Path of the file, which is replaced if it exists; by default in a temporary folder. */
  readonly path?: string | undefined;
}

/**
 * The client of a server in the process: the API without a socket, and what tests need besides.
 *
 * `create` also answers reviews, such as a SubjectAccessReview or TokenReview: it returns the object with its status.
 *
 * @typeParam Objects the types of the objects, by `apiVersion kind`.
 */
export interface ServerClient<Objects> extends TypedClient<Objects> {
  /**
   * Returns the same client with the types of the objects of a definition. No request is made: create the definition with this client, or before.
   *
   * @param definition the result of `definitionOf`, from which the types are inferred.
   *
   * @example
   * const definition = definitionOf(Order, { vocabulary: "kubernetes" });
   * await server.client.apply(definition);
   * const client = server.client.withTypesOf(definition);
   */
  withTypesOf<Added>(definition: DefinitionManifest<Added>): ServerClient<Objects & Added>;

  /**
   * Returns whether the user of the client, or another one, is allowed an action. Asking needs no permission.
   *
   * @param verb API verb such as `get` or `create`; for a path the HTTP method in lower case.
   * @param resourceOrPath plural name of a resource, optionally with a subresource (`pods/log`), or a path that begins with `/`.
   * @throws {StatusError} NotFound or BadRequest if the group isn't set and no group, or more than one, has the resource.
   * @throws {TypeError} if the user or the groups can't be used.
   *
   * @example
   * await devi.can("update", "configmaps", { namespace: "shop" });
   * await server.client.can("get", "/metrics", { user: "devi", groups: ["operators"] });
   */
  can(verb: string, resourceOrPath: string, options?: AccessOptions): Promise<boolean>;

  /**
   * Explains an action, as an AccessExplanation does: which rules allow it, or which come close. Parameters and errors are those of
   * {@link ServerClient.can}.
   *
   * @example
   * const { allowed, text } = await devi.why("update", "secrets", { namespace: "shop" });
   * assert(allowed, text);
   */
  why(verb: string, resourceOrPath: string, options?: AccessOptions): Promise<AccessAnswer>;

  /**
   * Applies objects in order (server-side apply): creates each, or merges it into the stored one and records the fields of its manager.
   *
   * @param source an object, a list of objects, the text of YAML or JSON manifests, or the path of a file or of a folder with .yaml,
   *   .yml and .json files. A text of one line that doesn't begin with `{` or `[` is a path. A `List` is replaced by its objects.
   * @returns the objects as stored.
   * @throws {StatusError} BadRequest if the source can't be read; otherwise the error of the API, and the objects before the rejected one
   *   stay applied. The message begins with the file and the number of the document or object, unless there is only one object.
   *
   * @example
   * await client.apply("manifests/shop.yaml");
   * const [map] = await client.apply({
   *   apiVersion: "v1",
   *   kind: "ConfigMap",
   *   metadata: { name: "settings", namespace: "shop" },
   *   data: { color: "blue" },
   * }, { fieldManager: "operator" });
   */
  apply<V extends string, K extends string>(
    object: { readonly apiVersion: V; readonly kind: K; readonly [field: string]: unknown },
    options?: ApplyOptions,
  ): Promise<[ObjectAt<Objects, V, K>]>;
  apply(source: object | readonly object[] | string, options?: ApplyOptions): Promise<ApiObject[]>;

  /**
   * Commits several writes together, at one resource version: all of them, or none if the work or one of its writes fails. The resource
   * version of what the work has written isn't known before its end; until then the objects have a provisional one.
   *
   * @param work writes with the client that it gets. It is called again if other writes come between, so it should do nothing else.
   * @returns what the work returned.
   * @throws {StatusError} the error of a write, and nothing is written; Conflict if other writes come between too often.
   *
   * @example
   * await client.transaction(async (t) => {
   *   const account = await t.get({ apiVersion: "v1", kind: "ConfigMap", name: "stock", namespace: "shop" });
   *   await t.update({ ...account, data: { left: String(Number(account.data?.left) - 1) } });
   *   await t.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "order-1", namespace: "shop" } });
   * });
   */
  transaction<T>(
    work: (client: TransactionClient<Objects>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;

  /**
   * Takes back what a change did, in one transaction and with the rights of the client: fields get their values from before it, what it
   * created is deleted, what it deleted is created again. What others have changed elsewhere since stays. It needs kept history
   * (`keptHistory`).
   *
   * @param change audit id of a request or transaction, or what a user or field manager did in an interval.
   * @returns what was done, by object and field.
   * @throws {StatusError} Conflict with a cause for each field that others have changed since, and nothing is written; NotFound if the
   *   history has no such change; BadRequest if no history is kept.
   *
   * @example
   * const { message, objects } = await client.undo({ manager: "importer", from: "2026-01-01T00:00:00Z" }, { dryRun: true });
   */
  undo(change: string | ChangeSet, options?: UndoOptions): Promise<UndoResult>;

  /**
   * Returns the versions of an object, newest first, with who made them; also those of a deleted one. The server must keep the history of
   * the kind (option `keptHistory`). It needs the right to get the object now; for a Secret, also the right to get `secrets/history`.
   *
   * @throws {StatusError} during the iteration: NotFound if the history isn't kept or has no such object; Forbidden.
   *
   * @example
   * const settings = { apiVersion: "v1", kind: "ConfigMap", name: "settings", namespace: "shop" } as const;
   * for await (const { user, verb, time, object } of client.history(settings, { contents: true }))
   *   console.log(time, user, verb, object?.data);
   */
  history<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    options?: HistoryOptions,
  ): AsyncIterable<VersionOf<ObjectAt<Objects, V, K>>>;

  /**
   * Enters a workspace of the server, with the rights that the user of the client has there; see [branches](branches.md).
   *
   * @throws {OptionsError} if the server doesn't serve workspaces (option `runtimeConfig`), or the client is one of a workspace.
   * @throws {StatusError} NotFound, or Forbidden without the verb `access` on the workspace.
   *
   * @example
   * await server.workspace("trial", {});
   * const trial = await client.workspace("trial");
   * await trial.client.apply("manifests/shop.yaml");
   * console.log((await trial.diff()).text);
   * const { conflicts = [] } = await trial.merge({ dryRun: true });
   * if (conflicts.length === 0) await trial.merge();
   */
  workspace(name: string): Promise<WorkspaceClient<Objects>>;

  /**
   * Waits until an object is in a state: reads it, then watches it, without polling.
   *
   * @param predicate is called with the object and after each change, in order; with undefined while there is no such object.
   * @returns the object for which the predicate returned true; undefined if this was the absent object.
   * @throws {StatusError} Timeout, with the last state of the object; or the error of a list or watch, for example Forbidden. If the
   *   predicate throws, its error.
   *
   * @example
   * await client.waitFor(pod, (object) => object?.status?.phase === "Running", { timeoutMs: 1000 });
   * await client.waitFor(pod, (object) => object === undefined);
   */
  waitFor<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    predicate: (object: ObjectAt<Objects, V, K> | undefined) => boolean,
    options?: WaitOptions,
  ): Promise<ObjectAt<Objects, V, K> | undefined>;
}

/**
 * A workspace, and the comparisons, merges and rebases of a user.
 *
 * @typeParam Objects the types of the objects that it serves, by `apiVersion kind`.
 */
export interface WorkspaceClient<Objects> {
  /** Name of the workspace. */
  readonly name: string;

  /** Client of the objects in the workspace. A rebase ends it: the workspace has another one afterwards. */
  readonly client: ServerClient<Objects>;

  /**
   * Compares the workspace with its base, or another workspace, in the objects that were changed.
   *
   * @throws {StatusError} the error of the API, such as Forbidden.
   */
  diff(options?: WorkspaceDiffOptions): Promise<WorkspaceDiffResult>;

  /**
   * Merges what the workspace has changed into its base, or another workspace, in one transaction.
   *
   * @throws {StatusError} Conflict with a cause for each conflict, and nothing is written; the error of a write.
   */
  merge(options?: WorkspaceMergeOptions): Promise<WorkspaceMergeResult>;

  /**
   * Moves the workspace to the state of its base as it is now; what the workspace has changed stays.
   *
   * @throws {StatusError} Conflict with a cause for each conflict, and nothing is written.
   */
  rebase(options?: WorkspaceRebaseOptions): Promise<WorkspaceMergeResult>;
}
