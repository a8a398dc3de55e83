/** The parts of the YAML library that decoding uses, loaded with the first YAML body. */
export { Composer, isAlias, isMap, isScalar, isSeq, Lexer, parseDocument, Parser } from "yaml";
