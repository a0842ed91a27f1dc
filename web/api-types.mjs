/**
 * Generates the types of the HTTP API: OpenAPI as JSON on standard input, TypeScript into the file that is named.
 *
 *     python -m prefero.server.openapi | node web/api-types.mjs web/src/api-types.ts     (make api-types)
 */

import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";

import openapiTS, { astToString } from "openapi-typescript";

const HEADER = `/** The HTTP API in types, generated from the server's OpenAPI by \`make api-types\`. Do not edit. */

`;
const OPTIONS = { rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true };

/**
 * Without what adds nothing to the types: titles that repeat names, defaults (one is the version), and discriminators,
 * whose values would all become strings, while the constants in the schemas tell unions apart already.
 */
function pruned(schema) {
  if (Array.isArray(schema)) return schema.map(pruned);
  if (schema === null || typeof schema !== "object") return schema;
  const kept = Object.entries(schema).filter(([key, value]) => !isRedundant(key, value));
  return Object.fromEntries(kept.map(([key, value]) => [key, pruned(value)]));
}

/** A property may be called "title" too; then the value is its schema. */
function isRedundant(key, value) {
  return key === "discriminator" || key === "default" || (key === "title" && typeof value === "string");
}

const schema = JSON.parse(await text(process.stdin));
const nodes = await openapiTS({ ...pruned(schema), info: schema.info }, OPTIONS);
writeFileSync(process.argv[2], HEADER + astToString(nodes));
