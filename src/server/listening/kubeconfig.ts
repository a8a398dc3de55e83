/** The credentials of a client. */
export type ClientCredentials =
  { readonly token: string } | { readonly certificate: string; readonly key: string };

/** The entries of a kubeconfig for one server and one user, without their names. */
export interface KubeconfigEntries {
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly user: Readonly<Record<string, unknown>>;
}

/** Returns the entries of a kubeconfig. */
export function kubeconfigEntries(
  server: string,
  caCertificate: string | undefined,
  credentials: ClientCredentials,
): KubeconfigEntries {
  const user =
    "token" in credentials
      ? { token: credentials.token }
      : {
          "client-certificate-data": base64(credentials.certificate),
          "client-key-data": base64(credentials.key),
        };
  return { cluster: clusterOf(server, caCertificate), user };
}

/** Returns a kubeconfig with a single context, as JSON, which is also YAML. */
export function kubeconfigText(
  { cluster, user }: KubeconfigEntries,
  { context, userName }: { readonly context: string; readonly userName: string },
): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: context, cluster }],
    users: [{ name: userName, user }],
    contexts: [{ name: context, context: { cluster: context, user: userName } }],
    "current-context": context,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Returns a kubeconfig with the context `plinth`. */
export function kubeconfig(
  server: string,
  caCertificate: string | undefined,
  credentials: ClientCredentials,
  userName: string,
): string {
  const entries = kubeconfigEntries(server, caCertificate, credentials);
  return kubeconfigText(entries, { context: "plinth", userName });
}

/** Returns a kubeconfig with the server's address and CA certificate but no credentials, as JSON. */
export function publicKubeconfig(server: string, caCertificate: string | undefined): string {
  const cluster = clusterOf(server, caCertificate);
  const config = { apiVersion: "v1", kind: "Config", clusters: [{ name: "", cluster }] };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function clusterOf(server: string, caCertificate: string | undefined) {
  if (caCertificate === undefined) return { server };
  return { server, "certificate-authority-data": base64(caCertificate) };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
