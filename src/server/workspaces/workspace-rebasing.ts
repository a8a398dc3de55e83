import { randomUUID } from "node:crypto";
import { StatusError } from "../../base/status-error.ts";
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
  type Draft,
  type Revision,
  type Store,
  type Write,
} from "../../storage/store.ts";
import type { StorePins } from "../../storage/store-history.ts";
import type { ActiveWorkspaces } from "./active-workspaces.ts";
import { isDefaultState, type DefaultState } from "./default-state.ts";
import { pinFurther } from "./workspace-creation.ts";
import type { WorkspaceReader } from "./workspace-reader.ts";
import { rebaseKey, type WorkspaceStores } from "./workspace-stores.ts";

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

/** Attempts while others write in the workspace. */
const attempts = 5;
/** A value of which only the revision counts. */
const emptyDraft: Draft = { header: new Uint8Array(), body: new Uint8Array(), revisionAt: 0 };
/** Space for the object of the workspace, which is written with its values. */
const maxWorkspaceBytes = 64 * 1024;

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
      const pin = `${uid}-rebase-${randomUUID()}`;
      await this.pin(pin, at);
      // Whether the workspace may begin with the new state, which then stays pinned whatever fails.
      let isMoved = false;
      try {
        const start = {
          store: this.parts.stores.base(workspace.status!.bases!)!,
          at: revisionOf(Number(base.resourceVersion)),
        };
        const next = { store: this.parts.stores.base(bases)!, at };
        const own = keyspace(root, uid);
        const limits = root.transactionLimits;
        const plan = await planRebase({
          engine,
          own,
          start,
          next,
          strategy: request.strategy,
          limits: { writes: limits.writes - 2, bytes: limits.bytes - maxWorkspaceBytes },
          pause: request.pause,
        });
        const { objects, hidden } = await readable(plan, request);
        const isRefused = objects.some(({ conflicts }) =>
          conflicts.some(({ resolution }) => resolution === undefined),
        );
        if (isRefused || request.dryRun || at === start.at) return { objects, hidden, revision: undefined };
        isMoved = true;
        const revision = await active.exclusively(uid, () => this.commit(workspace, bases, plan));
        if (revision !== undefined) await this.movePin(uid, bases, at);
        isMoved = false;
        if (revision !== undefined) return { objects, hidden, revision };
      } finally {
        if (!isMoved) await this.parts.pins.remove(pin);
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
    const marked = await root.get(rebaseKey(uid));
    const mark = { key: rebaseKey(uid), draft: emptyDraft } as const;
    const all: Write[] = [
      ...writes.map((write) => inKeyspace(uid, write)),
      marked === undefined
        ? { kind: "create", ...mark }
        : { kind: "update", expected: marked.revision, ...mark },
      { kind: "update", key, expected: entry.revision, draft: encodeObject(resource, moved) },
    ];
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
  const visible: RebasePlan["objects"][number][] = [];
  for (const object of objects) {
    if (await mayRead(object.target)) visible.push(object);
    else if (object.conflicts.some(({ resolution }) => resolution === undefined))
      throw new StatusError(
        "Forbidden",
        "the rebase has conflicts in objects that you may not read; nothing was written",
      );
  }
  return { objects: visible, hidden: objects.length - visible.length };
}
