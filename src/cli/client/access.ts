import { readFile } from "node:fs/promises";
import {
  ConfigurationFault,
  readClientConfiguration,
  type RemoteCredentials,
} from "../../remote/client-configuration.ts";
import type { RemoteTls } from "../../remote/remote-client.ts";
import { ClientError } from "./client-error.ts";

/** How a server is reached, and as whom. */
export interface Access {
  readonly server: string;
  readonly tls: RemoteTls;
  /** Value of the header `Authorization`; undefined: none is sent. */
  readonly authorization: string | undefined;
  /** Where names are looked for unless a namespace is given; empty: nowhere is said. */
  readonly namespace: string;
}

/**
 * The access that a client configuration describes.
 *
 * @param context undefined: the current one of the file.
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
 * A file's text.
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
