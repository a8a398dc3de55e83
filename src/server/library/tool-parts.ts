import type { UserInfo } from "../../base/user-info.ts";
import type { HttpService } from "../../http/service.ts";
import type { Serving } from "../certificates/serving.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { Inherited, Opened } from "../start/opened.ts";
import type { OpenStore } from "../start/open-store.ts";
import { Clients } from "./clients.ts";
import type { ServerWorkspaces } from "../workspaces/workspaces.ts";
import { snapshotsOf } from "./forks.ts";
import { KubeconfigFiles } from "./kubeconfig-files.ts";
import { LocalRequests } from "./local-requests.ts";
import type { ToolParts } from "./server-tools.ts";
import { enterWorkspace } from "./workspaces.ts";

/** Creates what a server in the process offers to tests. @param user the administrator of `server.client`. */
export function toolParts({
  options,
  service,
  user,
  serving,
  opened,
  memory,
  inherited,
  workspaces,
  url,
}: {
  readonly options: ServerOptions;
  readonly service: HttpService;
  readonly user: UserInfo;
  readonly serving: Serving | undefined;
  readonly opened: Opened;
  readonly memory?: OpenStore["memory"];
  readonly inherited: Inherited | undefined;
  /** Undefined if workspaces aren't served. */
  readonly workspaces: ServerWorkspaces | undefined;
  readonly url: () => string | undefined;
}): ToolParts {
  const local = new LocalRequests(service);
  const entry = { workspaces, local, administrator: user };
  const clients = new Clients(service, user, (name, caller) => enterWorkspace(entry, name, caller));
  return {
    clients,
    workspaces: { ...entry, client: clients.unrestricted, service, url },
    requests: service.requests,
    local,
    clock: options.clock,
    kubeconfigs: opened.add(new KubeconfigFiles(options, serving), (files) => files.close()),
    snapshots: snapshotsOf(options, { memory, inherited }),
  };
}
