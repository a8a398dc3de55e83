import { afterAll, beforeAll, beforeEach } from "vitest";
import { TestServer } from "../../support/api.ts";
import { HttpsService, type Received, type Reply } from "../../support/https-service.ts";
import { definition, group, served } from "./support.ts";

/** An endpoint is `host:port` in v1, and two fields in v2. */
export interface Endpoint {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> } & Record<string, unknown>;
  spec: { endpoint?: string; host?: string; port?: number };
}

interface Review {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: Endpoint[] };
}

function converted(object: Endpoint, desired: string): Endpoint {
  const { endpoint, host, port, ...rest } = object.spec;
  const spec: Endpoint["spec"] = { ...rest };
  if (desired.endsWith("v2")) {
    const [first, second] = (endpoint ?? "").split(":");
    if (endpoint !== undefined) Object.assign(spec, { host: first, port: Number(second) });
  } else if (host !== undefined) spec.endpoint = `${host}:${port ?? 0}`;
  return { ...object, apiVersion: desired, spec };
}

const answerTo = ({ apiVersion, kind, request }: Review) => ({
  apiVersion,
  kind,
  response: {
    uid: request.uid,
    result: { status: "Success" },
    convertedObjects: request.objects.map((one) => converted(one, request.desiredAPIVersion)),
  },
});

type AnswerBody = ReturnType<typeof answerTo>;
export const right = ({ text }: Received): Reply => ({ body: answerTo(JSON.parse(text) as Review) });

/** Modifies the correct response. */
export const wrong =
  (change: (body: AnswerBody) => unknown) =>
  ({ text }: Received): Reply => {
    const body = answerTo(JSON.parse(text) as Review);
    return { body: change(body) ?? body };
  };
export const properties = (fields: object) => ({
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: { note: { type: "string" }, ...fields } },
      status: { type: "object", properties: { ready: { type: "boolean" } } },
    },
  },
});
const schemas = {
  v1: properties({ endpoint: { type: "string", pattern: "^[^:]*:[0-9]+$" } }),
  v2: properties({ host: { type: "string" }, port: { type: "integer", maximum: 65535 } }),
};
export const versions = (storage: string) =>
  (["v1", "v2"] as const).map((name) => ({
    name,
    served: true,
    storage: name === storage,
    schema: schemas[name],
    subresources: { status: {} },
    additionalPrinterColumns: [
      { name: "Port", type: "string", jsonPath: name === "v1" ? ".spec.endpoint" : ".spec.port" },
    ],
  }));

/** Starts a server and a conversion webhook that responds with `fixture.answer`. */
export function useConversionWebhook() {
  const fixture = {
    ...({} as {
      server: TestServer;
      webhook: HttpsService;
      answer: (request: Received) => Reply | Promise<Reply>;
    }),
    count: 0,
  };
  const conversion = (reviewVersions = ["v1"]) => ({
    strategy: "Webhook",
    webhook: {
      conversionReviewVersions: reviewVersions,
      clientConfig: {
        url: `${fixture.webhook.url}/convert`,
        caBundle: Buffer.from(fixture.webhook.ca).toString("base64"),
      },
    },
  });
  /** Serves a kind of endpoints; gives the paths of its collection in both versions, and a maker of its objects. */
  async function endpoints(storage = "v1", reviewVersions = ["v1"]) {
    const plural = `endpoint${++fixture.count}s`;
    const kind = `Endpoint${fixture.count}`;
    const made = definition(
      { versions: versions(storage), conversion: conversion(reviewVersions) },
      plural,
      kind,
    );
    const v1 = await served(fixture.server.admin, made as never);
    return {
      plural,
      kind,
      v1,
      v2: v1.replace("/v1/", "/v2/"),
      inV1: (name: string, endpoint: string, more: object = {}) => ({
        apiVersion: `${group}/v1`,
        kind,
        metadata: { name, ...more },
        spec: { endpoint },
      }),
      inV2: (name: string, host: string, port: number, more: object = {}) => ({
        apiVersion: `${group}/v2`,
        kind,
        metadata: { name, ...more },
        spec: { host, port },
      }),
    };
  }

  beforeAll(async () => {
    fixture.webhook = await HttpsService.start((request) => fixture.answer(request));
    fixture.server = await TestServer.start({
      enabledControllers: ["namespace", "garbagecollector"],
      featureGates: "ValidatingAdmissionPolicy=true",
      runtimeConfig: "admissionregistration.platform.io/v1alpha1=true",
    });
  });
  afterAll(async () => {
    await fixture.server.close();
    await fixture.webhook.close();
  });
  beforeEach(() => {
    fixture.answer = right;
    fixture.webhook.received.length = 0;
  });
  const reviews = () => fixture.webhook.received.map(({ text }) => JSON.parse(text) as Review);
  return { fixture, conversion, endpoints, reviews };
}
