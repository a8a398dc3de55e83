import type { SharedValues } from "../shared-values.ts";
import { StoreUnavailableError } from "../store.ts";
import type { Connection } from "./connection.ts";
import type { Keyspace } from "./keyspace.ts";
import type { KeyValue } from "./messages.ts";

/** Values that all servers with the same prefix share. */
export class EtcdSharedValues implements SharedValues {
  constructor(
    private readonly connection: Connection,
    private readonly keyspace: Keyspace,
  ) {}

  async get(name: string): Promise<Buffer | undefined> {
    const { kvs } = await this.connection.range({ key: this.keyspace.shared(name) });
    return valueOf(kvs[0]);
  }

  async replace(name: string, before: Buffer | undefined, value: Buffer): Promise<Buffer> {
    const key = this.keyspace.shared(name);
    const { kvs } = await this.connection.range({ key });
    const existing = valueOf(kvs[0]);
    if (existing !== undefined && !(before?.equals(existing) ?? false)) return existing;
    const { succeeded, results } = await this.connection.write(
      {
        expect: { key, modRevision: kvs[0]?.modRevision ?? 0 },
        success: [{ put: { key, value } }],
        failure: [{ range: { key } }],
      },
      true,
    );
    if (succeeded) return value;
    const other = valueOf(results[0]!.kvs[0]);
    if (other === undefined)
      throw new StoreUnavailableError(`the shared value ${name} was removed meanwhile`);
    return other;
  }
}

function valueOf(kv: KeyValue | undefined): Buffer | undefined {
  return kv === undefined ? undefined : Buffer.from(kv.value);
}
