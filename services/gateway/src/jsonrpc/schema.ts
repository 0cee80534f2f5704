// The session face as OpenAPI describes it. What is posted is read by its mapping, which has JSON-RPC's own errors.
import { answers, open } from '../operation.ts'
import { TRACED } from '../operation.ts'

const text = { type: 'string' }

const RPC_MESSAGE = {
  type: 'object',
  properties: {
    role: { enum: ['user', 'agent'] },
    parts: { type: 'array', items: { type: 'object', properties: { text } } },
    contextId: text,
    messageId: text,
  },
  required: ['parts'],
}

const rpcFailure = (description: string) => ({
  description,
  content: { 'application/json': { schema: { type: 'object' } } },
})

const QUERY_REFUSED = rpcFailure('The path takes no such query parameter')

export const SEND_MESSAGE = {
  operationId: 'sendSessionMessage',
  summary: 'Dispatch a task in the session handshake, or report the result of one',
  description:
    'JSON-RPC 2.0. A text with a TASK_DISPATCH, an inline header block or plain prose becomes a handoff; it is answered with its TASK_RESULT, or with [queued] and the result later. Errors come with HTTP 200: -32700, -32600, -32601, -32602, -32000, and -32001 where the context is busy.',
  security: [{ peerToken: [] }],
  ...TRACED,
  body: {
    type: 'object',
    properties: {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'number', 'null'] },
      method: { enum: ['SendMessage', 'message/send'] },
      params: { type: 'object', properties: { message: RPC_MESSAGE }, required: ['message'] },
    },
    required: ['jsonrpc', 'method', 'params'],
  },
  response: {
    200: answers('The answer, or the error', {
      type: 'object',
      properties: {
        jsonrpc: { const: '2.0' },
        result: { type: 'object' },
        error: { type: 'object' },
      },
    }),
    400: QUERY_REFUSED,
    401: rpcFailure('No bearer of a session peer'),
    413: rpcFailure('The body is above 1 MiB'),
    415: rpcFailure('The content type is not application/json'),
    429: rpcFailure('Too many requests; see Retry-After'),
    503: rpcFailure('No session peer is configured'),
  },
}

export const HEALTH = open({
  operationId: 'sessionHealth',
  summary: 'Whether the process is alive, at the path where session peers ask',
  response: {
    200: answers('It is', { type: 'object', properties: { status: { const: 'ok' } } }),
    400: QUERY_REFUSED,
  },
})
