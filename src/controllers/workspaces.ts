import { Workspace, contentFinalizer } from "../kinds/tenancy/workspace.ts";
import { namesOf } from "../resources/registry/registry.ts";
import type { Controller, ControllerContext, QueueDependencies } from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

/** The contents of workspaces, for their controller. */
export interface WorkspaceContents {
  /** Begins to run the controllers of workspaces in this process. @returns a function that ends them. */
  lead(): () => Promise<void>;
  /**
   * Ends the requests and watches of a workspace, and deletes its objects in turns.
   *
   * @param closing aborted when the controller ends; the rest is deleted later.
   */
  remove(uid: string, closing: AbortSignal): Promise<void>;
}

/** Dependencies of {@link workspaces}. */
export type WorkspaceDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "informer"> & {
    /** Undefined if workspaces aren't served. */
    readonly workspaceContents: WorkspaceContents | undefined;
  };

/** Timers are set for at most this time. */
const longestWaitMs = 24 * 3_600_000;
/** Number of workspaces that are deleted concurrently, so that a large one doesn't delay the others. */
const workers = 10;

/** Deletes expired workspaces, and the objects of deleted ones; the leader also runs the controllers of all workspaces. */
export const workspaces: Controller<WorkspaceDependencies> = {
  name: "workspace",
  start(context) {
    const { registry, clock, client, workspaceContents: contents } = context;
    if (contents === undefined || !registry.serves(Workspace)) return { close: () => Promise.resolve() };
    const informer = context.informer(registry.require(Workspace));
    const finalizer = contentFinalizer(registry.vocabulary);
    const reference = (name: string) => ({
      apiVersion: registry.require(Workspace).apiVersion,
      kind: "Workspace",
      name,
    });
    const queue: WorkQueue = new WorkQueue(
      clock,
      async (name, closing) => {
        await informer.sync();
        const workspace = informer.get("", name) as Workspace | undefined;
        if (workspace === undefined) return;
        const { uid = "", deletionTimestamp, finalizers = [], creationTimestamp } = workspace.metadata;
        if (deletionTimestamp === undefined) {
          const { expirationSeconds } = workspace.spec ?? {};
          if (typeof expirationSeconds !== "number") return;
          const restMs = Date.parse(creationTimestamp ?? "") + expirationSeconds * 1000 - clock.now();
          if (restMs > 0) return queue.addLater(name, Math.min(restMs, longestWaitMs));
          await client.delete(reference(name), { uid });
          return;
        }
        if (!finalizers.includes(finalizer)) return;
        await contents.remove(uid, closing);
        if (closing.aborted) return;
        const rest = finalizers.filter((one) => one !== finalizer);
        await client.patch(reference(name), { metadata: { uid, finalizers: rest } });
      },
      (name, error) => context.failed(this.name, name, error),
      context.queueObserver?.(this.name),
      workers,
    );
    informer.listen((key, object) => {
      if (object !== undefined) queue.add(namesOf(key).name);
    });
    const end = contents.lead();
    return {
      async close() {
        await queue.close();
        await end();
      },
    };
  },
};
