import { labelKey } from "../vocabulary/names.ts";
import type { Timer } from "../base/time/clock.ts";
import { ConfigMap } from "../kinds/core/config-map.ts";
import { createIfAbsent } from "./bootstrap/default-objects.ts";
import { mergeCertificates } from "./certificate-bundle.ts";
import type { Controller, RunningController } from "./controller.ts";
import { keepInNamespaces, type NamespaceDependencies, type NamespaceKeeper } from "./namespace-objects.ts";

const key = "ca.crt";
const description =
  "Authorities by which pods recognize the API server at the addresses that it has in the cluster; for nothing else.";
/** Time between checks whether the server's CA certificate has changed. */
const checkMs = 60_000;

/** Dependencies of {@link rootAuthorityPublisher}. */
export interface RootAuthorityDependencies extends NamespaceDependencies {
  /** Returns the CA certificate (PEM) that verifies this server; undefined if it has none. The result may change. */
  readonly rootCertificate: () => string | undefined;
}

/**
 * Publishes the CA certificate of the server in a ConfigMap of every namespace (`kube-root-ca.crt` in the kubernetes
 * vocabulary), which pods mount beside the token of their service account, and restores it when it is changed or
 * deleted. Without a CA certificate it does nothing.
 */
export const rootAuthorityPublisher: Controller<RootAuthorityDependencies> = {
  name: "root-ca-cert-publisher",
  // Each server may have its own CA.
  onEveryServer: true,
  start: (context) => new RootAuthority(context, rootAuthorityPublisher.name),
};

class RootAuthority implements RunningController {
  private readonly keeper: NamespaceKeeper;
  private own: string | undefined;
  /** The published bundle, as last read in the system namespace; undefined before the first read. */
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
   * Reads the published bundle and adds this server's CA. CA certificates of other servers over the same store remain
   * until they expire; otherwise two servers would overwrite each other's for ever. Only the ConfigMap of the system
   * namespace is read: users with write access to another namespace must not be able to add one.
   */
  private async readBundle(own: string): Promise<void> {
    const published = (await this.find(this.context.registry.vocabulary.systemNamespace))?.data?.[key] ?? "";
    const bundle = mergeCertificates(published, [own], this.context.clock.now());
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
    const descriptionAnnotation = labelKey(domain, "description");
    const isUpToDate = data[key] === bundle && Object.keys(data).length === 1;
    if (isUpToDate && annotations[descriptionAnnotation] !== undefined) return;
    const metadata = {
      ...live?.metadata,
      name,
      namespace,
      annotations: { ...annotations, [descriptionAnnotation]: description },
    };
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { [key]: bundle } };
    if (live === undefined) await createIfAbsent(client, object);
    else await client.update(object);
  }
}
