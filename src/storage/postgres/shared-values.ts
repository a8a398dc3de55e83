import type { SharedValues } from "../shared-values.ts";
import { StoreUnavailableError } from "../store.ts";
import type { Connection } from "./connection.ts";
import type { Statements } from "./statements.ts";

/** Values that the servers of one store share. */
export class PostgresSharedValues implements SharedValues {
  constructor(
    private readonly connection: Connection,
    private readonly statements: Statements,
  ) {}

  async get(name: string): Promise<Buffer | undefined> {
    const [row] = await this.connection.read({ ...this.statements.sharedValue, values: [name] });
    return row?.[0] as Buffer | undefined;
  }

  async replace(name: string, before: Buffer | undefined, value: Buffer): Promise<Buffer> {
    const { addShared, replaceShared } = this.statements;
    // Both statements may be executed twice: the second time they change nothing.
    await this.connection.read(
      before === undefined
        ? { ...addShared, values: [name, value] }
        : { ...replaceShared, values: [name, value, before] },
    );
    const stored = await this.get(name);
    if (stored === undefined)
      throw new StoreUnavailableError(`the shared value ${name} was removed meanwhile`);
    return stored;
  }
}
