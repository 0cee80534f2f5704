// The packed SDK stands alone: a strict project outside the checkout installs it, type-checks on it and runs it.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { installPackedSdk } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const run = promisify(execFile)

const PROGRAM = `
import { createSender, createWorker, defineAgent, openTransport, buildHandoffMessage } from '@baton/sdk'
import { validateHandoffMessage } from '@baton/sdk'
import type { AgentContext, GivenState, Sender, Worker } from '@baton/sdk'
import { defineSw4rmAgent } from '@baton/sdk/sw4rm'

const agent = defineAgent({
  type: 'word-count',
  version: '1.0.0',
  requires: ['text'],
  execute: async ({ state }: AgentContext) => ({
    subtask: { subtaskId: 'count', description: 'Count the words', result: { words: 1 } },
    state: { text: String(state['text']) },
    costUSD: 0,
    tokens: { prompt: 0, completion: 0 },
    next: [],
  }),
})
const state: GivenState = {
  taskId: crypto.randomUUID(),
  agent: { agentId: 'outside', agentVersion: '1.0.0' },
  currentState: { text: 'one two' },
  cost: { spentSoFarUSD: 0, budgetRemainingUSD: 1, ownCostUSD: 0, tokenSpent: { prompt: 0, completion: 0 } },
}
export type Opened = readonly [Sender, Worker]
export const made = [createSender, createWorker, openTransport, defineSw4rmAgent]
const message = buildHandoffMessage(state, 'word-count')
const { valid } = validateHandoffMessage(message, { agent })
console.log(JSON.stringify({ valid, first: message.taskDescription }))
`

const STRICT = {
  target: 'es2022',
  module: 'nodenext',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  noEmit: true,
}

let outside = ''

beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), 'baton-outside-'))
  const { stdout } = await run(process.execPath, [join(ROOT, 'packages/sdk/pack-sdk.ts'), outside])
  await installPackedSdk(stdout.trim(), outside)
  await writeFile(join(outside, 'package.json'), '{"type":"module"}')
  await writeFile(join(outside, 'program.ts'), PROGRAM)
}, 60_000)

afterAll(() => rm(outside, { recursive: true, force: true }))

it('type-checks strictly', async () => {
  const tsc = createRequire(join(ROOT, 'package.json')).resolve('typescript/package.json')
  const args = [join(dirname(tsc), 'bin/tsc'), '-p', outside]
  await writeFile(
    join(outside, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: STRICT,
      files: ['program.ts'],
    }),
  )
  const said = await run(process.execPath, args).catch((error: { stdout: string }) => error)
  expect(said.stdout).toBe('')
})

it('runs without this checkout', async () => {
  const { stdout } = await run(process.execPath, ['program.ts'], { cwd: outside })
  expect(JSON.parse(stdout)).toEqual({ valid: true, first: 'INITIAL' })
})
