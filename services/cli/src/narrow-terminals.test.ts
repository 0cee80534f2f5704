// Lists on terminals of several widths: no line is wider, and what has to be copied is whole.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Context } from './context.ts'
import { runProgram } from './program.ts'
import { createOutput } from './terminal/output.ts'
import { widthOf } from './terminal/width.ts'

const ID = '7f3c91de-0000-4000-8000-00000000000'
const AT = '2026-11-28T10:00:00.000Z'
const HANDOFF = {
  handoffId: `${ID}1`,
  taskId: `${ID}2`,
  alertId: `${ID}3`,
  fromAgent: 'contract-intake-of-europe',
  toAgent: 'clause-extraction-of-europe',
  subject: { fromAgent: 'contract-intake-of-europe', toAgent: 'clause-extraction-of-europe' },
  status: 'PENDING_HANDOFF',
  state: 'acknowledged',
  reason: 'INCOMPLETE_CONTEXT',
  kind: 'handoff.rolled_back',
  severity: 'ticket',
  acknowledgedBy: 'operator',
  sentBy: 'somebody-with-a-long-name',
  branch: null,
  details: [{ pointer: '/currentState/a/long/way/down/to/what/is/wrong', rule: 'override' }],
  createdAt: AT,
  requestedAt: AT,
  expiresAt: AT,
  lastAt: AT,
  priority: 5,
  attempts: 3,
  occurrences: 1_234,
  handoffs: 12,
  spentUSD: 0.0123,
  budgetUSD: 1,
  result: { licence: '@somebody/a-package-with-a-name@1.2.3' },
  type: 'contract-intake-of-europe',
  versions: ['1.0.0', '1.1.0'],
  requires: ['clauses', 'holders', 'licence'],
  capabilities: ['extraction-of-clauses', 'holders'],
  mcp: ['documents'],
  workers: 3,
}

const NAMES = ['tasks', 'deadLetters', 'alerts', 'escalations', 'approvals', 'agents']
const rows = Object.fromEntries(NAMES.map((name) => [name, [HANDOFF]]))
const answer = JSON.stringify({ ...rows, nextCursor: null, total: 1, totalIsExact: true })
const gateway = createServer((_, response) => void response.end(answer))
beforeAll(() => new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => gateway.close(resolve)))
afterEach(() => void vi.unstubAllGlobals())

async function printed(args: readonly string[], columns: number | undefined): Promise<string> {
  const written = { out: '' }
  const stdout = { write: (text: string | Uint8Array) => (written.out += String(text)) }
  const { port } = gateway.address() as AddressInfo
  const settings = { BATON_GATEWAY_URL: `http://127.0.0.1:${port}`, BATON_API_KEY: 'key' }
  const terminal = { isTTY: columns !== undefined, columns }
  vi.stubGlobal('process', Object.create(process, { stdout: { value: terminal } }))
  const exitCode = await runProgram(args, {
    openContext: async () =>
      ({
        output: createOutput({ stdout, stderr: { write: () => undefined } }, false),
        settings,
      }) as unknown as Context,
    writeOut: () => undefined,
    writeError: () => undefined,
  })
  expect(exitCode).toBe(0)
  return written.out
}

const LISTS = [
  [['tasks'], HANDOFF.taskId],
  [['dlq', 'ls'], HANDOFF.handoffId],
  [['alerts'], HANDOFF.alertId.slice(0, 8)],
  [['escalations'], HANDOFF.handoffId],
  [['approvals', 'ls'], HANDOFF.handoffId],
  [['agents'], ''],
  [['settings', 'witness'], 'BATON_WITNESS_PORT'],
] as const

it.each(LISTS.flatMap(([args, id]) => [60, 80, 120].map((width) => [args, width, id] as const)))(
  '%j fits %d columns',
  async (args, width, id) => {
    const text = await printed(args, width)
    expect(text).toContain(id)
    expect(text.split('\n').filter((line) => widthOf(line) > width)).toEqual([])
  },
)

it.each(LISTS)('%j is whole where it is piped', async (args, id) => {
  const text = await printed(args, undefined)
  expect(text).toContain(id)
  expect(text).not.toContain('no room for')
})
