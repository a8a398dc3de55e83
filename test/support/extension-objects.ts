import type { ApiObject, ObjectMetaValue } from "../../src/schema/kind.ts";
import type { ExtensionServer } from "./extension-server.ts";

/** Widgets that an extension server keeps in memory: they can be listed, read, deleted and patched. */
export class ExtensionObjects {
  /** By `namespace/name`. */
  readonly objects = new Map<string, ApiObject>();
  /** Requests as `METHOD path`. */
  readonly requests: string[] = [];
  /** Namespaces for which no request is answered. */
  readonly silent = new Set<string>();

  constructor(
    private readonly extension: ExtensionServer,
    verbs: readonly string[] = ["get", "list", "delete", "deletecollection", "patch"],
  ) {
    const { group, version, path } = extension;
    const widgets = { name: "widgets", singularName: "widget", namespaced: true, kind: "Widget", verbs };
    extension.documents.set(path, (_request, response) =>
      extension.json(response, {
        kind: "APIResourceList",
        apiVersion: "v1",
        groupVersion: `${group}/${version}`,
        resources: [widgets],
      }),
    );
    extension.answer = (request, response) => {
      let text = "";
      request.on("data", (part: Buffer) => (text += part.toString()));
      request.on("end", () => {
        const answer = this.answer(
          request.method!,
          new URL(request.url!, "https://extension").pathname,
          text,
        );
        if (answer !== undefined) extension.json(response, answer.body, answer.status);
      });
    };
  }

  put(namespace: string, name: string, more: Partial<ObjectMetaValue> = {}): ObjectMetaValue {
    const metadata = { name, namespace, uid: `uid-${namespace}-${name}`, resourceVersion: "1", ...more };
    const apiVersion = `${this.extension.group}/${this.extension.version}`;
    this.objects.set(`${namespace}/${name}`, { apiVersion, kind: "Widget", metadata });
    return metadata;
  }

  private answer(method: string, path: string, text: string): { status: number; body: object } | undefined {
    this.requests.push(`${method} ${path}`);
    const match = /\/v1(?:\/namespaces\/([^/]+))?\/widgets(?:\/([^/]+))?$/.exec(path);
    if (match === null) return { status: 404, body: { kind: "Status" } };
    const [, namespace = "", name] = match;
    if (this.silent.has(namespace)) return undefined;
    const items = [...this.objects.entries()].filter(
      ([, { metadata }]) => namespace === "" || metadata.namespace === namespace,
    );
    const success = { status: 200, body: { kind: "Status", status: "Success" } };
    if (name === undefined) {
      if (method === "GET")
        return {
          status: 200,
          body: { kind: "WidgetList", metadata: {}, items: items.map(([, one]) => one) },
        };
      for (const [key, { metadata }] of items)
        if (metadata.finalizers === undefined) this.objects.delete(key);
      return success;
    }
    const object = this.objects.get(`${namespace}/${name}`);
    if (object === undefined) return { status: 404, body: { kind: "Status" } };
    if (method === "PATCH") Object.assign(object.metadata, (JSON.parse(text) as ApiObject).metadata);
    if (method === "DELETE") {
      if (object.metadata.finalizers === undefined) this.objects.delete(`${namespace}/${name}`);
      return success;
    }
    return { status: 200, body: object };
  }
}
