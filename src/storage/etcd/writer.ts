import { revisionOf } from "../entry.ts";
import {
  type CommitResult,
  type Revision,
  StoreFullError,
  StoreUnavailableError,
  type Write,
} from "../store.ts";
import { CompactedSignal, type Connection, type WriteAnswer } from "./connection.ts";
import type { Keyspace } from "./keyspace.ts";
import type { KeyValue, RequestOp, TxnRequest } from "./messages.ts";
import { decodeEntry, encodeValue } from "./value.ts";
import { randomBytes } from "node:crypto";

/** Executes the writes of a store in transactions, each of which also writes the marker. */
export class Writer {
  private readonly tokens = new WriteTokens();

  constructor(
    private readonly connection: Connection,
    private readonly keyspace: Keyspace,
  ) {}

  /**
   * Executes a write.
   *
   * @throws {StoreFullError} nothing was written.
   * @throws {StoreUnavailableError} the write may have taken effect, unless the message says otherwise.
   */
  async write(write: Write): Promise<CommitResult> {
    const key = this.keyspace.outer(write.key);
    const value = write.kind === "delete" ? undefined : encodeValue(write.draft);
    const change: RequestOp = value === undefined ? { remove: { key } } : { put: { key, value } };
    const expected = write.kind === "create" ? 0 : write.expected;
    const conditions = (write.conditions ?? []).map((condition) => ({
      key: this.keyspace.outer(condition.key),
      modRevision: condition.revision,
    }));
    const token = this.tokens.next();
    const { succeeded, revision, results, doubtful } = await this.send(write.kind, key, token, {
      expect: { key, modRevision: expected },
      conditions,
      success: [change, { put: { key: this.keyspace.marker, value: token } }],
      failure: [key, ...conditions.map((condition) => condition.key)].map((one) => ({ range: { key: one } })),
    });
    const existing = results[0]?.kvs[0];
    if (!succeeded && !(doubtful && (await this.isResultOf(token, existing)))) {
      // A write or delete of another server may have followed our write without an answer.
      if (doubtful) throw new StoreUnavailableError(`whether ${write.key} was written isn't known`);
      const current = existing === undefined ? undefined : decodeEntry(write.key, existing);
      if ((existing?.modRevision ?? 0) !== expected) return { ok: false, current };
      const revisions = results.slice(1).map(({ kvs }) => kvs[0]?.modRevision ?? 0);
      const failedCondition = conditions.findIndex(
        ({ modRevision }, index) => modRevision !== revisions[index],
      );
      return { ok: false, current, failedCondition };
    }
    const at = succeeded ? revision : existing!.modRevision;
    const stored: KeyValue = value === undefined ? existing! : { key, version: 0, modRevision: at, value };
    return { ok: true, revision: revisionOf(at), entry: decodeEntry(write.key, stored) };
  }

  /**
   * Removes the value of a key that was written at a revision, without reading it.
   *
   * @returns the revision of the removal; undefined if the key has another value or none.
   */
  async remove(key: string, modRevision: number): Promise<Revision | undefined> {
    const outer = this.keyspace.outer(key);
    const { succeeded, revision } = await this.connection.write(
      {
        expect: { key: outer, modRevision },
        success: [
          { remove: { key: outer } },
          { put: { key: this.keyspace.marker, value: this.tokens.next() } },
        ],
      },
      true,
    );
    return succeeded ? revisionOf(revision) : undefined;
  }

  /**
   * Sends a write. A write with an expected revision can be repeated, because that revision never returns. A create isn't repeated:
   * a late first attempt could recreate an object that was deleted since; its outcome is read instead.
   */
  private async send(
    kind: Write["kind"],
    key: Buffer,
    token: Buffer,
    request: TxnRequest,
  ): Promise<WriteAnswer> {
    try {
      return await this.connection.write(request, kind !== "create");
    } catch (error) {
      const unanswered = kind === "create" && error instanceof StoreUnavailableError;
      if (!unanswered && !(error instanceof StoreFullError)) throw error;
      // etcd rejects the write that exceeds the quota, but executes it.
      const page = await this.connection.range({ key });
      const [found] = page.kvs;
      if (await this.isResultOf(token, found))
        return { revision: found!.modRevision, succeeded: true, results: [], doubtful: false };
      if (kind === "delete" && found?.modRevision !== request.expect?.modRevision) {
        throw new StoreUnavailableError(`whether it was removed isn't known: ${String(error)}`, {
          cause: error,
        });
      }
      throw error;
    }
  }

  /** Whether a stored value is the result of the write with a token; false if its revision is already compacted. */
  private async isResultOf(token: Buffer, stored: KeyValue | undefined): Promise<boolean> {
    if (stored === undefined) return false;
    try {
      const { marker } = this.keyspace;
      const { kvs } = await this.connection.range({ key: marker, revision: stored.modRevision });
      return kvs[0] !== undefined && token.equals(kvs[0].value);
    } catch (error) {
      if (!(error instanceof CompactedSignal)) throw error;
      return false;
    }
  }
}

/**
 * Creates a token for each write of one store object. A write transaction puts its token into the marker, so that a write without an
 * answer is recognized by the marker at the revision of the stored value, also when another server wrote an equal value.
 */
class WriteTokens {
  private readonly store = randomBytes(8);
  private count = 0;

  next(): Buffer {
    const token = Buffer.alloc(14);
    this.store.copy(token);
    token.writeUIntBE(++this.count, 8, 6);
    return token;
  }
}
