// `baton mcp` as a process, with a client of each revision of MCP that starts it and answers what it asks of a person.
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Called, McpClient, Revision } from './mcp-fixture.ts'

export const MAIN = fileURLToPath(new URL('../../services/cli/src/main.ts', import.meta.url))

/** What the person says to each question; without it the client cannot ask. */
export type Person = (
  question: string,
) =>
  | { readonly action: 'accept'; readonly content: { readonly sign: boolean } }
  | { readonly action: 'decline' }

const SELF = { name: 'test-client', version: '1.0.0' }

interface Starting {
  readonly environment: Readonly<Record<string, string>>
  readonly person?: Person
}

export async function connectOverStdio(
  revision: Revision,
  { environment, person }: Starting,
): Promise<McpClient> {
  const env = { PATH: process.env['PATH'] ?? '', ...environment }
  const command = { command: process.execPath, args: [MAIN, 'mcp'], env, stderr: 'ignore' as const }
  const capabilities = person === undefined ? {} : { elicitation: {} }
  const later = revision === '2026-07-28'
  const client = later
    ? new Client(SELF, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } })
    : new EarlierClient(SELF, { capabilities })
  if (person !== undefined && client instanceof Client)
    client.setRequestHandler('elicitation/create', async ({ params }) => person(params.message))
  if (person !== undefined && client instanceof EarlierClient)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => person(params.message))
  if (client instanceof Client) await client.connect(new StdioClientTransport(command))
  else await client.connect(new EarlierTransport(command))
  return {
    revision,
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    call: (name, args = {}, meta = {}) =>
      client.callTool({ name, arguments: { ...args }, _meta: { ...meta } }) as Promise<Called>,
    readResource: (uri) => client.readResource({ uri }) as ReturnType<McpClient['readResource']>,
    close: () => client.close(),
  }
}
