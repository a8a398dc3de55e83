import { expect, test } from "vitest";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { resourceOf } from "../../src/resources/registry/registry.ts";
import type { RequestContext } from "../../src/http/request/context.ts";
import { readFacts } from "../../src/http/request/facts.ts";
import type { HttpService } from "../../src/http/service.ts";
import { authorize } from "../../src/http/stages/authorization.ts";
import { platform } from "../../src/vocabulary/platform.ts";

test("a request that an extension server answers is authorized by its verb, also if this server has the resource type", async () => {
  const authorizer = {
    links: [],
    authorize: () => ({ verdict: "noOpinion", reason: "", evaluationError: "" }),
  };
  const service = { authorizer, viewRule: "get", engine: { vocabulary: platform } } as unknown as HttpService;
  const authorized = (remote: object | undefined) => {
    const request = {
      facts: readFacts("GET", "/api/v1/configmaps?view=mine"),
      user: { name: "ann", uid: "", groups: ["system:authenticated"], extra: {} },
      resource: resourceOf(ConfigMap, platform),
      remote,
    } as unknown as RequestContext;
    return Promise.resolve().then(() => authorize(service, request));
  };
  await expect(authorized(undefined)).resolves.toBeUndefined();
  await expect(authorized({})).rejects.toMatchObject({ reason: "Forbidden" });
});
