// The face of A2A as its routes describe it. What is posted is read by its mapping, which has A2A's own errors.
import { BODY_BYTES_MAX } from '../request-body.ts'
import { answers, open } from '../operation.ts'

export const CARD_ROUTE = {
  ...open({
    operationId: 'a2aAgentCard',
    summary: 'The agent card: who answers to A2A here, how, and as which agents',
    response: {
      200: answers(
        'The card; agent types of the caller’s tenant, or those that everybody may know',
        { type: 'object' },
      ),
    },
  }),
  schema: { hide: true },
}

const text = { type: 'string' }

const VERSION = { 'A2A-Version': text }

const HIDDEN = {
  bodyLimit: BODY_BYTES_MAX,
  config: { takesHandoffs: true },
}

/** JSON-RPC. */
export const RPC_ROUTE = {
  ...HIDDEN,
  schema: { hide: true, querystring: { type: 'object', properties: VERSION } },
}

/** HTTP+JSON. */
export const REST_ROUTE = {
  ...HIDDEN,
  attachValidation: true,
  schema: {
    hide: true,
    querystring: {
      type: 'object',
      properties: {
        ...VERSION,
        tenant: text,
        contextId: text,
        status: text,
        pageSize: text,
        pageToken: text,
        historyLength: text,
        statusTimestampAfter: text,
        includeArtifacts: text,
      },
    },
  },
}
