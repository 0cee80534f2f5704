// MCP over standard input and output, for one person: what the client asks goes to /mcp of a gateway, and what a person must sign is signed here, after the
// client has asked them.
import { hash, randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  ProtocolError,
  Server,
} from '@modelcontextprotocol/server'
import type {
  CallToolResult,
  ClientCapabilities,
  ServerContext,
} from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { BatonError } from '@baton/runtime'
import { IDENTITY, INSTRUCTIONS, LISTS } from './identity.ts'
import { PROBLEM_META, Refused, refusedResult } from './refused.ts'
import type { Problem } from './refused.ts'

/** The call of a tool that a person must sign, and what the gateway says is to be signed. */
export interface ToSign {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly needed: string
}

export interface Signable {
  /** What the person is asked, all that they sign in it. */
  readonly words: string
  sign(): string
}

export interface StdioOptions {
  /** Posts one JSON-RPC message to /mcp. Throws errors of this project where there is no answer, or a refusal of the gateway. */
  readonly post: (message: object, headers: Readonly<Record<string, string>>) => Promise<RpcAnswer>
  /** Throws where something else would be signed than what the tool's arguments mean. */
  readonly prepare: (asked: ToSign) => Promise<Signable>
  readonly input: Readable
  readonly output: Writable
}

export interface RpcAnswer {
  readonly result?: object
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Serves until the input ends, or `end` aborts. */
export async function serveMcpOverStdio(options: StdioOptions, end: AbortSignal): Promise<void> {
  const { input, output } = options
  const ended = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve())
    end.addEventListener('abort', () => resolve(), { once: true })
    if (end.aborted) resolve()
  })
  const transport = new StdioServerTransport(input, output)
  const served = serveStdio(() => createBridge(options), { transport })
  await ended
  await served.close()
}

const METHODS = [
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
] as const

function createBridge(options: StdioOptions): Server {
  const codec = createRequestStateCodec<Asked>({ key: randomBytes(32) })
  const server = new Server(IDENTITY, {
    capabilities: { tools: {}, resources: {} },
    instructions: INSTRUCTIONS,
    cacheHints: {
      'tools/list': LISTS,
      'resources/list': LISTS,
      'resources/templates/list': LISTS,
      'server/discover': LISTS,
    },
    requestState: { verify: codec.verify },
  })
  for (const method of METHODS)
    server.setRequestHandler(
      method,
      async ({ params }) =>
        // What the gateway answers has the form of this method.
        (await forward(options, method, params ?? {})) as never,
    )
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    try {
      const result = (await forward(options, 'tools/call', params)) as CallToolResult
      const problem = result._meta?.[PROBLEM_META] as Problem | undefined
      const needed = problem?.['decisionNeeded']
      if (typeof needed !== 'string') return result
      const asked = { tool: params.name, args: params.arguments ?? {}, needed }
      return await signed({ options, server, context, codec }, asked)
    } catch (error) {
      if (error instanceof Refused) return refusedResult(error)
      if (error instanceof BatonError) return refusedResult(refusedOf(error))
      throw error
    }
  })
  return server
}

const refusedOf = ({ code, message: detail, fix }: BatonError): Refused =>
  new Refused({ code, detail, ...(fix === undefined ? {} : { fix }) })

let id = 0

/** The same request of the stateless revision, whichever one the client speaks. */
async function forward({ post }: StdioOptions, method: string, params: object): Promise<object> {
  const { _meta: given = {}, ...rest } = params as { _meta?: Readonly<Record<string, unknown>> }
  const { traceparent, tracestate } = given
  const _meta = {
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(typeof tracestate === 'string' ? { tracestate } : {}),
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': IDENTITY,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const { name, uri } = rest as { readonly name?: unknown; readonly uri?: unknown }
  const named = name ?? uri
  id += 1
  const { result, error } = await post(
    { jsonrpc: '2.0', id, method, params: { ...rest, _meta } },
    {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(typeof named === 'string' ? { 'mcp-name': headerValue(named) } : {}),
    },
  )
  if (error !== undefined) throw new ProtocolError(error.code, error.message, error.data)
  // The connection with the client says these itself, where its revision has them.
  const {
    resultType: _,
    ttlMs: _ttl,
    cacheScope: _scope,
    ...answer
  } = (result ?? {}) as Record<string, unknown>
  return answer
}

const REVISION = '2026-07-28'

/** Printable ASCII as it is; anything else as the transport encodes it. */
const headerValue = (text: string): string =>
  /^[\x21-\x7e]+$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** What a person was asked, by its digest: an answer counts for that alone. */
interface Asked {
  readonly sha256: string
}

interface Signing {
  readonly options: StdioOptions
  readonly server: Server
  readonly context: ServerContext
  readonly codec: ReturnType<typeof createRequestStateCodec<Asked>>
}

async function signed({ options, server, context, codec }: Signing, asked: ToSign) {
  const signable = await options.prepare(asked)
  if (capabilitiesOf(server, context)?.elicitation === undefined) throw new Refused(CANNOT_ASK)
  const sha256 = hash('sha256', signable.words)
  const { inputResponses } = context.mcpReq
  const view = inputResponse(inputResponses, CONFIRM)
  if (view.kind === 'elicit' && context.mcpReq.requestState<Asked>()?.sha256 === sha256) {
    const answer = acceptedContent<{ readonly sign?: unknown }>(inputResponses, CONFIRM)
    if (answer?.sign !== true) throw new Refused(NOT_CONFIRMED)
    const args = { ...asked.args, signature: signable.sign() }
    return (await forward(options, 'tools/call', {
      name: asked.tool,
      arguments: args,
    })) as CallToolResult
  }
  return inputRequired({
    inputRequests: {
      [CONFIRM]: inputRequired.elicit({ message: signable.words, requestedSchema: CONFIRMATION }),
    },
    requestState: await codec.mint({ sha256 }),
  })
}

/** As the request says them, or the connection where its revision has that. */
function capabilitiesOf(server: Server, { mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as
    | { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities }
    | undefined
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
}

const CONFIRM = 'confirm'

const CONFIRMATION = {
  type: 'object' as const,
  properties: {
    sign: {
      type: 'boolean' as const,
      title: 'Sign this decision',
      description: 'Your own signature; it goes into the audit log under your name.',
    },
  },
  required: ['sign'],
}

const CANNOT_ASK = {
  code: 'BATON_CONFIRMATION_IMPOSSIBLE',
  detail: 'this client cannot ask the person who would sign',
  fix: 'Have the person decide in a terminal, with `baton approvals` or `baton dlq`, or use a client that has elicitation.',
}

const NOT_CONFIRMED = {
  code: 'BATON_NOT_CONFIRMED',
  detail: 'the person did not confirm the decision, and nothing was signed',
  fix: 'Do not ask again unless the person wants to.',
}
