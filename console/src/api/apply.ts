import { editOf, joined } from "../model/edit.ts";
import { partsOf, type ManagedFieldsEntry } from "../model/managed-fields.ts";
import { pathOf, type ResourceType } from "../model/resource-types.ts";
import { ApiError, getJson } from "./client.ts";
import type { ApiObject } from "./objects.ts";

/** The field manager of the console. */
export const fieldManager = "plinth-console";

/** A field that another manager owns with another value. */
export interface Conflict {
  readonly owner: string;
  readonly field: string;
}

/** Thrown if applied fields belong to others. */
export class ConflictError extends Error {
  override name = "ConflictError";
  constructor(readonly conflicts: readonly Conflict[]) {
    super("other managers own these fields");
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** An edit of an object. */
export interface EditRequest {
  readonly type: ResourceType;
  /** The object as the editor began with it. */
  readonly original: ApiObject;
  readonly edited: Fields;
  /** The editable part of the original. */
  readonly base: Fields;
  /** Whether fields of other managers are taken over. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** Whether an edit changes anything. */
export function isChange({ base, edited }: Pick<EditRequest, "base" | "edited">): boolean {
  const { changed, removed } = editOf(base, edited);
  return Object.keys(changed).length > 0 || removed !== undefined;
}

/**
 * Applies an edit: changed fields with server-side apply, together with those that the console has applied before; removed fields, which
 * an apply can't remove from other owners, with a merge patch.
 *
 * @returns the object afterwards; of a dry run, that of the apply without the removals.
 * @throws {ConflictError} unless the edit is forced. @throws as `send`
 */
export async function applyEdit({
  type,
  original,
  edited,
  base,
  force,
  dryRun,
}: EditRequest): Promise<ApiObject> {
  const { changed, removed } = editOf(base, edited);
  const { name, namespace = "", managedFields = [] } = original.metadata;
  const path = pathOf(type, namespace, name);
  const parameters = new URLSearchParams({ fieldManager, ...(dryRun && { dryRun: "All" }) });
  const { apiVersion, kind } = original;
  const identity = { apiVersion, kind, metadata: { name, ...(namespace !== "" && { namespace }) } };
  let result = original;
  if (Object.keys(changed).length > 0) {
    const body = joined(joined(partsOf(edited, appliedBefore(managedFields)), changed), identity);
    const query = new URLSearchParams(parameters);
    if (force) query.set("force", "true");
    result = await getJson<ApiObject>(`${path}?${query.toString()}`, {
      method: "PATCH",
      contentType: "application/apply-patch+yaml",
      body,
    }).catch((error: unknown) => {
      throw conflictsIn(error) ?? error;
    });
  }
  if (removed === undefined) return result;
  const { resourceVersion } = dryRun ? original.metadata : result.metadata;
  const body = joined(removed, { metadata: { resourceVersion } });
  const patched = await getJson<ApiObject>(`${path}?${parameters.toString()}`, {
    method: "PATCH",
    contentType: "application/merge-patch+json",
    body,
  });
  return dryRun && Object.keys(changed).length > 0 ? result : patched;
}

/** The fields that the console has applied. */
function appliedBefore(entries: readonly ManagedFieldsEntry[]): object {
  return (
    entries.find(
      ({ manager, operation, subresource = "" }) =>
        manager === fieldManager && operation === "Apply" && subresource === "",
    )?.fieldsV1 ?? {}
  );
}

function conflictsIn(error: unknown): ConflictError | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const causes = error.body?.details?.causes?.filter(({ reason }) => reason === "FieldManagerConflict") ?? [];
  if (causes.length === 0) return undefined;
  return new ConflictError(
    causes.map(({ field = "", message = "" }) => ({
      field: field.replace(/^\./, ""),
      owner: /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? message,
    })),
  );
}
