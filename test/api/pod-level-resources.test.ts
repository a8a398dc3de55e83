import { describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { ok } from "./support.ts";

const pods = "/api/v1/namespaces/default/pods";
const both = { cpu: "1", memory: "1Gi" };

describe("resources of a whole pod, release 1.34", () => {
  const server = useServer({
    release: "1.34",
    vocabulary: "kubernetes",
    enabledControllers: ["serviceaccount", "resourcequota"],
  });
  const made = async (resources: object, containers: object[] = [{}], more: object = {}) => {
    const spec = {
      serviceAccountName: "default",
      resources,
      containers: containers.map((one, index) => ({ name: `c${index}`, image: "i", resources: one })),
      ...more,
    };
    const { body } = await ok(server.admin.post(`${pods}?dryRun=All`, { metadata: { name: "p" }, spec }));
    return { resources: body.spec.resources, qosClass: body.status.qosClass };
  };

  test("requests are those of the containers, else the limits of the pod", async () => {
    expect(await made({ limits: both })).toEqual({
      resources: { limits: both, requests: both },
      qosClass: "Guaranteed",
    });
    expect(
      await made({ limits: both }, [{ requests: { cpu: "200m" } }, { requests: { cpu: "300m" } }]),
    ).toEqual({
      resources: { limits: both, requests: { cpu: "500m", memory: "1Gi" } },
      qosClass: "Burstable",
    });
    expect((await made({ requests: { cpu: "1" } })).resources).toEqual({ requests: { cpu: "1" } });
  });

  test("limits of huge pages are those of the containers", async () => {
    const pages = { "hugepages-2Mi": "4Mi" };
    const { resources } = await made({ limits: both }, [{ limits: { ...pages, cpu: "1" } }]);
    expect(resources).toEqual({ limits: { ...both, ...pages }, requests: { ...both, ...pages } });
  });

  test("they decide the quality of service, whatever the containers have", async () => {
    const limited = [{ limits: both }];
    expect(
      (await made({ requests: { cpu: "1" } }, [{ limits: { cpu: "500m", memory: "1Gi" } }])).qosClass,
    ).toBe("Burstable");
    expect((await made({}, limited)).qosClass).toBe("BestEffort");
    expect((await made({ limits: both, requests: both }, [{}, {}])).qosClass).toBe("Guaranteed");
  });

  test("a quota of requests needs none of the containers then", async () => {
    const quotas = "/api/v1/namespaces/default/resourcequotas";
    await ok(server.admin.post(quotas, { metadata: { name: "q" }, spec: { hard: { "requests.cpu": "2" } } }));
    expect((await made({ limits: both })).qosClass).toBe("Guaranteed");
    const spec = { serviceAccountName: "default", containers: [{ name: "c", image: "i" }] };
    expect((await server.admin.post(`${pods}?dryRun=All`, { metadata: { name: "p" }, spec })).status).toBe(
      403,
    );
    await ok(server.admin.delete(`${quotas}/q`));
  });
});

test("resources of a whole pod are dropped in release 1.33, and have no effect", async () => {
  const server = await TestServer.start({
    release: "1.33",
    vocabulary: "kubernetes",
    enabledControllers: ["serviceaccount"],
  });
  try {
    const spec = { resources: { limits: both }, containers: [{ name: "c", image: "i" }] };
    const { body } = await ok(server.admin.post(`${pods}?dryRun=All`, { metadata: { name: "p" }, spec }));
    expect([body.spec.resources, body.status.qosClass]).toEqual([undefined, "BestEffort"]);
  } finally {
    await server.close();
  }
});
