import { ServiceAccount } from "../kinds/core/service-account.ts";
import { createIfAbsent } from "./bootstrap/default-objects.ts";
import type { Controller } from "./controller.ts";
import { keepInNamespaces, type NamespaceDependencies } from "./namespace-objects.ts";

const name = "default";

/** Creates the service account `default` in every namespace, for pods that name none, and again when it is deleted. */
export const serviceAccounts: Controller<NamespaceDependencies> = {
  name: "serviceaccount",
  start(context) {
    const { client } = context;
    return keepInNamespaces(context, {
      controller: this.name,
      kind: ServiceAccount,
      name,
      async ensure(namespace) {
        const reference = { apiVersion: "v1", kind: "ServiceAccount", namespace, name };
        if ((await client.find(reference)) !== undefined) return;
        const { apiVersion, kind } = reference;
        await createIfAbsent(client, { apiVersion, kind, metadata: { name, namespace } });
      },
    });
  },
};
