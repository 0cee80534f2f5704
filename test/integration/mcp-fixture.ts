// A gateway that listens, and clients of both revisions of MCP that call it: the official ones of 2026-07-28 and of 2025-11-25.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** What the tests ask of either client. */
export interface McpClient {
  readonly revision: Revision
  listTools(): Promise<{ readonly tools: readonly ListedTool[] }>
  call(name: string, args?: object, meta?: Readonly<Record<string, string>>): Promise<Called>
  readResource(uri: string): Promise<{ readonly contents: readonly { readonly text?: string }[] }>
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>
  close(): Promise<void>
}

export interface ListedTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: object
  readonly outputSchema?: object | undefined
  readonly annotations?: object | undefined
}

export interface Called {
  readonly isError?: boolean | undefined
  readonly structuredContent?: unknown
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

export const REVISIONS = ['2026-07-28', '2025-11-25'] as const
export type Revision = (typeof REVISIONS)[number]

const SELF = { name: 'test-client', version: '1.0.0' }

const headersOf = (key: string) => ({
  requestInit: { headers: { authorization: `Bearer ${key}` } },
})

/** Connected; who opens it closes it. */
export async function connect(revision: Revision, url: string, key: string): Promise<McpClient> {
  return revision === '2026-07-28' ? connectLater(url, key) : connectEarlier(url, key)
}

async function connectLater(url: string, key: string): Promise<McpClient> {
  const client = new Client(SELF, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), headersOf(key)))
  return {
    revision: '2026-07-28',
    listResources: () => client.listResources(),
    listTools: () => client.listTools(),
    call: (name, args = {}, meta = {}) =>
      client.callTool({ name, arguments: { ...args }, _meta: { ...meta } }) as Promise<Called>,
    readResource: (uri) => client.readResource({ uri }) as ReturnType<McpClient['readResource']>,
    close: () => client.close(),
  }
}

async function connectEarlier(url: string, key: string): Promise<McpClient> {
  const client = new EarlierClient(SELF)
  const transport = new EarlierTransport(new URL('/mcp', url), headersOf(key))
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return {
    revision: '2025-11-25',
    listResources: () => client.listResources(),
    listTools: () => client.listTools(),
    call: (name, args = {}, meta = {}) =>
      client.callTool({ name, arguments: { ...args }, _meta: { ...meta } }) as Promise<Called>,
    readResource: (uri) => client.readResource({ uri }) as ReturnType<McpClient['readResource']>,
    close: () => client.close(),
  }
}
