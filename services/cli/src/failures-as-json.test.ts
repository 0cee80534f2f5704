// Where there is nothing to ask, every command says so as one JSON document, or what it answers is one.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createProgram, runProgram } from './program.ts'
import { readContext } from './read-context.ts'
import { describeError, failureLine } from './terminal/describe-error.ts'

const ID = '7f3c91de-0000-4000-8000-000000000001'
const NOBODY = 'http://127.0.0.1:9'
const secret = () => randomBytes(32).toString('base64url')
const ENVIRONMENT = {
  BATON_GATEWAY_URL: NOBODY,
  BATON_API_KEY: `bk_nobody_${secret()}`,
  BATON_AUDIT_URL: NOBODY,
  BATON_AUDIT_READ_TOKEN: secret(),
  BATON_AUDIT_EVIDENCE_TOKEN: secret(),
  BATON_AUDIT_HOLD_TOKEN: secret(),
  BATON_AUDIT_PAYLOAD_TOKEN: secret(),
}

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'baton-nothing-'))
})
afterAll(() => rm(home, { recursive: true }))

interface Leaf {
  readonly name: string
  readonly args: readonly string[]
}

function leavesOf(command: Command, names: readonly string[] = []): readonly Leaf[] {
  const under = command.commands.flatMap((one) => leavesOf(one, [...names, one.name()]))
  if (under.length > 0) return under
  const given = command.registeredArguments.filter(({ required }) => required).map(() => ID)
  const options = command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long = '' }) => [long, '1'])
  return [{ name: names.join(' '), args: [...names, ...given, ...options] }]
}

/** These make or start something where there is nothing. */
const STARTS = new Set([
  'up',
  'review-contract',
  'send',
  'init',
  'migrate',
  'gameday',
  'tenants grant',
  'tenants revoke',
  'keys revoke',
])

const COMMANDS = leavesOf(
  createProgram(
    {
      openContext: () => expect.unreachable(),
      writeOut: () => undefined,
      writeError: () => undefined,
    },
    () => async () => undefined,
  ),
).filter(({ name }) => !STARTS.has(name))

it.each(COMMANDS)('$name', async ({ args }) => {
  let out = ''
  const write = (text: string | Uint8Array) => void (out += String(text))
  const streams = { stdout: { write }, stderr: { write: () => undefined } }
  const environment = { ...ENVIRONMENT, HANDOFF_DIR: join(home, 'handoffs') }
  const interrupt = new AbortController().signal
  const ended = await runProgram([...args, '--json'], {
    openContext: async (globals) =>
      readContext({ ...globals, home }, { streams, environment, interrupt }),
    writeOut: write,
    writeError: () => undefined,
  }).catch((error: unknown) => {
    const { failure } = describeError(error)
    write(failureLine(failure))
    return failure
  })
  expect(() => JSON.parse(out)).not.toThrow()
  expect(ended).not.toMatchObject({ code: 'BATON_DEFECT' })
})
