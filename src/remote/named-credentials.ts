import { readUsers, type RemoteUser } from "./client-configuration.ts";

/** Client credentials for webhooks, by host and port. */
export interface NamedCredentials {
  /**
   * @param hostPort for example `name.namespace.svc:443`.
   * @returns undefined if there are no credentials for it.
   */
  find(hostPort: string): RemoteUser | undefined;
}

/** No credentials for any webhook. */
export const noCredentials: NamedCredentials = { find: () => undefined };

/**
 * Reads the credentials for webhooks from a kubeconfig file (spec: conventions 2.9). The name of a user is the webhook's
 * service (`name.namespace.svc`) or URL host, with `:port` unless it is 443. `*` may replace the first labels; `*` alone
 * matches all others. Without a match the user of the current context is used.
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
