import { readUsers, type RemoteUser } from "./client-configuration.ts";

/** Credentials of the server for webhooks, by host and port. */
export interface NamedCredentials {
  /**
   * @param hostPort for example `name.namespace.svc:443`.
   * @returns undefined if there are no credentials for it.
   */
  find(hostPort: string): RemoteUser | undefined;
}

/** No credentials. */
export const noCredentials: NamedCredentials = { find: () => undefined };

/**
 * Reads the credentials for webhooks from a client configuration file. The name of a user is the webhook's host (spec: conventions
 * 2.9): a service (`name.namespace.svc`) or the host of a URL, with `:port` unless that is 443; or with `*` instead of the first
 * labels. For all others the user `*` is used, or else the user of the current context.
 *
 * @throws {ConfigurationFault}
 */
export async function readNamedCredentials(file: string): Promise<NamedCredentials> {
  const { users, current } = await readUsers(file);
  return { find: (place) => userFor(users, place) ?? users.get("*") ?? current };
}

const defaultPort = ":443";

/** Returns the most specific match: with port before without, exact before wildcard, longer wildcards before shorter ones. */
function userFor(users: ReadonlyMap<string, RemoteUser>, hostPort: string): RemoteUser | undefined {
  const user = withWildcards(users, hostPort);
  if (user !== undefined || !hostPort.endsWith(defaultPort)) return user;
  return withWildcards(users, hostPort.slice(0, -defaultPort.length));
}

function withWildcards(users: ReadonlyMap<string, RemoteUser>, name: string): RemoteUser | undefined {
  const exact = users.get(name);
  if (exact !== undefined) return exact;
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const user = users.get(`*${name.slice(dot)}`);
    if (user !== undefined) return user;
  }
  return undefined;
}
