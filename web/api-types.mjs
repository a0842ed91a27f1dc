/**
 * The types of the HTTP API: OpenAPI as JSON on standard input, TypeScript on standard output.
 *
 *     python -m prefero.server.openapi | node api-types.mjs > src/api-types.ts     (make api-types)
 */

import { text } from "node:stream/consumers";

import openapiTS, { astToString } from "openapi-typescript";

const HEADER = `/** The HTTP API in types, generated from the server's OpenAPI by \`make api-types\`. Do not edit. */

`;

const schema = JSON.parse(await text(process.stdin));
const nodes = await openapiTS(schema, { rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true });
process.stdout.write(HEADER + astToString(nodes));
