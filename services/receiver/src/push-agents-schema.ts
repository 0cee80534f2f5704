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
    operator: { type: 'string', pattern: `^${OPERATOR}$` },
    timeoutMs: { type: 'integer', minimum: 100, maximum: 3_600_000 },
    leaseMs: { type: 'integer', minimum: 1_000, maximum: 3_600_000 },
    requires: names,
    capabilities: names,
    mcp: names,
    jurisdiction: { type: 'string', pattern: '^[A-Z]{2}$' },
    contextWindowTokens: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
    allowPrivate: { type: 'boolean' },
  },
  required: ['type', 'version', 'url'],
  // The secret itself never stands in the file.
  oneOf: [{ required: ['secretEnv'] }, { required: ['secretFile'] }],
  additionalProperties: false,
}

export const PUSH_AGENTS = {
  type: 'object',
  properties: { agents: { type: 'array', items: AGENT, minItems: 1, maxItems: 1_000 } },
  required: ['agents'],
  additionalProperties: false,
}
