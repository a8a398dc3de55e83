import type { Timer } from "../base/clock.ts";
import { ConfigMap } from "../kinds/core/config-map.ts";
import { createUnlessThere } from "./bootstrap/default-objects.ts";
import { joinedCertificates } from "./certificate-bundle.ts";
import type { Controller, RunningController } from "./controller.ts";
import { keepInNamespaces, type NamespaceDependencies, type NamespaceKeeper } from "./namespace-objects.ts";

const key = "ca.crt";
const description =
  "Authorities by which pods recognize the API server at the addresses that it has in the cluster; for nothing else.";
/** How often it is looked whether the server has another authority. */
const checkMs = 60_000;

/** Dependencies of {@link rootAuthorityPublisher}. */
export interface RootAuthorityDependencies extends NamespaceDependencies {
  /** Returns the CA certificate (PEM) that verifies this server; undefined if it has none. The result may change. */
  readonly rootCertificate: () => string | undefined;
}

/**
 * Publishes the authority of the server's certificate in a ConfigMap of every namespace (`kube-root-ca.crt` in the kubernetes
 * vocabulary), which pods get beside the token of their service account, and mends what is changed or deleted. Without a
 * known authority it does nothing.
 */
export const rootAuthorityPublisher: Controller<RootAuthorityDependencies> = {
  name: "root-ca-cert-publisher",
  // Each server may have an authority of its own.
  onEveryServer: true,
  start: (context) => new RootAuthority(context, rootAuthorityPublisher.name),
};

class RootAuthority implements RunningController {
  private readonly keeper: NamespaceKeeper;
  private own: string | undefined;
  /** What is published, as last read in the system's namespace; undefined before. */
  private bundle: string | undefined;
  private timer: Timer;

  constructor(
    private readonly context: RootAuthorityDependencies,
    controller: string,
  ) {
    const { clock, registry } = context;
    this.own = context.rootCertificate();
    const name = registry.vocabulary.rootAuthorityConfigMap;
    const ensure = (namespace: string) => this.ensure(namespace);
    this.keeper = keepInNamespaces(context, { controller, kind: ConfigMap, name, ensure });
    const check = () => {
      this.timer = clock.setTimer(check, checkMs);
      const before = this.own;
      this.own = context.rootCertificate();
      if (this.own === before) return;
      this.bundle = undefined;
      this.keeper.checkAll();
    };
    this.timer = clock.setTimer(check, checkMs);
  }

  failing(): boolean {
    return this.keeper.failing();
  }

  close(): Promise<void> {
    this.timer.cancel();
    return this.keeper.close();
  }

  private async ensure(namespace: string): Promise<void> {
    if (this.own === undefined) return;
    const { systemNamespace } = this.context.registry.vocabulary;
    if (this.bundle === undefined || namespace === systemNamespace) await this.readBundle(this.own);
    await this.publish(namespace, this.bundle!);
  }

  /**
   * Authorities of other servers over the same store stay until they expire, else two servers would overwrite each other's
   * for ever. Only those in the system's namespace count, so that nobody adds one who may write in a namespace of their own.
   */
  private async readBundle(own: string): Promise<void> {
    const published = (await this.find(this.context.registry.vocabulary.systemNamespace))?.data?.[key] ?? "";
    const bundle = joinedCertificates(published, [own], this.context.clock.now());
    if (bundle === this.bundle) return;
    this.bundle = bundle;
    this.keeper.checkAll();
  }

  private find(namespace: string): Promise<ConfigMap | undefined> {
    const name = this.context.registry.vocabulary.rootAuthorityConfigMap;
    return this.context.client.find<ConfigMap>({ apiVersion: "v1", kind: "ConfigMap", namespace, name });
  }

  private async publish(namespace: string, bundle: string): Promise<void> {
    const { client, registry } = this.context;
    const { domain, rootAuthorityConfigMap: name } = registry.vocabulary;
    const live = await this.find(namespace);
    const { data = {}, metadata: { annotations = {} } = {} } = live ?? {};
    const about = `${domain}/description`;
    const isAsWanted = data[key] === bundle && Object.keys(data).length === 1;
    if (isAsWanted && annotations[about] !== undefined) return;
    const metadata = {
      ...live?.metadata,
      name,
      namespace,
      annotations: { ...annotations, [about]: description },
    };
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { [key]: bundle } };
    if (live === undefined) await createUnlessThere(client, object);
    else await client.update(object);
  }
}
