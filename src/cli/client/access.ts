import { readFile } from "node:fs/promises";
import {
  ConfigurationFault,
  readClientConfiguration,
  type RemoteCredentials,
} from "../../remote/client-configuration.ts";
import type { RemoteTls } from "../../remote/remote-client.ts";
import { ClientError } from "./client-error.ts";

/** The address, TLS options and credentials of a server. */
export interface Access {
  readonly server: string;
  readonly tls: RemoteTls;
  /** Value of the header `Authorization`; undefined for none. */
  readonly authorization: string | undefined;
  /** Default namespace; empty if the kubeconfig has none. */
  readonly namespace: string;
  /** The user whose rights the requests have; undefined for the caller's own. */
  readonly impersonated?: { readonly user: string; readonly groups: readonly string[] };
}

/**
 * Returns the access of a kubeconfig.
 *
 * @param context undefined for the current one of the file.
 * @throws {ClientError}
 */
export async function accessFrom(file: string, context: string | undefined): Promise<Access> {
  try {
    const { server, tls, credentials, namespace } = await readClientConfiguration(file, context);
    return { server: server.href, tls, authorization: await authorizationOf(credentials), namespace };
  } catch (error) {
    if (error instanceof ConfigurationFault) throw new ClientError(`${file}: ${error.message}`);
    throw error;
  }
}

/**
 * Returns the text of a file.
 *
 * @throws {ClientError}
 */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new ClientError(`${file}: ${(error as Error).message}`);
  }
}

async function authorizationOf(credentials: RemoteCredentials): Promise<string | undefined> {
  switch (credentials.kind) {
    case "none":
      return undefined;
    case "token":
      return `Bearer ${credentials.token}`;
    case "token-file":
      return `Bearer ${(await readText(credentials.file)).trim()}`;
    case "basic":
      return `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")}`;
  }
}
