import type { UserInfo } from "../../src/base/user-info.ts";
import type { FlowRequest, WaitingClient } from "../../src/flow/request.ts";
import type { WaitMeters } from "../../src/flow/schema-flows.ts";

export const person = (name: string, ...groups: readonly string[]): UserInfo => ({
  name,
  uid: "",
  groups: [...groups, "system:authenticated"],
  extra: {},
});

export const getPods = (namespace = "default"): FlowRequest => ({
  kind: "resource",
  path: `/api/v1/namespaces/${namespace}/pods`,
  verb: "get",
  group: "",
  resource: "pods",
  subresource: "",
  namespace,
});

export const path = (at: string, verb = "get"): FlowRequest => ({ kind: "path", path: at, verb });

/** A client that stays until it is told to leave. */
export class TestClient implements WaitingClient {
  private readonly listeners: (() => void)[] = [];

  onClose(listener: () => void): void {
    this.listeners.push(listener);
  }

  leave(): void {
    for (const listener of this.listeners) listener();
  }
}

export const noMeters: WaitMeters = {
  executed: { observe: () => undefined },
  refused: { observe: () => undefined },
};
