import { unlessRaced } from "../../resources/clients/races.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { ControllerContext } from "../controller.ts";

/** Returns a test for stored bytes: true if the object is being deleted or lacks the finalizer. */
export function protectsNow(finalizer: string): (body: Buffer) => boolean {
  const quoted = JSON.stringify(finalizer);
  return (body) => body.includes('"deletionTimestamp":') || !body.includes(quoted);
}

/** Adds or removes a finalizer. If the object was changed meanwhile, nothing is written, and it is reconciled again. */
export async function setFinalizer(
  { client }: Pick<ControllerContext, "client">,
  object: ApiObject,
  finalizer: string,
  present: boolean,
): Promise<void> {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer) === present) return;
  const others = finalizers.filter((one) => one !== finalizer);
  const metadata = { ...object.metadata, finalizers: present ? [...others, finalizer] : others };
  await unlessRaced(() => client.update({ ...object, metadata }));
}
