// The file of agents that a receiver calls over HTTP (BATON_PUSH_AGENTS), as JSON Schema.
import { OPERATOR } from '@baton/ledger'

const name = { type: 'string', minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f]*$' }
const names = { type: 'array', items: name, maxItems: 100 }

const AGENT = {
  type: 'object',
  properties: {
    type: name,
    version: { type: 'string', minLength: 5, maxLength: 256 },
    url: { type: 'string', maxLength: 2_048 },
    secretEnv: { type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,127}$' },
    secretFile: { type: 'string', minLength: 1, maxLength: 4_096 },
    cardUrl: { type: 'string', maxLength: 2_048 },
    tokenEnv: { type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,127}$' },
    tokenFile: { type: 'string', minLength: 1, maxLength: 4_096 },
    awayMs: { type: 'integer', minimum: 0, maximum: 86_400_000 },
    operator: { type: 'string', pattern: `^${OPERATOR}$` },
    timeoutMs: { type: 'integer', minimum: 100, maximum: 86_400_000 },
    leaseMs: { type: 'integer', minimum: 1_000, maximum: 3_600_000 },
    requires: names,
    capabilities: names,
    mcp: names,
    jurisdiction: { type: 'string', pattern: '^[A-Z]{2}$' },
    contextWindowTokens: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
    allowPrivate: { type: 'boolean' },
  },
  required: ['type', 'version'],
  // One that Baton calls, or one that speaks A2A. A secret or a token itself never stands in the file.
  oneOf: [
    { required: ['url', 'secretEnv'] },
    { required: ['url', 'secretFile'] },
    { required: ['cardUrl'] },
  ],
  dependentRequired: {
    secretEnv: ['url'],
    secretFile: ['url'],
    operator: ['url'],
    leaseMs: ['url'],
    tokenEnv: ['cardUrl'],
    tokenFile: ['cardUrl'],
    awayMs: ['cardUrl'],
  },
  additionalProperties: false,
}

export const PUSH_AGENTS = {
  type: 'object',
  properties: { agents: { type: 'array', items: AGENT, minItems: 1, maxItems: 1_000 } },
  required: ['agents'],
  additionalProperties: false,
}
