// `agents`: the agent types that have a live worker, and what handoffs may require of them.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { readPages, sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'

interface LiveAgent {
  readonly type: string
  readonly versions: readonly string[]
  readonly requires: readonly string[]
  readonly capabilities: readonly string[]
  readonly mcp: readonly string[]
  readonly workers: number
}

export async function agents(context: Context, flags: PageFlags): Promise<ExitCode> {
  const { output } = context
  const listed = await withGateway(context, (gateway) =>
    readPages<LiveAgent>(gateway, { path: '/v2/agents', name: 'agents', filter: {}, flags }),
  )
  const live = listed.rows
  if (output.json) output.data(JSON.stringify(live))
  else if (live.length > 0) output.data(table(live))
  if (live.length === 0) output.words('No agent is live.')
  sayShown(output, listed, `agents${typedAgain({ limit: flags.limit })}`)
  output.next(nextStep('tasks'))
  return EXIT.fine
}

const table = (live: readonly LiveAgent[]): string =>
  renderTable(
    [
      { title: 'AGENT', widthMax: 40 },
      { title: 'VERSIONS', dropAt: 1 },
      { title: 'WORKERS', align: 'right' },
      { title: 'REQUIRES', widthMax: 40, dropAt: 2 },
      { title: 'CAPABILITIES', widthMax: 40, dropAt: 3 },
      { title: 'MCP', widthMax: 30, dropAt: 4 },
    ],
    live.map((agent) => [
      agent.type,
      agent.versions.join(', '),
      String(agent.workers),
      agent.requires.join(', '),
      agent.capabilities.join(', '),
      agent.mcp.join(', '),
    ]),
  )
