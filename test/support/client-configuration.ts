import { writeFileSync } from "node:fs";
import path from "node:path";
import type { HttpsService } from "./https-service.ts";

/** A client configuration for a service as an operator writes it, with paths beside the file. Its path. */
export function clientConfiguration(
  folder: string,
  service: HttpsService,
  changes: { readonly cluster?: object; readonly user?: object } = {},
): string {
  const { certificate, key } = service.clientCertificate("plinth");
  writeFileSync(path.join(folder, "ca.pem"), service.ca);
  writeFileSync(path.join(folder, "client.pem"), certificate);
  writeFileSync(path.join(folder, "client.key"), key);
  const file = path.join(folder, "webhook.yaml");
  const cluster = changes.cluster ?? {
    server: `${service.url}/asked?x=1`,
    "certificate-authority": "ca.pem",
  };
  const user = changes.user ?? { "client-certificate": "client.pem", "client-key": "client.key" };
  const document = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "remote", cluster }],
    users: [{ name: "server", user }],
    contexts: [{ name: "here", context: { cluster: "remote", user: "server" } }],
    "current-context": "here",
  };
  writeFileSync(file, JSON.stringify(document));
  return file;
}
