import { loadCbor } from "../../base/cbor/codec.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { featureGates } from "./enabled-features.ts";

/** Returns the options with the media type of CBOR if the feature gate is on, after loading the modules of CBOR. */
export async function withCbor(options: ServerOptions): Promise<ServerOptions> {
  if (!featureGates(options).enabled("CBORServingAndStorage")) return options;
  await loadCbor();
  return { ...options, vocabulary: { ...options.vocabulary, cborMediaType: "application/cbor" } };
}
