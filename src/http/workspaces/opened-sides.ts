import { StatusError } from "../../base/status-error.ts";
import type { BranchView } from "../../resources/branches/branch.ts";
import type { ResourceContext } from "../request/context.ts";
import { accountOf } from "../request/context.ts";
import type { HttpService, OpenedWorkspace } from "../service.ts";
import { authorizeAccess } from "../stages/workspace.ts";
import { mayGet } from "../transactions/write-access.ts";

/** The workspaces that a request compares or merges; they are in use until the request has ended. */
export class OpenedSides {
  private readonly opened: OpenedWorkspace[] = [];

  private constructor(
    private readonly service: HttpService,
    private readonly request: ResourceContext,
  ) {}

  /** Runs work with workspaces, and ends their use. */
  static async use<T>(
    service: HttpService,
    request: ResourceContext,
    work: (sides: OpenedSides) => Promise<T>,
  ): Promise<T> {
    const sides = new OpenedSides(service, request);
    try {
      return await work(sides);
    } finally {
      for (const one of sides.opened) one.left();
    }
  }

  /**
   * Opens a workspace for the user of the request.
   *
   * @param uid the one that it must have; any by default.
   * @throws {StatusError} Forbidden without the right to enter it; NotFound; ServiceUnavailable if it is being deleted.
   */
  async open(name: string, uid?: string): Promise<OpenedWorkspace> {
    const { service, request } = this;
    const { user } = request;
    await authorizeAccess(service, request, name);
    const workspaces = service.workspaces!;
    const workspace = await workspaces.find(name);
    const opened = await workspace?.open(user);
    if (opened === undefined) throw workspaces.notFound(name);
    this.opened.push(opened);
    if (uid !== undefined && opened.uid !== uid) throw workspaces.notFound(name);
    return opened;
  }

  /**
   * Returns the service of the base of a workspace, as it is now.
   *
   * @returns undefined if the workspace began with default objects.
   * @throws {StatusError} as {@link open}.
   */
  async baseOf({ bases: [base] }: OpenedWorkspace): Promise<HttpService | undefined> {
    if (base === undefined) return undefined;
    if (base.uid === undefined) return this.service;
    // Default objects belong to no workspace.
    return base.workspace === undefined ? undefined : (await this.open(base.workspace, base.uid)).service;
  }

  /** Returns the objects of a service as the user sees them. */
  view(service: HttpService): BranchView {
    const { user } = this.request;
    return { engine: service.engine, mayGet: (target) => mayGet(service, user, target) };
  }

  /**
   * Lets others run between two steps.
   *
   * @param noun of the work, for the message.
   * @throws {StatusError} Timeout
   */
  async pause(noun: string): Promise<void> {
    if (this.request.exchange.expired)
      throw new StatusError("Timeout", `the ${noun} did not end in time; nothing was written`);
    await this.service.turns.longStep(accountOf(this.request));
  }
}
