import { AdmissionChain } from "../../admission/admission-chain.ts";
import { Later } from "../../base/later.ts";
import { randomValues } from "../../base/random.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { Client } from "../../resources/clients/client.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import type { StorageHooks } from "../../resources/engine/storage-hooks.ts";
import type { ServiceClaimRepair } from "../../resources/services/claim-repair.ts";
import { setUpAdmission, type AdmissionPieces, type AdmissionSetUp } from "../admission/admission-set-up.ts";
import { followCustomResources } from "../apis/custom-resources.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { serviceResolver } from "../webhooks/webhook-services.ts";
import { serverEffects } from "./effects.ts";
import { engineFor } from "./engine.ts";

/** The engine of the API of a server or workspace, and what reads and writes through it. */
export interface ApiEngine {
  readonly engine: Engine;
  /** The client of the server itself, whose requests aren't authorized. */
  readonly client: Client;
  /** As `client`, without admission: no plugin may prevent the default objects, also if they are written after the start. */
  readonly startClient: Client;
  readonly admission: AdmissionSetUp;
  /** Releases claims of Services; to be started when the indexes have been. Undefined if Services aren't served. */
  readonly repair: ServiceClaimRepair | undefined;
}

/** What an {@link ApiEngine} is made of. */
interface ApiEngineParts
  extends
    Omit<AdmissionPieces, "engine" | "client">,
    Pick<Engine, "tokens">,
    Partial<Pick<Engine, "pages" | "selectors">> {
  /** The identity of the server itself. */
  readonly user: UserInfo;
  /** Adds effects of writes to those of the built-in kinds, by the prefix of the kind. */
  readonly hooksBeside?:
    ((own: ReadonlyMap<string, StorageHooks>) => ReadonlyMap<string, StorageHooks>) | undefined;
}

/**
 * Makes the engine. Admission, the effects of writes, and webhooks that convert custom resources use it, and it calls them.
 *
 * @throws {OptionsError} an option of admission, an address range or a port range can't be used.
 * @throws {StoreError} the definitions of custom resources can't be read.
 */
export async function openApiEngine(options: ServerOptions, parts: ApiEngineParts): Promise<ApiEngine> {
  const { registry, store, user, connections, tracing, opened, pages, selectors } = parts;
  const engine = new Later<Engine>("the engine");
  const client = new Later<Client>("the client of the server");
  const startClient = new Later<Client>("the client of the start");
  const { randomInt } = randomValues(options);
  const resolve = serviceResolver(engine.get, user, connections, randomInt);
  opened.add(await followCustomResources(options, registry, store, resolve, tracing), (one) => one?.close());
  const { byPrefix, repair } = serverEffects(options, registry, store, {
    randomInt: (below) => randomInt(below, "services"),
    client: startClient.get,
  });
  opened.add(repair, (one) => one?.close());
  const admission = await setUpAdmission(options, user, { ...parts, engine: engine.get, client: client.get });
  engine.set(
    engineFor(options, registry, store, {
      tokens: parts.tokens,
      storageHooks: parts.hooksBeside?.(byPrefix) ?? byPrefix,
      admit: admission.chain,
      ...(pages && { pages }),
      ...(selectors && { selectors }),
    }),
  );
  for (const one of [engine.get().pages, engine.get().selectors]) opened.add(one, (cache) => cache.close());
  return {
    engine: engine.get(),
    client: client.set(new Client(engine.get(), user)),
    startClient: startClient.set(new Client({ ...engine.get(), admit: new AdmissionChain([]) }, user)),
    admission,
    repair,
  };
}
