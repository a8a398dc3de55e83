import { expect, test } from "vitest";
import { discoveryDocuments } from "../../../src/authentication/service-accounts/discovery-documents.ts";

test.each([
  ["plain", "is not a URL"],
  ["http://one.example", "is not an https URL"],
  ["https://one.example?a", "has a query or a fragment"],
  ["https://one.example#a", "has a query or a fragment"],
])("the issuer %s has no OpenID documents, because it %s", (issuer, reason) => {
  expect(discoveryDocuments(issuer, [], undefined)).toEqual({ error: `the issuer "${issuer}" ${reason}` });
});
