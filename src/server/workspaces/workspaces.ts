import { bearerToken } from "../../authentication/bearer-token.ts";
import { errorPrefix } from "../../authentication/service-accounts/bound-claims.ts";
import { isRefusal } from "../../authentication/refusal.ts";
import { textClaim, unverifiedClaims } from "../../authentication/jwt/claims.ts";
import { verifyClaims } from "../../authentication/jwt/signature.ts";
import type { Attributes } from "../../authorization/authorizer.ts";
import type { AuthorizerChain } from "../../authorization/authorizer-chain.ts";
import { objectNotFound } from "../../base/object-errors.ts";
import { StatusError } from "../../base/status-error.ts";
import { andThen, detach, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { WorkspaceContents } from "../../controllers/workspaces.ts";
import { forbidden } from "../../http/request/attributes.ts";
import type {
  EnteredWorkspace,
  FoundWorkspace,
  HttpService,
  OpenedWorkspace,
  RebaseRequest,
  Workspaces,
} from "../../http/service.ts";
import { Workspace, type WorkspaceBase } from "../../kinds/tenancy/workspace.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { MergeOutcome } from "../../resources/branches/merge-branch.ts";
import type { StorageHooks } from "../../resources/engine/storage-hooks.ts";
import { revisionOf } from "../../storage/entry.ts";
import { FilteredStore, type EntryFilter } from "../../storage/filtered-store.ts";
import { deleteKeyspace, keyspace } from "../../storage/keyspaces/keyspace-store.ts";
import type { Store } from "../../storage/store.ts";
import type { StorePins } from "../../storage/store-history.ts";
import {
  workspaceIn,
  workspaceKeys,
  type ServiceAccountKeys,
} from "../authentication/service-account-tokens.ts";
import { administrators } from "./administrators.ts";
import { filtered } from "./filtered-service.ts";
import { ActiveWorkspaces, type WorkspaceUse } from "./active-workspaces.ts";
import { BaseVisibility } from "./base-visibility.ts";
import { ChangeWatch } from "./change-watch.ts";
import { DefaultState, isDefaultState } from "./default-state.ts";
import { removePins, WorkspaceCreation } from "./workspace-creation.ts";
import { WorkspaceRebasing } from "./workspace-rebasing.ts";
import { WorkspaceReader } from "./workspace-reader.ts";
import { openWorkspace, type SharedParts, type WorkspaceServer } from "./workspace-server.ts";
import { FollowedActivity } from "./workspace-activity.ts";
import { WriteWatch } from "./write-watch.ts";
import { WorkspaceUsage } from "./workspace-usage.ts";
import { forgetRebase, WorkspaceStores } from "./workspace-stores.ts";

/** What the workspaces of a server are made of. */
export interface WorkspacesParts {
  readonly shared: SharedParts;
  /** The store of the server. */
  readonly root: Store;
  readonly pins: StorePins;
  readonly resource: Resource;
  readonly authorizer: AuthorizerChain;
  readonly serviceAccounts: ServiceAccountKeys;
  /** Returns the URL of the server; undefined without a socket. */
  readonly url: () => string | undefined;
}

/** A workspace in use, and the part of it that the user sees. */
interface EnteredServer extends EnteredWorkspace {
  readonly server: WorkspaceServer;
  /** Undefined if the user sees all of it. */
  readonly filter: EntryFilter | undefined;
}

/** The workspaces of a server: finds, opens and deletes them. */
export class ServerWorkspaces implements Workspaces, WorkspaceContents {
  private readonly hooks: StorageHooks;
  private readonly active: ActiveWorkspaces;
  private readonly reader: WorkspaceReader;
  private readonly rebasing: WorkspaceRebasing;
  private readonly changes: ChangeWatch;
  private readonly stores: WorkspaceStores;

  constructor(private readonly parts: WorkspacesParts) {
    const { shared, root, pins, resource, url } = parts;
    const { options } = shared;
    this.reader = new WorkspaceReader(root, resource);
    this.stores = new WorkspaceStores(root);
    const usage = new WorkspaceUsage(root, resource, options.clock);
    this.active = new ActiveWorkspaces(options.clock, options.log, {
      isWritten: (uid) => this.isWritten(uid),
      wasUsed: (uid, { name }, use) => usage.record(name, uid, use),
    });
    const open = (store: Store) =>
      openWorkspace(shared, {
        name: "",
        store,
        bases: [],
        authorizers: [],
        serviceAccounts: parts.serviceAccounts,
        isIsolated: false,
      });
    const defaults = new DefaultState({ options, root, pins, open });
    const { group } = resource;
    const { reader, stores, active } = this;
    this.hooks = new WorkspaceCreation({ root, pins, reader, stores, defaults, group, url });
    this.rebasing = new WorkspaceRebasing({ root, pins, resource, reader, stores, active, defaults });
    this.changes = new ChangeWatch(root, resource.storePrefix, active, options.clock, options.log);
  }

  /** Returns the effects of writes, with those of writes of workspaces. */
  hooksBeside(others: ReadonlyMap<string, StorageHooks>): ReadonlyMap<string, StorageHooks> {
    return new Map([...others, [this.parts.resource.storePrefix, this.hooks]]);
  }

  accessTo(name: string, user: UserInfo): Attributes {
    const { group, version, name: resource } = this.parts.resource;
    return {
      kind: "resource",
      user,
      verb: "access",
      group,
      version,
      resource,
      subresource: "",
      namespace: "",
      name,
    };
  }

  notFound(name: string): StatusError {
    const { group, name: resource } = this.parts.resource;
    return objectNotFound({ group, resource, name });
  }

  find(name: string): MaybePromise<FoundWorkspace | undefined> {
    return andThen(this.reader.find(name), (workspace) => workspace && new Found(this, workspace));
  }

  /** See {@link Workspaces.issuerOf}. A workspace in memory verifies the signature itself. */
  async issuerOf(authorization: string | undefined): Promise<string | undefined> {
    const token = bearerToken(authorization);
    const claims = token === undefined ? undefined : unverifiedClaims(token);
    const issuer = (claims && textClaim(claims, "iss")) ?? "";
    const { serviceAccounts } = this.parts;
    const uid = workspaceIn(issuer, serviceAccounts);
    if (uid === undefined || this.active.has(uid)) return uid;
    try {
      await verifyClaims(token!, serviceAccounts.keys, errorPrefix);
      return uid;
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }

  /**
   * Returns the service of a workspace for a user, for clients in the process; the workspace stays in memory until it is deleted.
   *
   * @throws {StatusError} NotFound; Forbidden if the user may not enter it.
   */
  async serviceFor(name: string, user: UserInfo): Promise<HttpService> {
    const attributes = this.accessTo(name, user);
    const decision = await this.parts.authorizer.authorize(attributes);
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
    const workspace = await this.reader.find(name);
    if (workspace === undefined) throw this.notFound(name);
    return (await this.enter(workspace, user)).service;
  }

  /** Begins the use of a workspace. @param outsider see {@link FoundWorkspace.enter}. */
  async enter(workspace: Workspace, outsider: UserInfo | undefined): Promise<EnteredWorkspace> {
    const { service, left } = await this.entered(workspace, outsider);
    return { service, left };
  }

  /** See {@link FoundWorkspace.open}. */
  async open(workspace: Workspace, user: UserInfo): Promise<OpenedWorkspace> {
    const { service, left, filter, server } = await this.entered(workspace, user);
    const { name = "", uid = "" } = workspace.metadata;
    const bases = workspace.status?.bases ?? [];
    const base = this.stores.base(bases);
    const start = base && {
      store: filter === undefined ? base : new FilteredStore(base, filter),
      at: revisionOf(Number(bases[0]!.resourceVersion)),
    };
    const activity = async () => {
      await this.active.startControllers(server);
      return FollowedActivity.start(server);
    };
    return { service, left, name, uid, bases, own: this.ownKeys(uid), start, activity };
  }

  /** See {@link WorkspaceRebasing}. */
  async rebase(name: string, request: RebaseRequest): Promise<MergeOutcome> {
    const workspace = await this.reader.find(name);
    if (workspace === undefined) throw this.notFound(name);
    const uses: WorkspaceUse[] = [];
    try {
      const { server } = await this.use(workspace, undefined, uses);
      return await this.rebasing.rebase(name, server.service.engine, request);
    } finally {
      for (const use of uses) use.end();
    }
  }

  ownKeys(uid: string): Store {
    return keyspace(this.parts.root, uid);
  }

  private async entered(workspace: Workspace, outsider: UserInfo | undefined): Promise<EnteredServer> {
    const { metadata, status } = workspace;
    if (metadata.deletionTimestamp !== undefined || status?.bases === undefined)
      throw beingDeleted(metadata.name);
    const uses: WorkspaceUse[] = [];
    const left = () => uses.splice(0).forEach((use) => use.end());
    try {
      const user = outsider ?? this.accountOf(workspace);
      const { server } = await this.use(workspace, user.name, uses);
      const filter = await this.visibility(workspace, user, uses);
      const service = filter === undefined ? server.service : filtered(server.service, filter);
      return { service, left, filter, server };
    } catch (error) {
      left();
      throw error;
    }
  }

  /** The user as which the service accounts of a workspace read its base. */
  private accountOf({ metadata }: Workspace): UserInfo {
    const { systemPrefix } = this.parts.shared.options.vocabulary;
    const groups = [`${systemPrefix}workspaces`, `${systemPrefix}authenticated`];
    return { name: `${systemPrefix}workspace:${metadata.name}`, uid: "", groups, extra: {} };
  }

  private async use(
    workspace: Workspace,
    user: string | undefined,
    uses: WorkspaceUse[],
  ): Promise<WorkspaceUse> {
    const { name = "", uid = "" } = workspace.metadata;
    for (let current: Workspace | undefined = workspace; ; current = await this.reader.find(name)) {
      if (current?.metadata.uid !== uid) throw beingDeleted(name);
      const use = await this.active.use(uid, user, () => this.opened(workspace));
      if (use.server.isOver(current.status?.bases ?? [])) {
        uses.push(use);
        return use;
      }
      // Another process has moved the workspace, or this one after the object was read.
      use.end();
      if (current !== workspace) await this.active.close(uid);
    }
  }

  private async opened({ metadata }: Workspace): Promise<WorkspaceServer> {
    const { shared, serviceAccounts } = this.parts;
    const { name = "", uid = "" } = metadata;
    await this.changes.start();
    // It may have been moved or deleted since it was found.
    const workspace = await this.reader.find(name);
    if (workspace?.metadata.uid !== uid || workspace.metadata.deletionTimestamp !== undefined)
      throw beingDeleted(name);
    this.changes.opened(workspace);
    return openWorkspace(shared, {
      name,
      store: await this.stores.of(workspace),
      bases: workspace.status?.bases ?? [],
      authorizers: [administrators(this.reader, name, uid)],
      serviceAccounts: workspaceKeys(shared.options, serviceAccounts, uid),
      isIsolated: workspace.spec?.isolated === true,
    });
  }

  /**
   * Returns which objects of a workspace a user may see; undefined if all.
   *
   * @param uses receives the uses of further workspaces, whose roles decide.
   */
  private async visibility(
    { status }: Workspace,
    user: UserInfo,
    uses: WorkspaceUse[],
  ): Promise<EntryFilter | undefined> {
    const [base, ...further] = status?.bases ?? [];
    const { systemPrefix } = this.parts.shared.options.vocabulary;
    if (base === undefined || isDefaultState(base) || user.groups.includes(`${systemPrefix}masters`))
      return undefined;
    const store = this.stores.base([base, ...further])!;
    const at = revisionOf(Number(base.resourceVersion));
    const { registry } = this.parts.shared.served().service.engine;
    if (base.uid === undefined)
      return new BaseVisibility(
        { store, at, registry, authorizer: this.parts.authorizer, further: undefined },
        user,
      );
    const place = await this.accessible(base, user);
    if (place === undefined)
      return new BaseVisibility({ store, at, registry, authorizer: undefined, further: undefined }, user);
    const { server } = await this.use(place, user.name, uses);
    const rights = {
      store,
      at,
      registry: server.service.engine.registry,
      authorizer: server.authorizer,
      further: await this.visibility(place, user, uses),
    };
    return new BaseVisibility(rights, user);
  }

  /** Returns the workspace of a base if it still exists and the user may enter it. */
  private async accessible(
    { workspace: name = "", uid }: WorkspaceBase,
    user: UserInfo,
  ): Promise<Workspace | undefined> {
    const place = await this.reader.find(name);
    if (place?.metadata.uid !== uid || place?.metadata.deletionTimestamp !== undefined) return undefined;
    const { verdict } = await this.parts.authorizer.authorize(this.accessTo(name, user));
    return verdict === "allow" ? place : undefined;
  }

  private async isWritten(uid: string): Promise<boolean> {
    const { entries } = await this.ownKeys(uid).range({ prefix: "/", limit: 1 });
    return entries.length > 0;
  }

  /** See {@link WorkspaceContents.lead}: also opens workspaces in which other processes write. */
  lead(): () => Promise<void> {
    this.active.lead();
    const { root, resource, shared } = this.parts;
    const { clock, log } = shared.options;
    const failed = (error: unknown) =>
      log.warn({ error: String(error) }, "writes in workspaces can't be followed; retrying");
    const watch = new WriteWatch(root, resource, {
      written: (name, uid) => this.wake(name, uid),
      // What was written before isn't reported.
      began: () => this.active.lead(),
      failed,
      clock,
    });
    watch.start();
    return async () => {
      watch.close();
      await this.active.follow();
    };
  }

  private wake(name: string, uid: string): void {
    if (this.active.has(uid)) return this.active.written(uid);
    const opened = async (): Promise<void> => {
      const workspace = await this.reader.find(name);
      if (workspace?.metadata.uid !== uid || workspace.metadata.deletionTimestamp !== undefined) return;
      const uses: WorkspaceUse[] = [];
      await this.use(workspace, undefined, uses);
      for (const use of uses) use.end();
      this.active.written(uid);
    };
    detach(opened(), (error) =>
      this.parts.shared.options.log.warn({ error: String(error) }, `the workspace ${name} can't be opened`),
    );
  }

  async remove(uid: string, closing: AbortSignal): Promise<void> {
    await this.active.close(uid);
    const { root, pins } = this.parts;
    await deleteKeyspace(root, uid, closing);
    if (closing.aborted) return;
    await removePins(pins, uid);
    await forgetRebase(root, uid);
  }

  /** Ends all workspaces. */
  close(): Promise<void> {
    this.changes.stop();
    return this.active.closeAll();
  }
}

function beingDeleted(name = ""): StatusError {
  return new StatusError("ServiceUnavailable", `the workspace ${JSON.stringify(name)} is being deleted`);
}

class Found implements FoundWorkspace {
  constructor(
    private readonly workspaces: ServerWorkspaces,
    private readonly workspace: Workspace,
  ) {}

  get uid(): string {
    return this.workspace.metadata.uid!;
  }

  enter(outsider: UserInfo | undefined): Promise<EnteredWorkspace> {
    return this.workspaces.enter(this.workspace, outsider);
  }

  open(user: UserInfo): Promise<OpenedWorkspace> {
    return this.workspaces.open(this.workspace, user);
  }
}
