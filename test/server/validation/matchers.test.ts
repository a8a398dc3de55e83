import { expect, test } from "vitest";
import { manifestMatchers, validate, type AcceptanceMatchers } from "../../../src/index.ts";
import { bases } from "./mistakes.ts";

expect.extend(manifestMatchers);
const accepts = (value: object | string) =>
  expect(value) as unknown as AcceptanceMatchers & { not: AcceptanceMatchers };

test("toBeAccepted passes for an accepted manifest, and fails with the problems of a rejected one", async () => {
  const service = { ...bases["service"], metadata: { name: "web" } };
  await accepts(service).toBeAccepted({ release: "1.33" });
  const wrong = { ...service, spec: { ports: [] } };
  await accepts(wrong).not.toBeAccepted();
  await expect(accepts(wrong).toBeAccepted()).rejects.toThrow(
    "the manifests are rejected:\n  Service web spec.ports: Required value (1.26)",
  );
  await expect(accepts(service).not.toBeAccepted()).rejects.toThrow(
    "the manifests are accepted by 1.26, and should not be",
  );
});

test("validate refuses wrong options, which it names", async () => {
  const refused = (options: object) => expect(validate([], options)).rejects;
  await refused({ release: "1.9" }).toThrow('release: "1.9" is not one of 1.26, 1.27');
  await refused({ release: [] }).toThrow('release: "" is not one of');
  await refused({ references: "no" }).toThrow('references: "no" is not one of warning, error, ignore');
  await refused({ groups: ["a"] }).toThrow("groups: needs the option user");
  await refused({ context: "kind: A\n" }).toThrow("context: -: not a manifest: apiVersion is missing");
});

test("validate takes objects, texts and context, without positions for objects", async () => {
  const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndat: {}\n";
  expect((await validate(text)).objects[0]!.problems[0]!.location).toEqual({ file: "-", line: 4, column: 1 });
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, dat: {} };
  expect((await validate(object)).objects[0]!.problems[0]).toMatchObject({
    field: "dat",
    location: undefined,
  });
  expect((await validate([{ kind: "A" }])).objects[0]).toMatchObject({ kind: "", accepted: false });
});
