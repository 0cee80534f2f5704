// One MCP server for one request: what its caller may use, by whichever revision of the protocol they speak.
import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server'
import type { CallToolResult, McpHttpHandler } from '@modelcontextprotocol/server'
import type { Logger } from '@baton/runtime'
import type { Scope } from '../api-keys.ts'
import { IDENTITY, INSTRUCTIONS, LISTS } from './identity.ts'
import { Refused, refusedArguments, refusedResult } from './refused.ts'
import { listResources, listTemplates, readResource } from './resources.ts'
import { shown } from './shown.ts'
import type { CallRoute, Tool } from './tool.ts'
import { findTool, TOOLS } from './tools.ts'

/** Who asks, and how what they ask is run. */
export interface Caller {
  readonly scopes: ReadonlySet<Scope>
  readonly call: CallRoute
}

export function createMcp(logger: Pick<Logger, 'debug'>): McpHttpHandler {
  return createMcpHandler(
    ({ authInfo }) => createServerFor(authInfo?.extra?.['caller'] as Caller),
    {
      // What is refused may name arguments, which are payload: of an error only its kind is logged.
      onerror: ({ name }) => logger.debug({ event: 'mcp.refused', name }),
    },
  )
}

function createServerFor(caller: Caller): Server {
  const server = new Server(IDENTITY, {
    capabilities: { tools: {}, resources: {} },
    instructions: INSTRUCTIONS,
    cacheHints: {
      'tools/list': LISTS,
      'resources/templates/list': LISTS,
      'server/discover': LISTS,
    },
  })
  server.setRequestHandler('tools/list', async () => ({
    tools: TOOLS.filter(({ scope }) => caller.scopes.has(scope)).map(describe),
  }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = findTool(params.name)
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no tool of this name')
    return run(tool, params.arguments ?? {}, caller.call)
  })
  server.setRequestHandler('resources/list', ({ params }) =>
    orProtocolError(() => listResources(caller, params?.cursor)),
  )
  server.setRequestHandler('resources/templates/list', async () => listTemplates(caller))
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const found = await orProtocolError(() => readResource(caller, uri))
    if (found === undefined) throw new ResourceNotFoundError(uri)
    return found
  })
  return server
}

const describe = ({ name, title, description, annotations, inputSchema, outputSchema }: Tool) => ({
  name,
  title,
  description,
  annotations: { title, ...annotations },
  inputSchema: inputSchema as { type: 'object' },
  outputSchema: outputSchema as { type: 'object' },
})

/** Other than a tool's, a refusal of a resource is an error of the protocol; the problem goes with it. */
async function orProtocolError<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const { problem } = error
    const isGivenWrong = problem.status === 400 || problem.status === 422
    const code = isGivenWrong ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
    throw new ProtocolError(code, `${problem.code}: ${problem.detail}`, problem)
  }
}

async function run(tool: Tool, given: object, call: CallRoute): Promise<CallToolResult> {
  try {
    const args = tool.check(Buffer.from(JSON.stringify(given)))
    if (!args.ok) throw refusedArguments(args.details)
    return shown(await tool.run(args.document, call))
  } catch (error) {
    if (error instanceof Refused) return refusedResult(error)
    throw error
  }
}
