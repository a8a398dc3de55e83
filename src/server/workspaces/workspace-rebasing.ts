import { RecentMap } from "../../base/collections/recent-map.ts";
import { StatusError } from "../../base/status-error.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import type { RebaseRequest } from "../../http/service.ts";
import type { Workspace, WorkspaceBase } from "../../kinds/tenancy/workspace.ts";
import type { MergeOutcome } from "../../resources/branches/merge-branch.ts";
import { planRebase, type RebasePlan } from "../../resources/branches/rebase-branch.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { decodeEntry, encodeObject, uidOf } from "../../resources/objects/stored.ts";
import { keyOf, type Resource } from "../../resources/registry/registry.ts";
import { revisionOf } from "../../storage/entry.ts";
import { keyInKeyspace, keyspace } from "../../storage/keyspaces/keyspace-store.ts";
import {
  RevisionCompactedError,
  RevisionTooNewError,
  type Entry,
  type Revision,
  type Store,
  type Subscription,
  type Write,
} from "../../storage/store.ts";
import type { StorePins } from "../../storage/store-history.ts";
import type { ActiveWorkspaces } from "./active-workspaces.ts";
import { isDefaultState, type DefaultState } from "./default-state.ts";
import { pinFurther } from "./workspace-creation.ts";
import type { WorkspaceReader } from "./workspace-reader.ts";
import type { WorkspaceStores } from "./workspace-stores.ts";

/** What {@link WorkspaceRebasing} uses. */
interface RebasingParts {
  /** The store of the server. */
  readonly root: Store;
  readonly pins: StorePins;
  readonly resource: Resource;
  readonly reader: WorkspaceReader;
  readonly stores: WorkspaceStores;
  readonly active: ActiveWorkspaces;
  readonly defaults: DefaultState;
}

/** Number of workspaces whose bases are remembered while they are open: more than can be in use. */
const maxOpen = 4000;
/** Attempts while others write in the workspace. */
const attempts = 5;

/**
 * Moves workspaces to newer states of their bases. The own values that change and the bases in the status are written in one transaction,
 * while the workspace is closed: readers see the old state or the new one, and watches end.
 */
export class WorkspaceRebasing {
  constructor(private readonly parts: RebasingParts) {}

  /**
   * @param engine of the workspace, with all of its objects.
   * @throws {StatusError} Invalid, Conflict, RequestEntityTooLarge above the limits of a transaction of the store.
   */
  async rebase(name: string, engine: Engine, request: RebaseRequest): Promise<MergeOutcome> {
    const { reader, active, root } = this.parts;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const workspace = await reader.find(name);
      const uid = workspace?.metadata.uid ?? "";
      const base = workspace?.status?.bases?.[0];
      if (workspace === undefined || base === undefined)
        throw new StatusError("Conflict", `the workspace ${JSON.stringify(name)} was deleted meanwhile`);
      const bases = await this.nextBases(name, base, request.resourceVersion);
      const at = revisionOf(Number(bases[0]!.resourceVersion));
      const pin = `${uid}-rebase`;
      await this.pin(pin, at);
      try {
        const start = {
          store: this.parts.stores.base(workspace.status!.bases!)!,
          at: revisionOf(Number(base.resourceVersion)),
        };
        const next = { store: this.parts.stores.base(bases)!, at };
        const own = keyspace(root, uid);
        const plan = await planRebase({
          engine,
          own,
          start,
          next,
          strategy: request.strategy,
          pause: request.pause,
        });
        const { objects, hidden } = await readable(plan, request);
        const isRefused = objects.some(({ conflicts }) =>
          conflicts.some(({ resolution }) => resolution === undefined),
        );
        if (isRefused || request.dryRun || at === start.at) return { objects, hidden, revision: undefined };
        const revision = await active.exclusively(uid, () => this.commit(workspace, bases, plan));
        if (revision === undefined) continue;
        await this.movePin(uid, bases, at);
        return { objects, hidden, revision };
      } finally {
        await this.parts.pins.remove(pin);
      }
    }
    throw new StatusError(
      "Conflict",
      `others write in the workspace ${JSON.stringify(name)} too often; please try again`,
    );
  }

  private async pin(pin: string, at: Revision): Promise<void> {
    try {
      await this.parts.pins.add(pin, at);
    } catch (error) {
      if (error instanceof RevisionCompactedError || error instanceof RevisionTooNewError)
        throw new StatusError("BadRequest", `spec.resourceVersion: ${at}: ${error.message}`);
      throw error;
    }
  }

  private async nextBases(
    name: string,
    base: WorkspaceBase,
    version: string | undefined,
  ): Promise<WorkspaceBase[]> {
    const { root, reader, defaults } = this.parts;
    if (isDefaultState(base)) {
      if (version)
        throw new StatusError(
          "BadRequest",
          `spec.resourceVersion: the workspace ${JSON.stringify(name)} began with default objects, which have no other version than the current one`,
        );
      return [await defaults.current()];
    }
    const at = version ?? String(await root.latestRevision());
    const { resourceVersion: _, ...source } = base;
    const further = base.uid === undefined ? [] : await this.basesOf(base, reader);
    const start = Number(further[0]?.resourceVersion ?? 0);
    const least = Math.max(Number(base.resourceVersion), start);
    if (Number(at) < least)
      throw new StatusError(
        "BadRequest",
        `spec.resourceVersion: ${at} is older than the state ${least} to which the workspace can be moved at the earliest`,
      );
    return [{ ...source, resourceVersion: at }, ...further];
  }

  private async basesOf(
    { workspace = "", uid }: WorkspaceBase,
    reader: WorkspaceReader,
  ): Promise<readonly WorkspaceBase[]> {
    const base = await reader.find(workspace);
    if (base?.metadata.uid === uid && base?.metadata.deletionTimestamp === undefined)
      return base?.status?.bases ?? [];
    throw new StatusError(
      "BadRequest",
      `the base ${JSON.stringify(workspace)} no longer exists, so there is no newer state of it`,
    );
  }

  /** Returns undefined if something was written meanwhile. */
  private async commit(
    workspace: Workspace,
    bases: readonly WorkspaceBase[],
    { writes }: RebasePlan,
  ): Promise<Revision | undefined> {
    const { root, resource } = this.parts;
    const { name = "", uid = "" } = workspace.metadata;
    const key = keyOf(resource, "", name);
    const entry = await root.get(key);
    if (entry === undefined || uidOf(entry) !== uid) return undefined;
    const object = decodeEntry(entry) as Workspace;
    if (JSON.stringify(object.status?.bases) !== JSON.stringify(workspace.status?.bases)) return undefined;
    const moved = { ...object, status: { ...object.status, bases: [...bases] } };
    const all: Write[] = [
      ...writes.map((write) => inKeyspace(uid, write)),
      { kind: "update", key, expected: entry.revision, draft: encodeObject(resource, moved) },
    ];
    const { writes: limit, bytes } = root.transactionLimits;
    const size = all.reduce((sum, write) => sum + (write.kind === "delete" ? 0 : write.draft.body.length), 0);
    if (all.length > limit || size > bytes)
      throw new StatusError(
        "RequestEntityTooLarge",
        `the rebase needs ${all.length} writes of ${size} bytes, and a transaction of the store has at most ${limit} of ${bytes} bytes; nothing was written`,
      );
    const result = await root.transact(all);
    return result.ok ? result.revision : undefined;
  }

  /** Pins the new state in place of the old one; branches of the workspace have pinned that themselves. */
  private async movePin(uid: string, bases: readonly WorkspaceBase[], at: Revision): Promise<void> {
    if (isDefaultState(bases[0]!)) return;
    await pinFurther(this.parts.pins, uid, bases);
    await this.parts.pins.add(uid, at);
  }
}

function inKeyspace(uid: string, write: Write): Write {
  const conditions = write.conditions?.map(({ key, revision }) => ({
    key: keyInKeyspace(uid, key),
    revision,
  }));
  return { ...write, key: keyInKeyspace(uid, write.key), ...(conditions && { conditions }) };
}

/** Returns the objects that the user may read. @throws {StatusError} Forbidden for a conflict in another one. */
async function readable(
  { objects }: RebasePlan,
  { mayRead }: RebaseRequest,
): Promise<Pick<MergeOutcome, "objects" | "hidden">> {
  const shown: RebasePlan["objects"][number][] = [];
  for (const object of objects) {
    if (await mayRead(object.target)) shown.push(object);
    else if (object.conflicts.some(({ resolution }) => resolution === undefined))
      throw new StatusError(
        "Forbidden",
        "the rebase has conflicts in objects that you may not read; nothing was written",
      );
  }
  return { objects: shown, hidden: objects.length - shown.length };
}

/** Closes workspaces whose bases another process has moved. */
export class RebaseWatch {
  private subscription: Subscription | undefined;
  private closed = false;
  /** The bases of open workspaces, by uid. */
  private readonly bases = new RecentMap<string>({ entries: maxOpen, cost: 0 });

  constructor(
    private readonly root: Store,
    private readonly prefix: string,
    private readonly active: ActiveWorkspaces,
    private readonly log: Logger,
  ) {}

  /** Starts to follow the workspaces, unless it does. */
  async start(): Promise<void> {
    if (this.subscription !== undefined || this.closed) return;
    const after = await this.root.latestRevision();
    if (this.subscription !== undefined || this.closed) return;
    this.subscription = this.root.subscribe(
      { prefix: this.prefix, after },
      {
        events: (batch) => batch.forEach(({ entry, previous }) => this.receive(previous, entry)),
        ended: (error) => {
          if (this.closed) return;
          this.log.warn({ error: String(error) }, "moves of workspaces can't be followed; restarting");
          this.subscription = undefined;
          this.run(this.active.closeOpen().then(() => this.start()));
        },
      },
    );
  }

  /** Records with which bases a workspace is open. */
  opened({ metadata, status }: Workspace): void {
    this.bases.set(metadata.uid!, JSON.stringify(status?.bases));
  }

  private receive(previous: Entry | undefined, entry: Entry | undefined): void {
    if (previous === undefined || entry === undefined || !this.active.has(uidOf(entry))) return;
    const { metadata, status } = decodeEntry(entry) as Workspace;
    const isCurrent = this.bases.get(metadata.uid!) === JSON.stringify(status?.bases);
    if (!isCurrent) this.run(this.active.close(metadata.uid!));
  }

  private run(work: Promise<void>): void {
    detach(work, (error) =>
      this.log.error({ error: stackOf(error) }, "a moved workspace could not be closed"),
    );
  }

  close(): void {
    this.closed = true;
    this.subscription?.close();
  }
}
