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
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const user =
    "token" in credentials
      ? { token: credentials.token }
      : {
          "client-certificate-data": base64(credentials.certificate),
          "client-key-data": base64(credentials.key),
        };
  const ca = caCertificate === undefined ? {} : { "certificate-authority-data": base64(caCertificate) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "plinth", cluster: { server, ...ca } }],
    users: [{ name: userName, user }],
    contexts: [{ name: "plinth", context: { cluster: "plinth", user: userName } }],
    "current-context": "plinth",
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
