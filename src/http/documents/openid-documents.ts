import {
  configurationPath,
  keysPath,
  type DiscoveryDocuments,
} from "../../authentication/service-accounts/discovery-documents.ts";
import type { PathHandler, PathTable } from "../request/path-table.ts";

/** The documents change only when the server is restarted. */
const lifetime = "public, max-age=3600";

/** Adds the OpenID discovery documents, with which other servers verify service account tokens. */
export function addOpenIdPaths(paths: PathTable, { configuration, keys }: DiscoveryDocuments): void {
  paths.add(configurationPath, answer("application/json", configuration));
  paths.add(keysPath, answer("application/jwk-set+json", keys));
}

function answer(type: string, text: string): PathHandler {
  const headers = ["Content-Type", type, "Cache-Control", lifetime];
  const body = Buffer.from(text);
  return ({ exchange }) => exchange.send(200, headers, body);
}
