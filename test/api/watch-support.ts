import { useServer } from "../support/use-server.ts";
import { beforeAll } from "vitest";
import { type Frame } from "../support/api.ts";
import { ManualClock, namespace, ok } from "./support.ts";

export const path = "/api/v1/namespaces/watched/configmaps";
export const shown = ({ type, object }: Frame) => `${type} ${object.metadata.name}`;

/** Starts a server with a manual clock and the namespace `watched`. */
export function useWatchedNamespace() {
  const clock = new ManualClock();
  const server = useServer({ users: [{ name: "watcher" }, { name: "lister" }, { name: "one" }], clock });
  beforeAll(async () => {
    await ok(server.admin.post("/api/v1/namespaces", namespace("watched")));
  });
  const versionNow = async () => (await ok(server.admin.get(path))).body.metadata.resourceVersion as string;
  return { clock, server, versionNow };
}
