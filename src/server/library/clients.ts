import type { UserInfo } from "../../base/user-info.ts";
import type { HttpService } from "../../http/service.ts";
import { Faults } from "../faults/faults.ts";
import { authorizingGuard, userNamed, namespaceInPath } from "./client-guards.ts";
import { LibraryClient, type WorkspaceEntry } from "./library-client.ts";
import type { ClientGuard, ClientRequest } from "../../resources/clients/client-guard.ts";
import { type FaultyRequest, ConnectionLostError } from "../../resources/engine/request-faults.ts";
import { StatusError } from "../../base/status-error.ts";
import type { RequestLog } from "../../http/metrics/request-log.ts";
import type { Target } from "../../resources/engine/engine.ts";

type ClientService = Pick<
  HttpService,
  "engine" | "authorizer" | "authorizesSelectors" | "reviews" | "requests" | "clock" | "faults"
>;

/** Creates the in-process clients of the embedding program. */
export class Clients {
  /** The client with the administrator's rights. */
  readonly unrestricted: LibraryClient;
  private enabledFaults: Faults | undefined;
  private readonly service: ClientService & { readonly enterWorkspace: WorkspaceEntry };

  /** @param administrator the user of {@link unrestricted}. */
  constructor(service: ClientService, administrator: UserInfo, enterWorkspace: WorkspaceEntry) {
    this.service = { ...service, enterWorkspace };
    this.unrestricted = new LibraryClient(this.service, administrator);
  }

  /** The faults of the server; the first use enables them. */
  get faults(): Faults {
    if (this.enabledFaults === undefined) {
      const { clock, engine } = this.service;
      this.enabledFaults = new Faults(clock, engine.store);
      this.service.faults.current = this.enabledFaults.requests;
    }
    return this.enabledFaults;
  }

  /**
   * Returns a client whose requests are authorized as a user.
   *
   * @throws {TypeError} if the name or groups can't be used.
   */
  as(name: string, groups?: readonly string[]): LibraryClient {
    const { engine, authorizer, authorizesSelectors, requests } = this.service;
    const user = userNamed(engine.vocabulary, name, groups);
    const guard = faultyGuard(
      this.service,
      user.name,
      authorizingGuard(authorizer, user, authorizesSelectors),
    );
    return new LibraryClient(this.service, user, requests ? recordingGuard(guard, user, requests) : guard);
  }
}

/** Adds the faults of tests to the requests of a client, after their authorization. */
function faultyGuard(service: Pick<HttpService, "faults">, user: string, inner: ClientGuard): ClientGuard {
  const life = service.faults.current?.lifeOf(user) ?? 0;
  return {
    run: (request, engine, call) =>
      inner.run(request, engine, async (granted) => {
        const faults = service.faults.current;
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

const methods: Readonly<Record<string, string>> = {
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
};

/** Returns a guard that adds the requests of a user to a log, with those that the other guard rejects. */
function recordingGuard(guard: ClientGuard, user: UserInfo, log: RequestLog): ClientGuard {
  return {
    async run(request, engine, call) {
      const startMs = performance.now();
      const add = (status: number) => log.add(recordOf(request, user, status, performance.now() - startMs));
      try {
        const result = await guard.run(request, engine, call);
        add(request.verb === "create" ? 201 : 200);
        return result;
      } catch (error) {
        add(statusOf(error));
        throw error;
      }
    },
    mayCreate: (target) => guard.mayCreate(target),
  };
}

function statusOf(error: unknown): number {
  if (error instanceof ConnectionLostError) return 0;
  return error instanceof StatusError ? error.code : 500;
}

function recordOf({ verb, target }: ClientRequest, user: UserInfo, status: number, durationMs: number) {
  const { resource, subresource, name } = target;
  const namespace = namespaceInPath(target);
  return {
    method: methods[verb] ?? "GET",
    path: pathOf(target),
    query: "",
    verb,
    group: resource.group,
    resource: resource.name,
    subresource,
    namespace,
    name,
    user: user.name,
    groups: user.groups,
    status,
    durationMs,
    userAgent: "",
    inProcess: true,
  };
}

/** The path of the same request over HTTP. */
function pathOf({ resource, namespace, name, subresource }: Target): string {
  const base = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.apiVersion}`;
  const scope = namespace === "" ? "" : `/namespaces/${namespace}`;
  const object = [name, subresource].filter((segment) => segment !== "").map((segment) => `/${segment}`);
  return `${base}${scope}/${resource.name}${object.join("")}`;
}
