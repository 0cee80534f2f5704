// POST /mcp as OpenAPI describes it: the messages themselves are the Model Context Protocol's.
import { answers } from '../operation.ts'

const object = { type: 'object' }

const refusal = (description: string) => answers(description, object)

export const MCP = {
  schema: {
    operationId: 'mcp',
    summary:
      'The Model Context Protocol over Streamable HTTP, 2026-07-28 and 2025-11-25, without sessions',
    description:
      'One JSON-RPC message in each request. Which tools a caller has depends on the scopes of its key or token.',
    security: [{ apiKey: [] }],
    body: { ...object, description: 'One JSON-RPC 2.0 message.' },
    response: {
      200: {
        description: 'The answer to a request',
        content: {
          'application/json': { schema: object },
          'text/event-stream': { schema: { type: 'string' } },
        },
      },
      202: { description: 'A notification was taken', type: 'null' },
      400: refusal('No message, or one that this revision of the protocol does not have'),
      401: refusal('No valid API key or access token; WWW-Authenticate says where to get one'),
      403: refusal('The scope of the tool is missing, or a page of another origin called'),
      404: refusal('There is no such method'),
      429: refusal('Too many requests; see Retry-After'),
      503: refusal('A database does not answer; see Retry-After'),
    },
  },
}
