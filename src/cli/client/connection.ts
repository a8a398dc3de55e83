import type { FlagReader } from "../flags/flag-reader.ts";
import { accessOf } from "./access-flags.ts";
import { ResourceTable } from "./resource-table.ts";
import { ServerClient } from "./server-client.ts";

/** A server, and its resource types. */
export interface Connection {
  readonly client: ServerClient;
  readonly table: ResourceTable;
  /** Namespace of objects for which the command names none. */
  readonly namespace: string;
}

/**
 * Runs work with the server of the flags.
 *
 * @param hasNamespace whether the command has the flag `--namespace`.
 * @throws {UsageError} @throws {ClientError}
 */
export async function connected<T>(
  read: FlagReader,
  work: (to: Connection) => Promise<T>,
  hasNamespace = true,
): Promise<T> {
  const access = await accessOf(read, process.env);
  const client = new ServerClient(access);
  try {
    const table = await ResourceTable.read(client);
    return await work({
      client,
      table,
      namespace: (hasNamespace ? read.optional("namespace") : undefined) ?? (access.namespace || "default"),
    });
  } finally {
    client.close();
  }
}
