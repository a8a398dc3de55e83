import { tokenFolder } from "../vocabulary/names.ts";
import path from "node:path";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import {
  authoritiesIn,
  ConfigurationFault,
  readNamed,
  type ClientConfiguration,
} from "./client-configuration.ts";

/** What the cluster gives a pod to use its API server. */
export interface PodCredentials {
  /** Environment variables; `…_SERVICE_HOST` and `…_SERVICE_PORT` have the address of the API server. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder with the token of the pod's service account and the CA certificate of the cluster. */
  readonly folder: string;
}

/** The credentials of the pod in which this process runs. */
export function ownPodCredentials({ domain }: Pick<Vocabulary, "domain">): PodCredentials {
  return { environment: process.env, folder: tokenFolder(domain) };
}

/**
 * Returns the client configuration with which a program in a pod uses the API server of its cluster: the address in its environment, and
 * the token and CA certificate of its service account.
 *
 * @param resource path of the requests at the API server.
 * @throws {ConfigurationFault} if the program isn't in a pod, or a file can't be used.
 */
export async function inClusterConfiguration(
  { environment, folder }: PodCredentials,
  { name }: Pick<Vocabulary, "name">,
  resource: string,
): Promise<ClientConfiguration> {
  const variables = ["HOST", "PORT"].map((part) => `${name.toUpperCase()}_SERVICE_${part}`);
  const [host = "", port = ""] = variables.map((variable) => environment[variable]);
  if (host === "" || port === "") {
    throw new ConfigurationFault(`the server isn't in a pod: ${variables.join(" and ")} must be set`);
  }
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}${resource}`;
  if (!URL.canParse(server)) {
    throw new ConfigurationFault(
      `${variables.join(" and ")}: ${JSON.stringify(`${host}:${port}`)} is no address`,
    );
  }
  const [tokenFile, caFile] = [path.join(folder, "token"), path.join(folder, "ca.crt")];
  await readNamed(tokenFile, "the token of the service account");
  const authorities = (await readNamed(caFile, "the CA certificate of the cluster")).toString("utf8");
  return {
    server: new URL(server),
    tls: {
      verify: true,
      ca: authoritiesIn(authorities, caFile),
      cert: undefined,
      key: undefined,
      serverName: undefined,
    },
    credentials: { kind: "token-file", file: tokenFile },
    namespace: "",
    files: [caFile],
  };
}
