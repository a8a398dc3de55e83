import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { Flag } from "../flag.ts";
import { UsageError, type FlagReader } from "../flag-reader.ts";
import { accessFrom, readText, type Access } from "./access.ts";

/** Flags that say which server is asked, and as whom. */
export const accessFlags: readonly Flag[] = [
  {
    name: "kubeconfig",
    type: "file",
    default: "",
    doc: "Client configuration; by default the file of the environment's KUBECONFIG, or ~/.kube/config.",
  },
  {
    name: "context",
    type: "string",
    default: "",
    doc: "Context of the client configuration, instead of its current one.",
  },
  {
    name: "server",
    type: "string",
    default: "",
    doc: "Address of the server; then no client configuration is read.",
  },
  { name: "token", type: "string", default: "", doc: "Bearer token to show oneself with." },
  {
    name: "ca",
    type: "file",
    default: "",
    doc: "Authorities that are trusted (PEM), with --server; by default the system's.",
  },
];

/**
 * The server that the flags name.
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
  const file = read.optional("kubeconfig") ?? usualFile(environment);
  if (file === undefined) {
    throw new UsageError("no server is named: give --kubeconfig, --server, or KUBECONFIG in the environment");
  }
  const access = await accessFrom(file, read.optional("context"));
  if (token === undefined) return access;
  const { cert: _cert, key: _key, ...tls } = access.tls;
  return { ...access, tls, authorization: `Bearer ${token}` };
}

/** The file that is read without being named. */
function usualFile({ KUBECONFIG: named = "" }: NodeJS.ProcessEnv): string | undefined {
  const files = named === "" ? [path.join(homedir(), ".kube/config")] : named.split(path.delimiter);
  return files.find((file) => file !== "" && existsSync(file));
}
