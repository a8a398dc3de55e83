import { fullName, pathOf, type ResourceType } from "../model/resource-types.ts";
import type { MetadataList } from "../model/metadata.ts";
import { getJson } from "./client.ts";
import { inParallel } from "./parallel.ts";

const parallel = 6;

interface CountOptions {
  /** Empty for all. */
  readonly namespace?: string;
  /** By default the one that the page shows. */
  readonly workspace?: string | undefined;
}

/** Returns the numbers of objects by the full name of their type, without those that the user may not list. */
export async function countAll(
  types: readonly ResourceType[],
  metaGroup: string,
  signal: AbortSignal,
  { namespace = "", workspace }: CountOptions = {},
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const accept = `application/json;as=PartialObjectMetadataList;v=v1;g=${metaGroup}`;
  await inParallel(types, parallel, async (type) => {
    const list = await getJson<MetadataList>(`${pathOf(type, namespace)}?limit=1`, {
      accept,
      signal,
      workspace,
    }).catch(() => undefined);
    if (list === undefined) return;
    counts.set(fullName(type), list.items.length + (list.metadata.remainingItemCount ?? 0));
  });
  return counts;
}
