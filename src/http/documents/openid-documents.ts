import {
  configurationPath,
  keysPath,
  type DiscoveryDocuments,
} from "../../authentication/service-accounts/discovery-documents.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { methodsOfStrictDocuments, type PathHandler, type AddedPaths } from "../request/path-table.ts";

/** The documents change only when the server is restarted. */
const lifetime = "public, max-age=3600";

/** Adds the OpenID discovery documents, with which other servers verify service account tokens. */
export function addOpenIdPaths(
  paths: AddedPaths,
  vocabulary: Vocabulary,
  { configuration, keys }: DiscoveryDocuments,
): void {
  const methods = methodsOfStrictDocuments(vocabulary);
  paths.addWithMethods(configurationPath, methods, answer("application/json", configuration));
  paths.addWithMethods(keysPath, methods, answer("application/jwk-set+json", keys));
}

function answer(type: string, text: string): PathHandler {
  const headers = ["Content-Type", type, "Cache-Control", lifetime];
  const body = Buffer.from(text);
  return ({ exchange }) => exchange.send(200, headers, body);
}
