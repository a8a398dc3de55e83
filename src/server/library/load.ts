import type { JsonValue } from "../../base/json/value.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Manifest } from "../../base/manifests.ts";
import { applyOne, fileManifests, withOrigin } from "./apply.ts";
import type { LibraryClient } from "./library-client.ts";

/** Time limit for a definition to become established. */
const defaultEstablishMs = 4000;

/**
 * Loads manifests; see {@link ServerTools.load}.
 *
 * @param establishMs time limit for a definition to become established.
 */
export async function loadManifests(
  client: LibraryClient,
  paths: readonly string[],
  establishMs = defaultEstablishMs,
): Promise<ApiObject[]> {
  const all = await fileManifests(paths);
  const definitions = all.filter((one) => kindOf(one) === "CustomResourceDefinition");
  const namespaces = all.filter((one) => kindOf(one) === "Namespace");
  const others = all.filter((one) => !definitions.includes(one) && !namespaces.includes(one));
  const loaded: ApiObject[] = [];
  for (const one of definitions) loaded.push(await applyOne(client, one, {}));
  for (const [index, { apiVersion, kind, metadata }] of loaded.entries()) {
    const reference = { apiVersion, kind, name: metadata.name! };
    await established(client, reference, definitions[index]!.origin, establishMs);
  }
  for (const one of [...namespaces, ...others]) loaded.push(await applyOne(client, one, {}));
  return loaded;
}

function kindOf({ document: { value } }: Manifest): JsonValue | undefined {
  return (value as { readonly kind?: JsonValue } | null)?.kind;
}

/** @throws {StatusError} Timeout, which names the file, if the definition doesn't become established. */
async function established(
  client: LibraryClient,
  reference: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  origin: string,
  timeoutMs: number,
): Promise<void> {
  try {
    await client.waitFor(reference, isEstablished, { timeoutMs });
  } catch (error) {
    throw withOrigin(origin, error);
  }
}

/** Whether a definition serves its kind. */
export function isEstablished(definition: ApiObject | undefined): boolean {
  const { conditions } = (definition?.["status"] ?? {}) as { conditions?: Record<string, unknown>[] | null };
  // Null until the first condition is written.
  return (conditions ?? []).some(({ type, status }) => type === "Established" && status === "True");
}
