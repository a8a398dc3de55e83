import { nextTurn } from "../../base/turns/yielding.ts";
import { StatusError } from "../../base/status-error.ts";
import { fromStored } from "../engine/conversion.ts";
import { kindContext, type Engine, type Target } from "../engine/engine.ts";
import { decodeEntry } from "../objects/stored.ts";
import { historyOf, notKept, readVersions, type ObjectVersionRead } from "../reads/history.ts";
import type { ApiObject } from "../../schema/kind.ts";

/** A version of an object: the effect of one write, and who made it. */
export interface VersionOf<O> {
  /** Resource version of the write. */
  readonly resourceVersion: string;
  /** Resource version of the version before; undefined if the write created the object, or if it is unknown. */
  readonly previousVersion: string | undefined;
  /** Whether the write deleted the object. */
  readonly deleted: boolean;
  /** Time of the write, RFC 3339; like the other facts about it undefined if it is unknown. */
  readonly time: string | undefined;
  /** Name of the user. */
  readonly user: string | undefined;
  /** Name of the field manager. */
  readonly manager: string | undefined;
  /** Verb of the request, such as `create`, `apply` or `delete`. */
  readonly verb: string | undefined;
  /** Identifies the request, as in its audit events; all writes of a transaction have the same one. */
  readonly auditId: string | undefined;
  /** The object after the write, or the last state of a deleted one; only with `contents`. */
  readonly object: O | undefined;
  /** Reason why the object can't be read; only with `contents`. */
  readonly error: string | undefined;
}

/** Versions that are read at a time. */
const pageSize = 100;

/**
 * Yields the versions of an object, newest first.
 *
 * @param contents whether with the objects.
 * @throws {StatusError} NotFound if the history isn't kept or has no such object.
 */
export async function* versionsOf<O extends ApiObject>(
  engine: Engine,
  target: Target,
  contents: boolean,
): AsyncGenerator<VersionOf<O>, void> {
  if (historyOf(engine, target.resource) === undefined)
    throw new StatusError("NotFound", notKept(target.resource));
  let after: string | undefined;
  do {
    const page = await readVersions(engine, target, { limit: pageSize, after, contents, pause: nextTurn });
    for (const item of page.items) yield versionOf<O>(engine, target, item);
    after = page.next;
  } while (after !== undefined);
}

function versionOf<O extends ApiObject>(
  engine: Engine,
  target: Target,
  { version, entry, error }: ObjectVersionRead,
): VersionOf<O> {
  const { revision, previous, deleted, origin } = version;
  return {
    resourceVersion: String(revision),
    previousVersion: previous === 0 ? undefined : String(previous),
    deleted,
    time: origin && engine.timestamps.at(origin.time),
    user: origin?.user,
    manager: origin?.manager,
    verb: origin?.verb,
    auditId: origin?.requestId,
    object: entry && (fromStored(target.resource, decodeEntry(entry), kindContext(engine, target)) as O),
    error,
  };
}
