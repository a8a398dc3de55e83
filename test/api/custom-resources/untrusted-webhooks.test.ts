import { describe, expect, test } from "vitest";
import { ok, until } from "../support.ts";
import { useServer } from "../../support/use-server.ts";
import { createServingCertificates } from "../../../src/base/certificates/serving-certificates.ts";
import { definition, definitions, group, version } from "./support.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const valid = base64(createServingCertificates(["localhost"]).caCertificate);
const invalid = {
  nonsense: base64("nonsense"),
  empty: base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
};
const conversion = (caBundle: string) => ({
  strategy: "Webhook",
  webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://127.0.0.1:1/", caBundle } },
});

describe.each(["1.30", "1.31"] as const)("a definition with an invalid caBundle, release %s", (release) => {
  const server = useServer({ release });
  const refuses = release === "1.31";
  const make = (plural: string, caBundle: string) =>
    ok(
      server.admin.post(
        definitions,
        definition({ versions: [version("v1")], conversion: conversion(caBundle) }, plural, `K${plural}`),
      ),
    );
  const pathOf = (plural: string) => `${definitions}/${plural}.${group}`;
  const established = async (plural: string) => {
    const { conditions = [] } = (await server.admin.get(pathOf(plural))).body.status;
    const found = (conditions ?? []).find(({ type }: { type: string }) => type === "Established");
    return found && [found.status, found.reason];
  };
  const setBundle = (plural: string, caBundle: string | null) =>
    server.admin.patch(pathOf(plural), { spec: { conversion: { webhook: { clientConfig: { caBundle } } } } });

  test.each(Object.entries(invalid))("is established once it is valid (%s)", async (plural, caBundle) => {
    await make(plural, caBundle);
    const found = await until(
      () => established(plural),
      (one) => one !== undefined,
    );
    expect(found).toEqual(refuses ? ["False", "InvalidCABundle"] : ["True", "InitialNamesAccepted"]);
    await ok(setBundle(plural, refuses ? valid : null));
    await until(
      () => established(plural),
      (one) => one?.[0] === "True",
    );
  });

  test("an update to it is rejected when the definition is established", async () => {
    await make("trusted", valid);
    await until(
      () => established("trusted"),
      (one) => one?.[0] === "True",
    );
    const { status, body } = await setBundle("trusted", invalid.nonsense);
    expect(status).toBe(refuses ? 422 : 200);
    if (refuses) expect(body.details.causes[0].field).toBe("spec.conversion.webhookClientConfig.caBundle");
  });
});
