/** Differences to the reference that are intended. */
export const differences: readonly { readonly reason: string; readonly expressions: readonly string[] }[] = [
  {
    reason: "the evaluation of a macro ends at the first fault; the reference counts some of what follows",
    expressions: [
      "[1, 2, 3].transformMapEntry(i, v, {'x': i})",
      "[1, 2, 3].transformMapEntry(i, v, dyn(v))",
      "{'a': 1, 'b': 2}.transformMap(k, v, [v][5])",
    ],
  },
  {
    reason: "the presence of a field of an absent value counts as the selection of the value",
    expressions: ["has({'a': {'b': 1}}.?c.b)"],
  },
  {
    reason: "the reference panics if a dynamic item of a literal is marked as optional",
    expressions: ["[?dyn(1)]", "{?'a': dyn(1)}"],
  },
  {
    reason: "a variable with a leading dot can't be named by the macro",
    expressions: ["[1].all(i, .v, true)"],
  },
  {
    reason: "the presence of a field of a literal costs nothing",
    expressions: ["has({'a-b': 1}.`a-b`)"],
  },
  {
    reason: "a list of one literal, which a macro adds to its result, costs as much as any other list",
    expressions: ["[1, 2].sortBy(x, 'a')"],
  },
  {
    reason: "infinity isn't padded to the width of the reference's precision",
    expressions: ["'%f %e'.format([double('nan'), double('inf')])"],
  },
  {
    reason: "a value that isn't a list or a map matches no overload; the reference has a message of its own",
    expressions: ["dyn(1).all(i, v, true)"],
  },
];
