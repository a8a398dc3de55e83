import { unlessRaced } from "../../resources/races.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { ControllerContext } from "../controller.ts";

/** Whether a stored object is being deleted, or hasn't got a finalizer yet, by its bytes. */
export function protectsNow(finalizer: string): (body: Buffer) => boolean {
  const quoted = JSON.stringify(finalizer);
  return (body) => body.includes('"deletionTimestamp":') || !body.includes(quoted);
}

/** Gives an object a finalizer or takes it away. One that was changed meanwhile is reconciled again. */
export async function setFinalizer(
  { client }: Pick<ControllerContext, "client">,
  object: ApiObject,
  finalizer: string,
  wanted: boolean,
): Promise<void> {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer) === wanted) return;
  const others = finalizers.filter((one) => one !== finalizer);
  const metadata = { ...object.metadata, finalizers: wanted ? [...others, finalizer] : others };
  await unlessRaced(() => client.update({ ...object, metadata }));
}
