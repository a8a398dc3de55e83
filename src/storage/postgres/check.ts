import { assertKey } from "../keys.ts";
import type { Connection } from "./connection.ts";
import { readPage } from "./pages.ts";
import type { Statements } from "./statements.ts";

const pageKeys = 500;

/** Reads all current values, and checks the history; returns a message for each damage. */
export async function checkStore(connection: Connection, statements: Statements): Promise<string[]> {
  const problems: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await readPage(
      connection,
      statements,
      { prefix: "/", after, limit: pageKeys },
      () => undefined,
    );
    for (const { key, revision } of page.entries) {
      try {
        assertKey(key);
      } catch (error) {
        problems.push((error as Error).message);
      }
      if (revision > page.revision) problems.push(`${key} is newer than the store's revision`);
    }
    if (!page.more) break;
    after = page.entries.at(-1)!.key;
  }
  const [row] = await connection.read(statements.missingRevisions);
  const [missing, floor] = row as unknown as [number, number];
  if (missing !== 0) problems.push(`the log lacks ${missing} of the revisions after ${floor}`);
  for (const overlap of await connection.read(statements.overlaps)) {
    const [key, revision] = overlap as unknown as [Buffer, number];
    problems.push(`${key.toString()}: its value of revision ${revision} overlaps the next one`);
  }
  return problems;
}
