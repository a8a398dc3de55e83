import type { HttpService } from "../../http/service.ts";
import type { ClientGuard, ClientRequest } from "../../resources/clients/client-guard.ts";
import type { FaultyRequest } from "../../resources/engine/request-faults.ts";

/** Adds the faults of tests to the requests of a client, after their authorization. */
export function faultyGuard(
  service: Pick<HttpService, "faults">,
  user: string,
  inner: ClientGuard,
): ClientGuard {
  const life = service.faults?.lifeOf(user) ?? 0;
  return {
    run: (request, engine, call) =>
      inner.run(request, engine, async (granted) => {
        const { faults } = service;
        return faults === undefined
          ? call(granted)
          : faults.run(faultyRequest(request, user, life), granted, call);
      }),
    mayCreate: (target) => inner.mayCreate(target),
  };
}

function faultyRequest({ verb, target }: ClientRequest, user: string, life: number): FaultyRequest {
  const { resource, namespace, name, subresource } = target;
  const { group, name: plural } = resource;
  return { user, verb, group, resource: plural, subresource, namespace, name, notBefore: 0, life };
}
