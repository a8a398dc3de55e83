import type { ManifestObject } from "../../server/validation/documents.ts";
import { accessFlags, accessOf } from "../client/access-flags.ts";
import type { FlagReader } from "../flags/flag-reader.ts";
import type { Streams } from "../terminal/streams.ts";
import { readContext } from "./manifest-input.ts";
import { contextOfServer } from "./server-context.ts";

/** Returns a function that reads what decides about the manifests; a running server is read once. */
export async function contextReader(
  read: FlagReader,
  environment: NodeJS.ProcessEnv,
  streams: Streams,
): Promise<() => Promise<ManifestObject[]>> {
  const usesServer = accessFlags.some(({ name }) => read.flagNames.includes(name));
  const remote = usesServer
    ? await contextOfServer(await accessOf(read, environment), (text) => streams.writeError(`${text}\n`))
    : [];
  const hasPolicies = read.flagNames.includes("policy");
  return async () => [
    ...remote,
    ...(await readContext(read.list("with"), "with")),
    ...(hasPolicies ? await readContext(read.list("policy"), "policy") : []),
  ];
}
