import { StatusError } from "../../base/status-error.ts";
import type { Workspace, WorkspaceBase, WorkspaceSource } from "../../kinds/tenancy/workspace.ts";
import { workspacePath } from "../../http/request/facts.ts";
import type { PendingWrite, StorageHooks } from "../../resources/engine/storage-hooks.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { revisionOf } from "../../storage/entry.ts";
import {
  RevisionCompactedError,
  RevisionTooNewError,
  type Revision,
  type Store,
} from "../../storage/store.ts";
import type { StorePins } from "../../storage/store-history.ts";
import { isDefaultState, type DefaultState } from "./default-state.ts";
import type { WorkspaceReader } from "./workspace-reader.ts";
import type { WorkspaceStores } from "./workspace-stores.ts";

/** A branch of a branch of … has at most this number of bases, because each is asked when a key is read. */
const maxBases = 8;

/** What {@link WorkspaceCreation} uses. */
interface CreationParts {
  /** The store of the server. */
  readonly root: Store;
  readonly pins: StorePins;
  readonly reader: WorkspaceReader;
  readonly stores: WorkspaceStores;
  readonly defaults: DefaultState;
  /** Full name of the group of workspaces. */
  readonly group: string;
  /** Returns the URL of the server; undefined without a socket. */
  readonly url: () => string | undefined;
}

/** Pins the states that the base of a workspace begins with, because the base may be deleted or moved before the workspace. */
export async function pinFurther(
  pins: StorePins,
  uid: string,
  [, ...further]: readonly WorkspaceBase[],
): Promise<void> {
  for (const base of further)
    if (!isDefaultState(base))
      await pins.add(`${uid}-${base.resourceVersion}`, revisionOf(Number(base.resourceVersion)));
}

/** Removes all pins of a workspace. */
export async function removePins(pins: StorePins, uid: string): Promise<void> {
  for (const { name } of await pins.list(uid))
    if (name === uid || name.startsWith(`${uid}-`)) await pins.remove(name);
}

/** Determines the state with which a new workspace begins, and pins it for as long as the workspace exists. */
export class WorkspaceCreation implements StorageHooks {
  constructor(private readonly parts: CreationParts) {}

  /** @throws {StatusError} Invalid if the source can't be used. */
  async beforeWrite(object: ApiObject, live: ApiObject | undefined, dryRun: boolean): Promise<PendingWrite> {
    const nothing = () => Promise.resolve();
    if (live !== undefined) return { finish: nothing, undo: nothing };
    const workspace = object as Workspace;
    const { uid = "", name = "" } = workspace.metadata;
    const from = workspace.spec?.from ?? undefined;
    const bases =
      from === undefined
        ? [await this.parts.defaults.current()]
        : await this.basesOf(workspace, from, dryRun);
    const url = this.parts.url();
    workspace.status = {
      phase: "Ready",
      ...(url === undefined ? {} : { url: `${url}${workspacePath(name)}` }),
      bases,
    };
    const isPinned = from !== undefined && !dryRun;
    return { finish: nothing, undo: async () => void (isPinned && (await removePins(this.parts.pins, uid))) };
  }

  /** The pin is removed with the objects, by the controller. */
  afterDelete(): Promise<void> {
    return Promise.resolve();
  }

  private async basesOf(
    workspace: Workspace,
    from: WorkspaceSource,
    dryRun: boolean,
  ): Promise<WorkspaceBase[]> {
    const source = await this.sourceOf(workspace, from);
    const { pins, root } = this.parts;
    try {
      const at = await this.revisionOf(from);
      const start = await this.parts.stores.since(source.base.uid, source.bases);
      if (at !== undefined && at < start) throw new RevisionCompactedError(at, start);
      const revision = dryRun
        ? (at ?? (await root.latestRevision()))
        : (await pins.add(workspace.metadata.uid!, at)).revision;
      const bases = [{ ...source.base, resourceVersion: String(revision) }, ...source.bases];
      if (!dryRun) await pinFurther(pins, workspace.metadata.uid!, bases);
      return bases;
    } catch (error) {
      if (error instanceof RevisionCompactedError || error instanceof RevisionTooNewError)
        throw this.refusal(
          workspace,
          from.time ? "time" : "resourceVersion",
          from.time ?? from.resourceVersion ?? "",
          error.message,
        );
      throw error;
    }
  }

  /** Returns the resource version that a source names; undefined for the newest one. */
  private async revisionOf({ resourceVersion, time }: WorkspaceSource): Promise<Revision | undefined> {
    if (resourceVersion) return revisionOf(Number(resourceVersion));
    if (!time) return undefined;
    const { history } = this.parts.root;
    if (history === undefined) throw new RevisionCompactedError(revisionOf(0), await this.parts.root.floor());
    return history.revisionAt(Date.parse(time));
  }

  private async sourceOf(
    workspace: Workspace,
    { workspace: name = "" }: WorkspaceSource,
  ): Promise<{ base: Omit<WorkspaceBase, "resourceVersion">; bases: readonly WorkspaceBase[] }> {
    if (name === "") return { base: {}, bases: [] };
    const source = await this.parts.reader.find(name);
    if (source === undefined || source.metadata.deletionTimestamp !== undefined)
      throw this.refusal(
        workspace,
        "workspace",
        name,
        source === undefined ? "there is no such workspace" : "it is being deleted",
      );
    const bases = source.status?.bases ?? [];
    if (bases.length >= maxBases)
      throw this.refusal(
        workspace,
        "workspace",
        name,
        `it is a branch of a branch, ${maxBases} levels deep, and can't be branched`,
      );
    return { base: { workspace: name, uid: source.metadata.uid! }, bases };
  }

  private refusal({ metadata }: Workspace, field: string, value: string, why: string): StatusError {
    const report = FieldReport.start();
    report.at("spec", "from", field).invalid(value, why);
    return invalidError(
      { kind: "Workspace", group: this.parts.group, name: metadata.name ?? "" },
      report.faults,
    );
  }
}
