import type { ApiObject } from "../../../src/schema/kind.ts";
import { checkGet, checkList } from "../laws/reads.ts";
import { checkDelete, checkWrite } from "../laws/writes.ts";
import type { ApiClient } from "./api-client.ts";

/** Namespace of the objects that writers change. */
export const workNamespace = "work";
/** Label whose values watches select. */
export const teamLabel = "team";

interface ConfigMap extends ApiObject {
  readonly data?: Readonly<Record<string, string>>;
}

const url = `/api/v1/namespaces/${workNamespace}/configmaps`;
/** The store's prefix of the objects. */
export const workPrefix = `/core/configmaps/${workNamespace}/`;

/** Creates, reads, changes and deletes a few objects that other writers change too, and checks each answer. */
export async function runWriter(client: ApiClient, names: number, meanPauseMs: number): Promise<void> {
  const { world, dice } = client;
  for (let count = 0; world.isActive; count++) {
    const name = `object-${dice.below(names)}`;
    const token = `${client.actor}-${count}`;
    await writeOnce(client, name, token);
    await client.pause(meanPauseMs);
  }
}

async function writeOnce(client: ApiClient, name: string, token: string): Promise<void> {
  const { world, dice } = client;
  const key = `${workPrefix}${name}`;
  const isOwn = (object: ApiObject): boolean => (object as ConfigMap).data?.["token"] === token;
  const metadata = { name, labels: { [teamLabel]: dice.pick(["a", "b"]) } };
  switch (dice.below(6)) {
    case 0: {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { token } };
      checkWrite(world, key, await client.request("POST", url, { body }), isOwn);
      return;
    }
    case 1: {
      const live = checkGet(world, key, await client.request("GET", `${url}/${name}`));
      if (live === undefined) return;
      const body = { ...live, data: { token } };
      checkWrite(world, key, await client.request("PUT", `${url}/${name}`, { body }), isOwn);
      return;
    }
    case 2: {
      const contentType = "application/merge-patch+json";
      const body = { metadata: { labels: metadata.labels }, data: { token } };
      checkWrite(world, key, await client.request("PATCH", `${url}/${name}`, { body, contentType }), isOwn);
      return;
    }
    case 3: {
      const live = checkGet(world, key, await client.request("GET", `${url}/${name}`));
      if (live === undefined) return;
      const uid = live.metadata.uid!;
      const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid } };
      checkDelete(world, key, uid, await client.request("DELETE", `${url}/${name}`, { body }));
      return;
    }
    case 4:
      checkList(world, workPrefix, await client.request("GET", url));
      return;
    default:
      checkGet(world, key, await client.request("GET", `${url}/${name}`));
  }
}
