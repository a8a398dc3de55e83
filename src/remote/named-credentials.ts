import { readUsers, type RemoteUser } from "./client-configuration.ts";

/** Client credentials for webhooks, by host and port. */
export interface NamedCredentials {
  /**
   * @param place host and port, such as `name.namespace.svc:443`.
   * @returns undefined if the server has no credentials for it.
   */
  find(place: string): RemoteUser | undefined;
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
  return { find: (place) => named(users, place) ?? users.get("*") ?? current };
}

const defaultPort = ":443";

/** Precedence: with port before without, exact name before wildcard, longer wildcard before shorter. */
function named(users: ReadonlyMap<string, RemoteUser>, place: string): RemoteUser | undefined {
  const match = withWildcards(users, place);
  if (match !== undefined || !place.endsWith(defaultPort)) return match;
  return withWildcards(users, place.slice(0, -defaultPort.length));
}

function withWildcards(users: ReadonlyMap<string, RemoteUser>, name: string): RemoteUser | undefined {
  const exact = users.get(name);
  if (exact !== undefined) return exact;
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const match = users.get(`*${name.slice(dot)}`);
    if (match !== undefined) return match;
  }
  return undefined;
}
