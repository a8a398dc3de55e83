import { nextTurn } from "../../base/turns/yielding.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { Undo, type UndoSpec } from "../../kinds/history/undo.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { ClientGuard } from "../../resources/clients/client-guard.ts";
import type { Engine, Target } from "../../resources/engine/engine.ts";
import { readObject } from "../../resources/input/input.ts";
import { resourceOf } from "../../resources/registry/registry.ts";
import { hasOwnRight, historySubresource } from "../../resources/reads/history.ts";
import type { WriteAccess } from "../../resources/undo/planned-write.ts";
import { undoChangeSet } from "../../resources/undo/undo-change-set.ts";
import { undoSelection } from "../../resources/undo/undo-selection.ts";
import { refuseConflicts, undoStatus } from "../../resources/undo/undo-status.ts";
import { answerReview } from "../../resources/writes/review.ts";
import { objectAs } from "../../schema/api-object.ts";
import type { ChangeSet, UndoOptions, UndoResult } from "./server-client.ts";

/** The client that undoes something. */
export interface UndoingClient {
  readonly engine: Engine;
  readonly user: UserInfo;
  /** Undefined if the client may do everything. */
  readonly guard: ClientGuard | undefined;
  /** Returns the same client over another engine. */
  readonly over: (engine: Engine) => Pick<Client, "create" | "update" | "delete">;
}

/**
 * Takes a change set back; see `ServerClient.undo`. It doesn't depend on whether the API version is served.
 *
 * @throws {StatusError} those of `undoChangeSet`; Conflict if others have changed the same fields; Invalid for a wrong selection.
 */
export async function undoWith(
  client: UndoingClient,
  change: string | ChangeSet,
  { dryRun = false }: UndoOptions = {},
): Promise<UndoResult> {
  const { engine, user, guard } = client;
  const target: Target = {
    resource: resourceOf(Undo, engine.vocabulary),
    namespace: "",
    name: "",
    subresource: "",
  };
  const options = { user, dryRun, fieldManager: "plinth" };
  const { object } = readObject(engine, target, { metadata: {}, spec: specOf(change) }, [], "Strict");
  await answerReview(engine, target, object, options, () => undefined);
  const chosen = await undoSelection(engine, objectAs<Undo>(object).spec);
  const run = (own: Engine) =>
    undoChangeSet(own, { ...chosen, dryRun, pause: nextTurn }, (staged) => accessOf(client, staged));
  const outcome = await (guard === undefined
    ? run(engine)
    : guard.run({ verb: "create", target, selectors: {} }, engine, run));
  if (!dryRun) refuseConflicts(outcome);
  return undoStatus(outcome, dryRun);
}

function specOf(change: string | ChangeSet): UndoSpec {
  if (typeof change === "string") return { change };
  const { from, to, resources, ...names } = change;
  const timeOf = (time: Date | string | undefined) => (time instanceof Date ? time.toISOString() : time);
  const all = { ...names, resources: resources && [...resources], from: timeOf(from), to: timeOf(to) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function accessOf({ over, guard }: UndoingClient, staged: Engine): WriteAccess {
  const client = over(staged);
  return {
    async mayRead(target) {
      if (guard === undefined) return true;
      const needed = hasOwnRight(target.resource) ? ["", historySubresource] : [""];
      for (const subresource of needed)
        if (!(await mayGet(guard, staged, { ...target, subresource }))) return false;
      return true;
    },
    create: (_, object) => client.create(object),
    update: (_, object) => client.update(object),
    remove({ resource: { apiVersion, kind }, namespace, name }, { metadata }) {
      const { uid, resourceVersion } = metadata;
      const only = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
      return client.delete({ apiVersion, kind: kind.name, namespace, name }, only);
    },
  };
}

async function mayGet(guard: ClientGuard, engine: Engine, target: Target): Promise<boolean> {
  try {
    await guard.run({ verb: "get", target, selectors: {} }, engine, () => Promise.resolve());
    return true;
  } catch (error) {
    if (error instanceof StatusError && error.reason === "Forbidden") return false;
    throw error;
  }
}
