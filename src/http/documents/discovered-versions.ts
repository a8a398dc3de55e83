import type { ApiServices, DiscoveredVersion } from "../../aggregation/api-services.ts";
import type { Registry } from "../../resources/registry/registry.ts";

/** The group versions of this server and of extension servers, in the order of discovery. */
export class DiscoveredVersions {
  private known:
    | {
        readonly registryRevision: number;
        readonly servicesRevision: number;
        readonly versions: readonly DiscoveredVersion[];
      }
    | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly apiServices: ApiServices,
  ) {}

  /** Returns the same array until something changes. */
  get versions(): readonly DiscoveredVersion[] {
    const { registry, apiServices } = this;
    const { revision: registryRevision } = registry;
    const { revision: servicesRevision } = apiServices;
    const isSame =
      this.known?.registryRevision === registryRevision && this.known.servicesRevision === servicesRevision;
    if (!isSame) {
      const versions = apiServices.discovered(registry.groupVersions, (group) => registry.isBuiltIn(group));
      this.known = { registryRevision, servicesRevision, versions };
    }
    return this.known!.versions;
  }
}
