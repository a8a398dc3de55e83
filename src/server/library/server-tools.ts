import type { Clock } from "../../base/time/clock.ts";
import type { ManualClock } from "../../base/time/manual-clock.ts";
import type { RequestLog } from "../../http/metrics/request-log.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Faults } from "../faults/faults.ts";
import type { Clients } from "./clients.ts";
import { loadManifests } from "./load.ts";
import type { LocalRequests } from "./local-requests.ts";
import type { KubeconfigFiles } from "./kubeconfig-files.ts";
import type { ChangeSet, KubeconfigOptions, ServerClient, UndoOptions, UndoResult } from "./server-client.ts";
import { previewWith } from "./preview.ts";
import type { PreviewOptions, PreviewResult } from "./preview-result.ts";
import type { Snapshot, Snapshots } from "./snapshots.ts";
import type { TestWorkspace, WorkspaceSource } from "./test-workspace.ts";
import { openTestWorkspace, type WorkspaceTools } from "./workspaces.ts";

/**
 * The dependencies of {@link ServerTools}.
 *
 * @internal
 */
export interface ToolParts {
  readonly clients: Clients;
  readonly kubeconfigs: KubeconfigFiles;
  readonly snapshots: Snapshots;
  readonly workspaces: WorkspaceTools;
  readonly requests: RequestLog | undefined;
  readonly local: LocalRequests;
  readonly clock: Clock;
}

/**
 * What a server in the process offers to tests.
 *
 * @typeParam Objects the types of the objects that the server serves, by `apiVersion kind`.
 */
export abstract class ServerTools<Objects> {
  /** @internal Created by the server. */
  constructor(private readonly tools: ToolParts) {}

  /** @internal Sends requests to the stages of the pipeline, without a socket. */
  get local(): LocalRequests {
    return this.tools.local;
  }

  /** Client with the administrator's rights that works without a socket. */
  get client(): ServerClient<Objects> {
    return this.tools.clients.unrestricted as unknown as ServerClient<Objects>;
  }

  /**
   * Returns a client whose requests are authorized as a user: a denied one throws a `StatusError` with reason `Forbidden`, as over
   * HTTP. Admission and field ownership see the user.
   *
   * @param groups groups of the user. Those that authentication adds, such as `system:authenticated`, are added.
   * @throws {TypeError} if the name is empty.
   *
   * @example
   * const devi = server.as("devi", ["shop-developers"]);
   * await devi.list({ apiVersion: "v1", kind: "ConfigMap", namespace: "shop" });
   */
  as(user: string, groups?: readonly string[]): ServerClient<Objects> {
    return this.tools.clients.as(user, groups) as unknown as ServerClient<Objects>;
  }

  /**
   * Opens a workspace of this server, and creates it if there is none of the name: for tests that share a server, and for branches.
   *
   * @param from the state with which a new workspace begins, `{}` for that of this server; by default it has default objects only.
   * @throws {OptionsError} if the server doesn't serve workspaces (option `runtimeConfig`).
   * @throws {StatusError} Invalid if the name or `from` can't be used; AlreadyExists with `from`.
   *
   * @example
   * await using shop = await server.workspace("shop");
   * await shop.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "only-there" } });
   */
  workspace(name: string, from?: WorkspaceSource): Promise<TestWorkspace<Objects>> {
    return openTestWorkspace(this.tools.workspaces, name, from);
  }

  /**
   * Applies the manifests of files and folders as the administrator: CustomResourceDefinitions first, then, when all of them are established,
   * namespaces, and then the other objects in the order of the files. Objects without a namespace are created in `default`.
   *
   * @param paths paths of .yaml, .yml or .json files, or of folders with such files; subfolders are not read.
   * @returns the objects as stored, in the order in which they were applied.
   * @throws {StatusError} BadRequest if a file can't be read; Timeout if a definition doesn't become established; otherwise the error of
   *   the API. The message begins with the file, and the number of the document if it has several.
   *
   * @example
   * await server.load("config/crds", "test/manifests");
   */
  load(...paths: readonly string[]): Promise<ApiObject[]> {
    return loadManifests(this.tools.clients.unrestricted, paths);
  }

  /**
   * Takes a change back with the administrator's rights; see {@link ServerClient.undo}.
   *
   * @example
   * await server.undo({ user: "devi", from: "2026-01-01T00:00:00Z", namespace: "shop" });
   */
  undo(change: string | ChangeSet, options?: UndoOptions): Promise<UndoResult> {
    return this.tools.clients.unrestricted.undo(change, options);
  }

  /** Shows what an apply of the objects would do, controllers included, in a branch; see [preview](preview.md). Refused objects are in the result. */
  preview(source: object | readonly object[] | string, options: PreviewOptions = {}): Promise<PreviewResult> {
    return previewWith(this.tools.workspaces, source, options);
  }

  /**
   * The newest requests over HTTP and of the clients of {@link as}, for assertions. Requests of {@link client} are not recorded.
   *
   * @throws {Error} unless the server was created with `recordRequests: true`.
   *
   * @example
   * expect(server.requests.filter({ verb: "delete", resource: "secrets" })).toEqual([]);
   */
  get requests(): RequestLog {
    const { requests } = this.tools;
    if (requests === undefined)
      throw new Error(
        "requests are not recorded: create the server with createServer({ recordRequests: true })",
      );
    return requests;
  }

  /**
   * The manual clock of the server.
   *
   * @throws {Error} unless the server was created with `clock: manualClock()`.
   *
   * @example
   * await server.clock.advance(60_000);
   */
  get clock(): ManualClock {
    const { clock } = this.tools;
    if (!("advance" in clock))
      throw new Error(
        "this server has no manual clock: create it with createServer({ clock: manualClock() })",
      );
    return clock as ManualClock;
  }

  /** URL of the server for this machine, for example `https://127.0.0.1:6443`; undefined without a socket. */
  abstract get url(): string | undefined;

  /** PEM of the CA that clients should trust; undefined with an operator's certificate. */
  abstract get caCertificate(): string | undefined;

  /** Bearer token of the administrator, valid while the server runs. */
  abstract get adminToken(): string;

  /**
   * Writes a kubeconfig to a file with mode 0600, for programs such as kubectl. Another user than the administrator gets a client certificate
   * of the server's own authority.
   *
   * @returns the absolute path of the file. A file in the temporary folder is removed when the server stops.
   * @throws {Error} if the server has no socket, is closed, or has no authority to issue the certificate; or if the file can't be written.
   * @throws {TypeError} if the user or the groups can't be used.
   *
   * @example
   * execFileSync("kubectl", ["--kubeconfig", server.kubeconfigFile({ user: "devi", groups: ["shop-developers"] }), "get", "pods"]);
   */
  kubeconfigFile(options: KubeconfigOptions = {}): string {
    return this.tools.kubeconfigs.write(this, options);
  }

  /** Stops the server. */
  abstract close(): Promise<void>;

  /**
   * Calls {@link close} at the end of the block that declares the server with `await using`.
   *
   * @example
   * await using server = await createServer({ port: false });
   */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Returns all objects of the server as they are at present, in constant time. Await your own writes before: a write that is in progress
   * may be missing.
   *
   * @throws {OptionsError} if the objects aren't stored in memory.
   *
   * @example
   * const before = server.snapshot();
   * await server.client.delete({ apiVersion: "v1", kind: "Namespace", name: "shop" });
   * await server.restore(before);
   */
  snapshot(): Snapshot {
    return this.tools.snapshots.take();
  }

  /**
   * Brings the objects back to a snapshot of this server, of one of its forks or of its origin: afterwards the server has exactly the
   * objects of the snapshot, with the same uids. These are ordinary writes: open watches receive them as events, a changed object gets a new
   * resource version, and an update with an older one is a conflict. An object that was deleted and created again in between is deleted and
   * created. When the promise resolves, requests are authorized and admitted by the restored objects. Controllers react afterwards, as to
   * other writes.
   *
   * The objects with which a server publishes its own address don't change when a snapshot of another server is restored.
   *
   * @throws {OptionsError} if the objects aren't stored in memory.
   * @throws {TypeError} if the snapshot belongs to an unrelated server.
   */
  async restore(snapshot: Snapshot): Promise<void> {
    this.tools.snapshots.restore(snapshot);
  }

  /**
   * Brings the objects back to their state after the start of this server, or of this fork; see {@link ServerTools.restore}.
   *
   * @throws {OptionsError} if the objects aren't stored in memory.
   *
   * @example
   * afterEach(() => server.reset());
   */
  async reset(): Promise<void> {
    this.tools.snapshots.reset();
  }

  /**
   * Faults for tests of controllers: errors, lost answers, stale reads, disturbed watches and crashes. Use it before the controller
   * starts; nothing is intercepted before the first use.
   *
   * @example
   * server.faults.add({ on: { user: "operator", verbs: ["update"] }, times: 1, effect: { error: 409 } });
   */
  get faults(): Faults {
    return this.tools.clients.faults;
  }
}
