import { describe, expect, test } from "vitest";
import { readAuthenticationConfiguration } from "../../src/authentication/configuration/authentication-configuration.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { authority } from "./pki.ts";
import { blockOf } from "../support/pages.ts";

const header = { apiVersion: "apiserver.config.platform.io/v1", kind: "AuthenticationConfiguration" };
const read = (content: object, vocabulary = platform) =>
  readAuthenticationConfiguration(Buffer.from(JSON.stringify({ ...header, ...content })), vocabulary, [
    "https://own.example",
  ]);
const issuer = { url: "https://issuer.example", audiences: ["a"] };
const claimMappings = { username: { claim: "sub", prefix: "" } };
const jwt = (changes: object) => ({ jwt: [{ issuer, claimMappings, ...changes }] });
const issuerWith = (changes: object) => jwt({ issuer: { ...issuer, ...changes } });
const withDiscovery = (url: string, discoveryURL: string) => ({
  issuer: { ...issuer, url, discoveryURL },
  claimMappings,
});
const mapped = (changes: object) => jwt({ claimMappings: { ...claimMappings, ...changes } });
const rules = (...claimValidationRules: object[]) => jwt({ claimValidationRules });
const extra = (key: string, valueExpression = "claims.a") => mapped({ extra: [{ key, valueExpression }] });

test.each(["v1alpha1", "v1beta1", "v1"])(
  "version %s is accepted in the group of the vocabulary",
  async (version) => {
    for (const vocabulary of [platform, kubernetes]) {
      const apiVersion = `apiserver.config.${vocabulary.groupSuffix}/${version}`;
      expect((await read({ apiVersion, ...jwt({}) }, vocabulary)).jwt).toHaveLength(1);
    }
  },
);

test("YAML is accepted, an empty list of issuers too", async () => {
  const text = `apiVersion: ${header.apiVersion}\nkind: ${header.kind}\njwt: []\nanonymous:\n  enabled: true\n`;
  const result = await readAuthenticationConfiguration(Buffer.from(text), platform, []);
  expect(result).toEqual({ jwt: [], anonymous: { enabled: true, paths: undefined } });
});

describe("the error names the field", () => {
  const required = "Required value";
  test.each<[string, object]>([
    ["kind and apiVersion: found", { apiVersion: "apiserver.config.k8s.io/v1" }],
    ["kind and apiVersion: found", { kind: "Other" }],
    ["jwt[0].other: there is no such field", jwt({ other: 1 })],
    ["jwt[0].issuer.url: Required value", issuerWith({ url: "" })],
    ['jwt[0].issuer.url: Invalid value: "x": must be a URL', issuerWith({ url: "x" })],
    [
      'jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https',
      issuerWith({ url: "http://a" }),
    ],
    [
      'jwt[0].issuer.url: Invalid value: "https://u@a": URL must not contain a username',
      issuerWith({ url: "https://u@a" }),
    ],
    [
      'jwt[0].issuer.url: Invalid value: "https://a?b": URL must not contain a query',
      issuerWith({ url: "https://a?b" }),
    ],
    [
      'jwt[0].issuer.url: Invalid value: "https://a#b": URL must not contain a fragment',
      issuerWith({ url: "https://a#b" }),
    ],
    [
      'jwt[0].issuer.url: Invalid value: "https://own.example": must not be an issuer of service account',
      issuerWith({ url: "https://own.example" }),
    ],
    [
      'jwt[0].issuer.discoveryURL: Invalid value: "https://issuer.example/": must be different',
      issuerWith({ discoveryURL: "https://issuer.example/" }),
    ],
    [
      'jwt[0].issuer.discoveryURL: Invalid value: "http://b": URL scheme',
      issuerWith({ discoveryURL: "http://b" }),
    ],
    [`jwt[0].issuer.audiences: ${required}: at least one`, issuerWith({ audiences: [] })],
    [`jwt[0].issuer.audiences[0]: ${required}`, issuerWith({ audiences: [""] })],
    [
      'jwt[0].issuer.audiences[1]: Duplicate value: "a"',
      issuerWith({ audiences: ["a", "a"], audienceMatchPolicy: "MatchAny" }),
    ],
    [
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": must be MatchAny',
      issuerWith({ audiences: ["a", "b"] }),
    ],
    [
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "All": must be empty or',
      issuerWith({ audienceMatchPolicy: "All" }),
    ],
    [
      'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>"',
      issuerWith({ certificateAuthority: "x" }),
    ],
    [
      'jwt[0].issuer.egressSelectorType: Invalid value: "cluster": needs an egress configuration',
      issuerWith({ egressSelectorType: "cluster" }),
    ],
    [
      'jwt[0].issuer.egressSelectorType: Invalid value: "mars": egress selector must be either controlplane or cluster',
      issuerWith({ egressSelectorType: "mars" }),
    ],
    [
      'jwt[1].issuer.discoveryURL: Duplicate value: "https://b"',
      { jwt: ["https://a1", "https://a2"].map((url) => withDiscovery(url, "https://b")) },
    ],
    [
      "jwt[1].issuer.url: Duplicate value",
      {
        jwt: [
          { issuer, claimMappings },
          { issuer, claimMappings },
        ],
      },
    ],
    [
      "jwt: Too many: 65",
      {
        jwt: Array.from({ length: 65 }, (_, index) => ({
          issuer: { ...issuer, url: `https://i${index}` },
          claimMappings,
        })),
      },
    ],
    [`jwt[0].claimValidationRules[0]: ${required}: claim or expression`, rules({})],
    [
      'jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression',
      rules({ claim: "a", expression: "true" }),
    ],
    ["jwt[0].claimValidationRules[0].message: Invalid value", rules({ claim: "a", message: "m" })],
    ['jwt[0].claimValidationRules[1].claim: Duplicate value: "a"', rules({ claim: "a" }, { claim: "a" })],
    [
      "jwt[0].claimValidationRules[0].requiredValue: Invalid value",
      rules({ expression: "true", requiredValue: "v" }),
    ],
    [
      "jwt[0].claimValidationRules[1].expression: Duplicate value",
      rules({ expression: "true" }, { expression: "true" }),
    ],
    [
      'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.a": compilation failed',
      rules({ expression: "claims.a" }),
    ],
    [
      "jwt[0].claimValidationRules[0].expression: Invalid value: \"user.uid == '1'\": compilation failed",
      rules({ expression: "user.uid == '1'" }),
    ],
    [`jwt[0].claimMappings.username: ${required}: claim or expression`, jwt({ claimMappings: {} })],
    [
      'jwt[0].claimMappings.username: Invalid value: "": claim and expression',
      mapped({ username: { claim: "a", expression: "claims.b" } }),
    ],
    [`jwt[0].claimMappings.username.prefix: ${required}`, mapped({ username: { claim: "a" } })],
    [
      'jwt[0].claimMappings.username.prefix: Invalid value: "p": may not',
      mapped({ username: { expression: "claims.b", prefix: "p" } }),
    ],
    [
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.("',
      mapped({ username: { expression: "claims.(" } }),
    ],
    [
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must',
      mapped({ username: { expression: "claims.email" } }),
    ],
    [`jwt[0].claimMappings.groups.prefix: ${required}`, mapped({ groups: { claim: "a" } })],
    [
      'jwt[0].claimMappings.uid: Invalid value: "": claim and expression',
      mapped({ uid: { claim: "a", expression: "claims.b" } }),
    ],
    ["jwt[0].claimMappings.uid.expression: Invalid value", mapped({ uid: { expression: "x" } })],
    ['jwt[0].claimMappings.extra[0].key: Invalid value: "a": must be a domain-prefixed path', extra("a")],
    [
      'jwt[0].claimMappings.extra[0].key: Invalid value: "a.example/B": must be lowercase',
      extra("a.example/B"),
    ],
    [
      'jwt[0].claimMappings.extra[0].key: Invalid value: "x.platform.io/a": platform.io and their subdomains',
      extra("x.platform.io/a"),
    ],
    [`jwt[0].claimMappings.extra[0].valueExpression: ${required}`, extra("a.example/b", "")],
    ["jwt[0].claimMappings.extra[0].valueExpression: Invalid value", extra("a.example/b", "x")],
    [
      "jwt[0].claimMappings.extra[1].key: Duplicate value",
      mapped({
        extra: [
          { key: "a.example/b", valueExpression: "1" },
          { key: "a.example/b", valueExpression: "2" },
        ],
      }),
    ],
    [`jwt[0].userValidationRules[0].expression: ${required}`, jwt({ userValidationRules: [{}] })],
    [
      "jwt[0].userValidationRules[1].expression: Duplicate value",
      jwt({ userValidationRules: [{ expression: "true" }, { expression: "true" }] }),
    ],
    [
      "jwt[0].userValidationRules[0].expression: Invalid value: \"user.name == ''\": compilation failed",
      jwt({ userValidationRules: [{ expression: "user.name == ''" }] }),
    ],
    [
      "anonymous.conditions: Invalid value",
      { anonymous: { enabled: false, conditions: [{ path: "/livez" }] } },
    ],
  ])("%s", async (message, content) => {
    await expect(read(content)).rejects.toThrow(message);
  });

  test("each of several", async () => {
    await expect(
      read({ ...issuerWith({ url: "" }), anonymous: { conditions: [{ path: "/a" }] } }),
    ).rejects.toThrow(/^jwt\[0\]\.issuer\.url: Required value; anonymous\.conditions: /);
  });
});

test("an email by an expression is accepted if an expression uses whether it is verified", async () => {
  const username = { expression: "claims.email_verified ? claims.email : claims.sub" };
  expect((await read(mapped({ username }))).jwt).toHaveLength(1);
  const optional = { expression: "claims.?email_verified.orValue(false) ? claims.email : claims.sub" };
  expect((await read(mapped({ username: optional }))).jwt).toHaveLength(1);
  await expect(read(mapped({ username: { expression: 'claims.?email.orValue("x")' } }))).rejects.toThrow(
    "claims.email_verified must be used",
  );
  const both = { claimMappings: { username: { expression: 'claims["email"]' } } };
  const rule = { claimValidationRules: [{ expression: "claims.email_verified == true" }] };
  expect((await read(jwt({ ...both, ...rule }))).jwt).toHaveLength(1);
  await expect(read(jwt(both))).rejects.toThrow("claims.email_verified must be used");
});

test("CA certificates in PEM are accepted", async () => {
  const {
    jwt: [one],
  } = await read(issuerWith({ certificateAuthority: authority().certificate }));
  expect(one!.issuer.authorities).toHaveLength(1);
});

test("the example of docs/authentication.md is accepted", async () => {
  const example = Buffer.from(blockOf("docs/authentication.md", "yaml"));
  const result = await readAuthenticationConfiguration(example, platform, []);
  expect(result.jwt).toHaveLength(1);
});
