import { expect, test } from "vitest";
import { AdmissionChain, type AdmissionPlugin } from "../../src/admission/admission-chain.ts";
import { namespaceLifecycle } from "../../src/admission/plugins/namespace-lifecycle.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { Namespace } from "../../src/kinds/core/namespace.ts";
import { Role } from "../../src/kinds/rbac/roles.ts";
import { Registry } from "../../src/resources/registry/registry.ts";
import { escalationCheck } from "../../src/admission/plugins/escalation-check.ts";
import { platform } from "../../src/vocabulary/platform.ts";

const registry = new Registry([ConfigMap, Namespace, Role], platform, () => true);
const namespaces = registry.require(Namespace);
const target = (kind: typeof ConfigMap | typeof Role, subresource = "") => ({
  resource: registry.require(kind),
  namespace: "default",
  name: "it",
  subresource,
});
// They are asked what concerns them, and nothing else.
const lifecycle = namespaceLifecycle({} as never, namespaces, platform);
const escalation = escalationCheck({} as never, {} as never, platform);

test("of the built-in checks, only the RBAC escalation check concerns updates", () => {
  const chain = new AdmissionChain([lifecycle, escalation]);
  expect(chain.concerns("UPDATE", target(ConfigMap))).toBe(false);
  expect(chain.concerns("UPDATE", target(Role))).toBe(true);
  expect(chain.concerns("CREATE", target(ConfigMap))).toBe(true);
  expect(escalation.concerns("DELETE", target(Role))).toBe(false);
});

test("the chain concerns an operation when one of its plugins does", () => {
  const plugin: AdmissionPlugin = {
    name: "OfMaps",
    concerns: (_, { resource }) => resource.kind === ConfigMap,
    validate: () => undefined,
  };
  const chain = new AdmissionChain([lifecycle, plugin]);
  expect(chain.concerns("UPDATE", target(ConfigMap))).toBe(true);
  expect(chain.concerns("UPDATE", target(Role))).toBe(false);
});
