import { getJson } from "./client.ts";

interface NamespaceList {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** Names of namespaces, and whether there are more. */
export interface NamespaceNames {
  readonly names: readonly string[];
  readonly hasMore: boolean;
}

/** Lists the first namespaces; for a user without the right to list them, those that they may get. @throws as `send` */
export async function readNamespaces(groupSuffix: string, limit: number): Promise<NamespaceNames> {
  const accept = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${groupSuffix}`;
  const path = `/api/v1/namespaces?limit=${limit}`;
  const { items, metadata } = await getJson<NamespaceList>(path, { accept }).catch(() =>
    getJson<NamespaceList>(`${path}&view=mine`, { accept }),
  );
  return { names: items.map((one) => one.metadata.name), hasMore: (metadata.continue ?? "") !== "" };
}
