import { pathOf, type ResourceType } from "../model/resource-types.ts";
import { restored, type KeptObject, type KeptVersion } from "../model/versions.ts";
import { ApiError, getJson, send } from "./client.ts";

/** Number of versions that are shown. */
const shownVersions = 20;

/** Returns the newest versions of an object; undefined if the server doesn't keep them, or the user may not read them. @throws as `send` */
export async function readVersions(
  type: ResourceType,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly versions: readonly KeptVersion[] | undefined }> {
  try {
    const path = `${pathOf(type, namespace, name, "history")}?contents=true&limit=${shownVersions}`;
    const { items } = await getJson<{ items: KeptVersion[] }>(path, { signal });
    return { versions: items };
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403))
      return { versions: undefined };
    throw error;
  }
}

/** Gives an object a past state. @throws as `send` */
export async function restoreVersion(
  type: ResourceType,
  namespace: string,
  name: string,
  states: { readonly past: KeptObject; readonly present: KeptObject },
): Promise<void> {
  await send(`${pathOf(type, namespace, name)}?fieldManager=plinth-console`, {
    method: "PUT",
    body: restored(states.past, states.present),
  });
}
