import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { assertSafe } from "../../base/files/private-file.ts";
import { administratorFile } from "../serve/administrator-file.ts";
import { defaultDataDir } from "../serve/data-folder.ts";
import type { Flag } from "../flags/flag.ts";
import { UsageError, type FlagReader } from "../flags/flag-reader.ts";
import { ClientError } from "./client-error.ts";
import { accessFrom, readText, type Access } from "./access.ts";

/** Flags of the server to connect to, and its credentials. */
export const accessFlags: readonly Flag[] = [
  {
    name: "kubeconfig",
    type: "file",
    default: "",
    doc: "Kubeconfig file; the default is that of the variable KUBECONFIG, otherwise .plinth/admin.kubeconfig of a server in this folder, otherwise ~/.kube/config.",
  },
  {
    name: "context",
    type: "string",
    default: "",
    doc: "Context of the kubeconfig; the default is its current context.",
  },
  {
    name: "server",
    type: "string",
    default: "",
    doc: "URL of the server; no kubeconfig is read.",
  },
  { name: "token", type: "string", default: "", doc: "Bearer token." },
  {
    name: "ca",
    type: "file",
    default: "",
    doc: "With --server: file of trusted CA certificates (PEM); the default is those of the system.",
  },
];

/**
 * Returns the server and credentials of the flags.
 *
 * @throws {UsageError} @throws {ClientError}
 */
export async function accessOf(read: FlagReader, environment: NodeJS.ProcessEnv): Promise<Access> {
  const server = read.optional("server");
  const token = read.optional("token");
  const ca = read.optional("ca");
  if (server !== undefined) {
    for (const name of ["kubeconfig", "context"]) {
      if (read.optional(name) !== undefined)
        throw new UsageError(`--${name} and --server exclude each other`);
    }
    const tls = ca === undefined ? {} : { ca: [await readText(ca)] };
    return { server, tls, authorization: token === undefined ? undefined : `Bearer ${token}`, namespace: "" };
  }
  if (ca !== undefined) throw new UsageError("--ca is given with --server only");
  const file = read.optional("kubeconfig") ?? defaultFile(environment);
  if (file === undefined) {
    throw new UsageError("no server: set --kubeconfig, --server or the variable KUBECONFIG");
  }
  if (file === administratorFile(defaultDataDir)) await assertOwn(file);
  const access = await accessFrom(file, read.optional("context"));
  if (token === undefined) return access;
  const { cert: _cert, key: _key, ...tls } = access.tls;
  return { ...access, tls, authorization: `Bearer ${token}` };
}

/**
 * Refuses a kubeconfig in the current folder that other users can write: it chooses the server that gets the requests.
 *
 * @throws {ClientError}
 */
async function assertOwn(file: string): Promise<void> {
  try {
    await assertSafe(file, await stat(file), "own");
  } catch (error) {
    throw new ClientError((error as Error).message);
  }
}

/** Returns the default kubeconfig file: that of the environment, of a server started in this folder, or of the user. */
function defaultFile({ KUBECONFIG: named = "" }: NodeJS.ProcessEnv): string | undefined {
  const files =
    named === ""
      ? [administratorFile(defaultDataDir), path.join(homedir(), ".kube/config")]
      : named.split(path.delimiter);
  return files.find((file) => file !== "" && existsSync(file));
}
