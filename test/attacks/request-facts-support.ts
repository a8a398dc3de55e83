import { afterAll, beforeAll, beforeEach } from "vitest";
import { configMap, namespace, ok } from "../api/support.ts";
import { FakeBackend, makePod } from "../support/backends.ts";
import { Witness, type Told } from "./witness.ts";

export const core = "/api/v1/namespaces/team-a";
export const maps = `${core}/configmaps`;

export interface Shown {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly items?: readonly Shown[];
}

export function shownBy({ text }: Told): Shown | undefined {
  try {
    return JSON.parse(text) as Shown;
  } catch {
    return undefined;
  }
}

const nameOf = ({ metadata: { namespace: ns, name } = {} }: Shown) =>
  ns === undefined ? name : `${ns}/${name}`;

/** A response in one line: the status and the returned objects. */
export function gist(told: Told): string {
  const shown = shownBy(told);
  if (told.status >= 300) return String(told.status);
  if (shown === undefined) return `${told.status} ${told.text.split("\n", 1)[0]}`;
  const names = shown.items?.map(nameOf).join(",") ?? nameOf(shown);
  return [told.status, shown.kind, names].filter((part) => part !== undefined && part !== "").join(" ");
}

export const both = "team-a/other,team-a/settings,team-a/status";

/** Starts a witness with two namespaces, ConfigMaps and a pod served by `world.backend`. */
export function useWitness() {
  const world = {} as { witness: Witness; backend: FakeBackend };
  beforeAll(async () => {
    world.backend = await FakeBackend.start((request, response) => response.end(`pod got ${request.url}`));
    world.witness = await Witness.start({ connections: { allowLoopback: true } });
    const { admin } = world.witness.server;
    for (const name of ["team-a", "team-b"]) {
      await ok(admin.post("/api/v1/namespaces", namespace(name)));
      for (const map of ["settings", "other", "status"])
        await ok(admin.post(`/api/v1/namespaces/${name}/configmaps`, configMap(map)));
    }
    await makePod(admin, "pod", { ip: "127.0.0.1", port: world.backend.port });
  });
  beforeEach(() => void world.witness.questions());
  afterAll(async () => {
    await world.witness.close();
    await world.backend.close();
  });
  return { world };
}
