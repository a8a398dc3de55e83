import type { UserInfo } from "../../base/user-info.ts";
import { Client, type ObjectReference } from "../../resources/clients/client.ts";
import type { VersionOf } from "../../resources/clients/object-history.ts";
import type { ClientGuard } from "../../resources/clients/client-guard.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { decideAction, explainAction, type AccessService } from "./access-questions.ts";
import { applyAll } from "./apply.ts";
import type {
  AccessAnswer,
  AccessOptions,
  ApplyOptions,
  ChangeSet,
  HistoryOptions,
  TransactionOptions,
  UndoOptions,
  UndoResult,
  WaitOptions,
  WorkspaceClient,
} from "./server-client.ts";
import { undoWith } from "./undo.ts";
import { waitFor } from "./wait-for.ts";

/** Enters a workspace for a user. @throws {OptionsError} workspaces aren't served. */
export type WorkspaceEntry = (name: string, user: UserInfo) => Promise<WorkspaceClient<unknown>>;

/** Implements {@link ServerClient}. */
export class LibraryClient extends Client {
  /** @param caller the user of the client. @param authorize undefined if the client may do everything. */
  constructor(
    private readonly service: AccessService & { readonly enterWorkspace: WorkspaceEntry },
    private readonly caller: UserInfo,
    private readonly authorize?: ClientGuard,
  ) {
    super(service.engine, caller, authorize, service.reviews);
  }

  withTypesOf(): this {
    return this;
  }

  can(verb: string, resourceOrPath: string, options: AccessOptions = {}): Promise<boolean> {
    return decideAction(this.service, this.caller, verb, resourceOrPath, options);
  }

  why(verb: string, resourceOrPath: string, options: AccessOptions = {}): Promise<AccessAnswer> {
    return explainAction(this.service, this.caller, verb, resourceOrPath, options);
  }

  apply(source: object | readonly object[] | string, options: ApplyOptions = {}): Promise<ApiObject[]> {
    return applyAll(this, source, options);
  }

  transaction<T>(
    work: (client: LibraryClient) => Promise<T>,
    { dryRun = false }: TransactionOptions = {},
  ): Promise<T> {
    return this.runTransaction(dryRun, (engine) =>
      work(new LibraryClient({ ...this.service, engine }, this.caller, this.authorize)),
    );
  }

  undo(change: string | ChangeSet, options?: UndoOptions): Promise<UndoResult> {
    const { service, caller: user, authorize: guard } = this;
    const over = (engine: Engine) => new LibraryClient({ ...service, engine }, user, guard);
    return undoWith({ engine: service.engine, user, guard, over }, change, options);
  }

  history(
    reference: ObjectReference,
    { contents = false }: HistoryOptions = {},
  ): AsyncIterable<VersionOf<ApiObject>> {
    return this.readHistory(reference, contents);
  }

  workspace(name: string): Promise<WorkspaceClient<unknown>> {
    return this.service.enterWorkspace(name, this.caller);
  }

  waitFor(
    reference: ObjectReference,
    predicate: (object: ApiObject | undefined) => boolean,
    options?: WaitOptions,
  ): Promise<ApiObject | undefined> {
    return waitFor(this, reference, predicate, options);
  }
}
