import { describe, expect, test } from "vitest";
import { checkConditions } from "../../src/authorization/configuration/match-conditions.ts";
import {
  reviewedSelectors,
  SelectorTexts,
  selectsFieldValue,
} from "../../src/authorization/request-selectors.ts";
import { readFacts } from "../../src/http/request/facts.ts";
import { selectorsOf } from "../../src/http/request/attributes.ts";
import { FieldReport } from "../../src/schema/faults.ts";
import { ask, user } from "./support.ts";

const requestSelectors = (method: string, url: string) => {
  const facts = readFacts(method, url);
  return facts.kind === "resource" ? selectorsOf(facts) : undefined;
};
const termsOf = (selectors: SelectorTexts) =>
  [...selectors.fieldSelector, ...selectors.labelSelector].map(({ key, operator, values }) =>
    `${key} ${operator} ${values.join("|")}`.trim(),
  );

describe("selectors of a request", () => {
  test("a list, a watch and a deletecollection have those of their parameters", () => {
    const query = "fieldSelector=spec.nodeName%3Dn1&labelSelector=a%3Db";
    for (const [method, url] of [
      ["GET", `/api/v1/pods?${query}`],
      ["GET", `/api/v1/namespaces/x/pods?watch=1&${query}`],
      ["DELETE", `/api/v1/namespaces/x/pods?${query}`],
    ] as const) {
      const selectors = requestSelectors(method, url);
      expect(selectors?.fieldSelector).toEqual([{ key: "spec.nodeName", operator: "In", values: ["n1"] }]);
      expect(selectors?.labelSelector).toEqual([{ key: "a", operator: "In", values: ["b"] }]);
      expect(selectors?.faults).toEqual([]);
    }
  });

  test("requests for one object, paths with a verb and empty parameters have none", () => {
    for (const [method, url] of [
      ["GET", "/api/v1/namespaces/x/pods/y?labelSelector=a%3Db"],
      ["POST", "/api/v1/namespaces/x/pods?labelSelector=a%3Db"],
      ["GET", "/api/v1/watch/pods?labelSelector=a%3Db"],
      ["GET", "/api/v1/pods?labelSelector=&fieldSelector="],
      ["GET", "/api/v1/pods"],
    ] as const) {
      expect(requestSelectors(method, url)).toBeUndefined();
    }
  });

  test("requirements are sorted; comparisons of numbers are dropped", () => {
    const texts = new SelectorTexts("b!=2,b==1,a=x", "d,!c,e in (y,x,y),f notin (q),g>5,a!=z");
    expect(termsOf(texts)).toEqual([
      "a In x",
      "b NotIn 2",
      "b In 1",
      "a NotIn z",
      "c DoesNotExist",
      "d Exists",
      "e In x|y",
      "f NotIn q",
    ]);
  });

  test("a selector that can't be parsed is dropped; the other one counts", () => {
    const texts = new SelectorTexts("nonsense", "a=b");
    expect(termsOf(texts)).toEqual(["a In b"]);
    expect(texts.faults).toEqual(["fieldSelector ignored due to parse error"]);
  });
});

describe("selectors of a review", () => {
  test("requirements that the server doesn't know are dropped and reported", () => {
    const selectors = reviewedSelectors(
      {
        requirements: [
          { key: "a", operator: "In", values: ["x"] },
          { key: "a", operator: "In", values: ["x", "y"] },
          { key: "b", operator: "Exists" },
        ],
      },
      { requirements: [{ key: "c", operator: "Future" }] },
    );
    expect(selectors?.fieldSelector).toEqual([{ key: "a", operator: "In", values: ["x"] }]);
    expect(selectors?.labelSelector).toEqual([]);
    expect(selectors?.faults).toEqual([
      "fieldSelector partially ignored due to parse error",
      "labelSelector ignored due to parse error",
    ]);
  });

  test("without selectors the result is undefined", () => {
    expect(reviewedSelectors(undefined, null)).toBeUndefined();
  });
});

test("selectsFieldValue is true only for an equality with the value", () => {
  const selects = (text: string) => selectsFieldValue(new SelectorTexts(text, ""), "spec.nodeName", "n1");
  expect(selects("spec.nodeName=n1,a=b")).toBe(true);
  for (const text of ["spec.nodeName!=n1", "spec.nodeName=n2", "spec.node=n1", "", "broken"]) {
    expect(selects(text)).toBe(false);
  }
  expect(selectsFieldValue(undefined, "spec.nodeName", "n1")).toBe(false);
});

test("conditions of webhooks see the requirements of selectors", () => {
  const report = FieldReport.start();
  const matcher = checkConditions(
    [
      {
        expression:
          "has(request.resourceAttributes.fieldSelector) && request.resourceAttributes.fieldSelector.requirements" +
          ".exists(r, r.key == 'spec.nodeName' && r.operator == 'In' && r.values == ['n1'])",
      },
    ],
    report,
  );
  const match = (selectors?: SelectorTexts) =>
    matcher?.match({ ...ask(user("devi"), "list"), selectors }).matches;
  expect(match(new SelectorTexts("spec.nodeName=n1", ""))).toBe(true);
  expect(match(new SelectorTexts("spec.nodeName=n2", ""))).toBe(false);
  expect(match()).toBe(false);
});
