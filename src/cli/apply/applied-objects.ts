import { isObject, type JsonObject } from "../../base/json/value.ts";
import { type Manifest, manifestsIn, readManifests } from "../../base/manifests.ts";
import { ClientError } from "../client/client-error.ts";
import { readInput } from "../terminal/streams.ts";
import type { Flag } from "../flags/flag.ts";

/** The flags that name manifests. */
export const manifestFlags: readonly Flag[] = [
  {
    name: "filename",
    short: "f",
    type: "list",
    default: "",
    doc: "Manifests: files, folders, or - for standard input; comma-separated; the flag may be repeated.",
  },
  { name: "recursive", short: "R", type: "boolean", default: "", doc: "Also read subfolders." },
];

/** The flags of an apply. */
export const ownershipFlags: readonly Flag[] = [
  {
    name: "namespace",
    short: "n",
    type: "string",
    default: "",
    doc: "Namespace of objects that name none; the default is that of the context, otherwise default.",
  },
  {
    name: "field-manager",
    type: "string",
    default: "plinth",
    doc: "Name of the field manager.",
  },
  {
    name: "force-conflicts",
    type: "boolean",
    default: "",
    doc: "Take over fields that other managers own.",
  },
];

/** An object to apply. */
export interface AppliedObject extends Pick<Manifest, "origin"> {
  readonly object: JsonObject;
}

/**
 * Reads the objects of manifests, namespaces first.
 *
 * @throws {ClientError} a file can't be read, or there are no objects.
 */
export async function objectsIn(sources: readonly string[], recursive: boolean): Promise<AppliedObject[]> {
  const all: AppliedObject[] = [];
  for await (const { name, documents, fault } of readManifests(sources, { recursive, readInput })) {
    if (fault !== undefined) throw new ClientError(`${name}: ${fault}`);
    for (const { origin, document } of manifestsIn(name, "document", documents)) {
      const [repeated] = document.duplicates;
      if (repeated !== undefined) throw new ClientError(`${origin}: duplicate key ${String(repeated)}`);
      if (!isObject(document.value)) throw new ClientError(`${origin}: not an object`);
      all.push({ origin, object: document.value });
    }
  }
  if (all.length === 0) throw new ClientError(`${sources.join(", ")}: no objects`);
  const isNamespace = ({ object }: AppliedObject) =>
    object["apiVersion"] === "v1" && object["kind"] === "Namespace";
  return [...all.filter(isNamespace), ...all.filter((one) => !isNamespace(one))];
}
