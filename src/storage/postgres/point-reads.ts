import type { Entry, Revision } from "../store.ts";
import { bigintArray, bytesArray } from "./arrays.ts";
import type { Connection } from "./connection.ts";
import type { EntryCache } from "./entry-cache.ts";
import { entryOf } from "./rows.ts";
import type { Row } from "./session.ts";
import type { Statements } from "./statements.ts";

interface PendingRead {
  readonly key: string;
  resolve(entry: Entry | undefined): void;
  reject(error: unknown): void;
}

const maxKeys = 200;

/** Reads single keys at the latest revision; the reads of one turn of the event loop share one statement. */
export class PointReads {
  private pending: PendingRead[] = [];

  constructor(
    private readonly connection: Connection,
    private readonly statements: Statements,
    private readonly cache: EntryCache,
    /** Returns the position of the feed. */
    private readonly position: () => Revision,
  ) {}

  get(key: string): Promise<Entry | undefined> {
    return new Promise((resolve, reject) => {
      if (this.pending.push({ key, resolve, reject }) === 1) setImmediate(() => this.startAll());
    });
  }

  private startAll(): void {
    const reads = this.pending;
    this.pending = [];
    for (let from = 0; from < reads.length; from += maxKeys) this.start(reads.slice(from, from + maxKeys));
  }

  private start(reads: readonly PendingRead[]): void {
    this.read(reads.map(({ key }) => key)).then(
      (entries) => {
        for (const { key, resolve } of reads) resolve(entries.get(key));
      },
      (error: unknown) => {
        for (const { reject } of reads) reject(error);
      },
    );
  }

  private async read(requested: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
    const keys = [...new Set(requested)];
    const cached = new Map<string, Entry>();
    for (const key of keys) {
      const entry = this.cache.get(key);
      if (entry !== undefined) cached.set(key, entry);
    }
    const values = [
      bytesArray(keys.map((key) => Buffer.from(key))),
      bigintArray(keys.map((key) => cached.get(key)?.revision ?? 0)),
    ];
    return this.entriesOf(await this.connection.read({ ...this.statements.get, values }), cached);
  }

  private entriesOf(rows: readonly Row[], cached: ReadonlyMap<string, Entry>): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const row of rows) {
      if (row[2] === null) continue;
      // The database doesn't send the value of a revision that is cached.
      const entry = row[6] === null ? cached.get((row[2] as Buffer).toString())! : entryOf(row, 2);
      entries.set(entry.key, entry);
      this.cache.add(entry, row[0] as Revision, this.position());
    }
    return entries;
  }
}
