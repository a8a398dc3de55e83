import { ClientError } from "./client-error.ts";
import type { ResourceTable } from "./resource-table.ts";
import type { ServerClient } from "./server-client.ts";

/** Exit code of commands that write nothing because others have changed the same fields. */
export const conflictCode = 3;

/** The status of a kind that writes several objects, such as an Undo. */
interface WriteStatus {
  readonly message?: string | undefined;
  readonly conflicts?: readonly unknown[] | undefined;
}

/**
 * Returns the path of a kind whose objects can only be created.
 *
 * @param group begin of its group.
 * @param plural the objects in messages.
 * @throws {ClientError} the server doesn't serve it.
 */
export function pathOfPosted(table: ResourceTable, kind: string, group: string, plural: string): string {
  const resource = table.resources.find((one) => one.kind === kind && one.group.startsWith(`${group}.`));
  if (resource === undefined)
    throw new ClientError(
      `the server serves no ${plural}; start it with --runtime-config=api/alpha=true; nothing was written`,
    );
  return `/apis/${resource.groupVersion}/${resource.name}`;
}

/**
 * Posts an object that writes others. If conflicts prevent it, the result is that of a dry run, which has them with their values.
 *
 * @param path with a query.
 * @throws {ClientError}
 */
export async function postOrConflicts<Status extends WriteStatus>(
  client: ServerClient,
  path: string,
  spec: object,
  isDryRun: boolean,
): Promise<Status> {
  const post = async (query: string) => (await client.post(`${path}${query}`, { spec }))["status"] as Status;
  if (isDryRun) return post("&dryRun=All");
  try {
    return await post("");
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 409) throw error;
    // Without conflicts the error has another reason.
    const status = await post("&dryRun=All");
    if ((status.conflicts ?? []).length === 0) throw error;
    return { ...status, message: `${status.message?.replace(/^dry run: /, "") ?? ""}; nothing was written` };
  }
}
