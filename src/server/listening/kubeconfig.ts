/** The credentials of a client. */
export type ClientCredentials =
  { readonly token: string } | { readonly certificate: string; readonly key: string };

/** Returns a kubeconfig as JSON, which is also YAML. */
export function kubeconfig(
  server: string,
  caCertificate: string | undefined,
  credentials: ClientCredentials,
  userName: string,
): string {
  const user =
    "token" in credentials
      ? { token: credentials.token }
      : {
          "client-certificate-data": base64(credentials.certificate),
          "client-key-data": base64(credentials.key),
        };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "plinth", cluster: clusterOf(server, caCertificate) }],
    users: [{ name: userName, user }],
    contexts: [{ name: "plinth", context: { cluster: "plinth", user: userName } }],
    "current-context": "plinth",
  };
  return `${JSON.stringify(config, null, 2)}\n`;
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
