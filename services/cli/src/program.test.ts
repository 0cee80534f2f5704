// What is typed wrongly is answered with usage and exit code 2, before anything is opened.
import { describe, expect, it } from 'vitest'
import type { Command } from 'commander'
import { createProgram, runProgram } from './program.ts'

async function run(...args: string[]) {
  const written = { out: '', err: '' }
  const exitCode = await runProgram(args, {
    openContext: () => Promise.reject(new Error('nothing may be opened')),
    writeOut: (text) => (written.out += text),
    writeError: (text) => (written.err += text),
  })
  return { exitCode, ...written }
}

describe('runProgram', () => {
  it('lists every command, the global options and the exit codes in its help', async () => {
    const { exitCode, out } = await run('--help')
    expect(exitCode).toBe(0)
    const commands =
      'up review-contract send trace verify tasks stream dlq approvals alerts escalations cancel agents doctor settings migrate'
    for (const name of commands.split(' ')) expect(out).toContain(`\n  ${name}`)
    expect(out).toContain('--json')
    expect(out).toContain('130 interrupted')
  })

  it('shows global options in the help of each command', async () => {
    expect((await run('trace', '--help')).out).toContain('--json')
  })

  it.each([
    [['tsks'], 'Did you mean tasks?'],
    [['up', '--onse'], 'Did you mean --once?'],
    [['task', 'resume'], "missing required argument 'task'"],
    [['task', 'resum', 'x'], 'Did you mean resume?'],
    [['trace'], "missing required argument 'task'"],
    [['tasks', '--limit', '0'], 'whole number from 1 to 1000'],
    [['tasks', '--limit', 'many'], 'whole number from 1 to 1000'],
    [['send'], "required option '--to <agent>'"],
    [['send', '--to', 'a', '--budget', '-1'], 'number above 0'],
    [['verify', 'a', 'b'], 'too many arguments'],
    [['stream', 'x', '--after', '-1'], 'whole number from 0 to 10000'],
    [['cancel'], "missing required argument 'id'"],
    [['cancel', 'x', '--grace', '-1'], 'number from 0 to 3600'],
    [['alerts', '--state', 'new'], 'Allowed choices are open, acknowledged, closed'],
    [['alerts', 'close', 'x'], "required option '--why <text>'"],
    [['alerts', 'ack', '--older-than', '2 weeks'], 'span such as 90m, 12h or 7d'],
    [['approvals', 'reject', 'x', '--reason', 'because I say so'], 'capital letters'],
  ])('refuses %j', async (args, problem) => {
    const { exitCode, err, out } = await run(...args)
    expect(exitCode).toBe(2)
    expect(err).toContain(problem)
    expect(out).toBe('')
  })

  it('answers no command at all with its help, as a usage error', async () => {
    const { exitCode, err } = await run()
    expect(exitCode).toBe(2)
    expect(err).toContain('review-contract')
  })
})

const leavesOf = (
  command: Command,
  names: readonly string[] = [],
): readonly (readonly string[])[] =>
  command.commands.length === 0
    ? [names]
    : command.commands.flatMap((one) => leavesOf(one, [...names, one.name()]))

const ALL_COMMANDS = leavesOf(
  createProgram(
    {
      openContext: () => expect.unreachable(),
      writeOut: () => undefined,
      writeError: () => undefined,
    },
    () => async () => undefined,
  ),
)

describe('with --json', () => {
  it.each(ALL_COMMANDS.map((names) => [names]))(
    'answers a usage error of %j as one object',
    async (names) => {
      const { exitCode, out } = await run(...names, '--json', '--no-such-option')
      expect(exitCode).toBe(2)
      expect(JSON.parse(out)).toEqual({
        error: {
          code: 'BATON_USAGE',
          message: expect.stringMatching(/--no-such-option|required option/),
          place: expect.stringContaining('--'),
          fix: expect.stringContaining('--help'),
          exitCode: 2,
        },
      })
    },
  )

  it('answers no command, and what is behind -- is no option', async () => {
    expect(JSON.parse((await run('--json')).out)).toMatchObject({
      error: { code: 'BATON_USAGE', message: 'no command was given' },
    })
    expect((await run('tsks', '--', '--json')).out).toBe('')
  })
})
