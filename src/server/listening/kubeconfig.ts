/** How a client proves who it is. */
export type ClientCredentials =
  { readonly token: string } | { readonly certificate: string; readonly key: string };

/** A client configuration in the field's form, as YAML-compatible JSON. */
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

/** A client configuration that says only where the server is and how it is recognized, as YAML-compatible JSON. */
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
